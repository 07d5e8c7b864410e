// SPDX-License-Identifier: Apache-2.0
// The header of a PGM or PPM picture (P5, P6), read byte by byte, so that a stream gives no byte too many: P and a
// digit, then width, height and largest value with blanks between, and one blank behind, where the samples begin. #
// begins a comment, up to the end of its line.
#ifndef HALITE_TOOLS_PNM_H
#define HALITE_TOOLS_PNM_H

#include <stdbool.h>
#include <stdint.h>

enum hl_pnm_step {
    HL_PNM_MORE,
    HL_PNM_SAMPLES, // this was the header's last byte
    HL_PNM_NONE,    // it does not begin with P5 or P6
    HL_PNM_BROKEN,
};

struct hl_pnm {
    int64_t width, height, largest; // up to HL_PNM_MAX, which stands for all above as well
    int channels;                   // 1 or 3
    // where it is
    int begun, numbers; // bytes of the two at the beginning, numbers before this one
    bool in_number, in_comment;
};

enum { HL_PNM_MAX = 1000000000 };

// Starts with zeros.
enum hl_pnm_step hl_pnm_take(struct hl_pnm *pnm, int byte);
// How many bytes of samples follow, where a sample is a byte.
int64_t hl_pnm_bytes(const struct hl_pnm *pnm);

#endif
