// SPDX-License-Identifier: Apache-2.0
// A fuzz target as a plain program, for compilers without libFuzzer and for tests: runs it on every file of the folders
// given.
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "files.h"

static int count;

static void replay(void *user_data, const char *path)
{
    struct hl_text content = {0}, error = {0};
    (void)user_data;
    if (!hl_files_read(path, HL_FILES_MOST, &content, &error)) {
        fprintf(stderr, "replay: %s %s\n", path, error.data);
        exit(1);
    }
    uint8_t *exact = malloc(content.length ? content.length : 1); // so that sanitizers see its end
    if (!exact) abort();
    if (content.length) memcpy(exact, content.data, content.length);
    LLVMFuzzerTestOneInput(exact, content.length);
    free(exact);
    hl_text_free(&content);
    hl_text_free(&error);
    count++;
}

int main(int argc, char **argv)
{
    struct hl_text failed = {0};
    for (int i = 1; i < argc; i++)
        if (!hl_files_each(argv[i], "", replay, NULL, &failed)) {
            fprintf(stderr, "replay: cannot read %s\n", failed.data);
            return 1;
        }
    printf("%d files\n", count);
    hl_text_free(&failed);
    return count == 0;
}
