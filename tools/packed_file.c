// SPDX-License-Identifier: Apache-2.0
// See packed_file.h.
#include "packed_file.h"

#include <string.h>

#include "files.h"
#include "zip.h"

static bool fits(const struct hl_zip_file *file, const char *part, const char *ending)
{
    struct hl_text text = {0};
    hl_text_add_bytes(&text, file->name, file->name_length);
    const char *string = hl_text_string(&text);
    bool found = strstr(string, part) != NULL && hl_files_ends_with(string, ending);
    hl_text_free(&text);
    return found;
}

bool hl_packed_file_read(const TfLiteModel *model, const char *part, const char *ending, struct hl_text *content)
{
    struct hl_zip zip;
    struct hl_zip_file file;
    if (!hl_zip_open(&zip, model->file_bytes, model->file_size)) return false;
    for (size_t at = 0; hl_zip_next(&zip, &at, &file);)
        if (fits(&file, part, ending)) return hl_zip_read(&zip, &file, content);
    return false;
}
