// SPDX-License-Identifier: Apache-2.0
// The demo's files, as own.cmake makes them into arrays.
#ifndef HALITE_WEB_OWN_H
#define HALITE_WEB_OWN_H

#include <stddef.h>

extern const unsigned char page_model[], page_picture[], page_labels[]; // the labels end with a zero
extern const size_t page_model_bytes, page_picture_bytes;

#endif
