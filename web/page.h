// SPDX-License-Identifier: Apache-2.0
// What the page's script calls. In: bytes that it has put into memory from page_memory. Out: numbers in that memory,
// and a message where something cannot be done. One model at a time, one thread.
#ifndef HALITE_WEB_PAGE_H
#define HALITE_WEB_PAGE_H

#include <stddef.h>

// Memory for a model's or a picture's bytes; NULL where there is none. The script gives it back by page_release, but
// for a model, which page_open takes.
void *page_memory(size_t bytes);
void page_release(void *memory);

// What the page has with it. page_own_labels: names of classes, one a line.
const unsigned char *page_own_model(void);
size_t page_own_model_bytes(void);
const unsigned char *page_own_picture(void);
size_t page_own_picture_bytes(void);
const char *page_own_labels(void);

// Loads a model and takes the memory that it lies in. Returns how many classes it tells apart; 0 where it cannot be
// used, and then there is none.
int page_open(void *model, size_t bytes);
// Makes the model's input of a picture: rows of pixels of four bytes, the last of which is not looked at. 0 on failure.
int page_prepare(const unsigned char *pixels, int width, int height);
// Runs the model. 0 on failure.
int page_run(void);
// After a run: a score for each class, as a real number. NULL where they are none.
const float *page_scores(void);
// Why the last call failed.
const char *page_message(void);

#endif
