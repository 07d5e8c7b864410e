// SPDX-License-Identifier: Apache-2.0
// The frames of a video that comes through a pipe. In: a stream of JPEG or PNM pictures one behind the other, of
// YUV4MPEG2 (what ffmpeg writes with -f yuv4mpegpipe), or of raw RGB. Out: one picture after the other.
#ifndef HALITE_TOOLS_FRAMES_H
#define HALITE_TOOLS_FRAMES_H

#include <stdio.h>

#include "image.h"

// For a flag's help: what hl_frames_begin takes.
#define HL_FRAMES_FORMATS                                     \
    "mjpeg (a camera's multipart/x-mixed-replace as well),\n" \
    "ppm (P5 or P6), y4m, or the size of raw frames with\n"   \
    "3 bytes for each pixel, red, green and blue: 640x480"

enum hl_frames_kind { HL_FRAMES_MJPEG, HL_FRAMES_PPM, HL_FRAMES_Y4M, HL_FRAMES_RAW };

struct hl_frames {
    enum hl_frames_kind kind;
    int width, height;      // raw: always; y4m: once its header is read
    int chroma_w, chroma_h; // y4m: pixels that share a pair of colors; 0: gray
    bool full_range;        // y4m: luma from 0 to 255; else from 16 to 235
    int count;              // frames so far
};

// False after adding what is wrong with the format.
bool hl_frames_begin(struct hl_frames *frames, const char *format, struct hl_text *error);

enum hl_frames_step {
    HL_FRAMES_NEXT,
    HL_FRAMES_SPOILED, // this frame is none, with the reason in `error`; others may follow
    HL_FRAMES_BROKEN,  // the same, and nobody knows where the next one begins
    HL_FRAMES_END,
};
// Reads the next frame, which the caller frees.
enum hl_frames_step hl_frames_next(struct hl_frames *frames, FILE *file, struct hl_image *image, struct hl_text *error);

#endif
