// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. In: any bytes. Out: each call of the library returns, whatever they are, and what it
// made can be deleted; a sanitizer, the memory limit or the clock says where that is not so.
#ifndef HALITE_TESTS_FUZZ_FUZZ_H
#define HALITE_TESTS_FUZZ_FUZZ_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A reporter. The attributes of what it is told are read only by formatting it.
static inline void fuzz_ignore(void *user_data, const char *format, va_list arguments)
{
    (void)user_data;
    (void)format;
    (void)arguments;
}

// Something that depends on every byte, so that no read is left out.
static inline uint32_t fuzz_sum(const void *bytes, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; bytes && i < size; i++) sum = sum * 31 + ((const uint8_t *)bytes)[i];
    return sum;
}

#endif
