// SPDX-License-Identifier: Apache-2.0
// A text file as a string, for tests that compare with one.
#ifndef HALITE_TESTS_SUPPORT_TEXT_FILE_H
#define HALITE_TESTS_SUPPORT_TEXT_FILE_H

// Its first megabyte, from malloc. A file that cannot be read fails the running test.
char *text_file_read(const char *path);

#endif
