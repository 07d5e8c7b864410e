// SPDX-License-Identifier: Apache-2.0
// Reads manifests line by line. Every line's first word must be known: a runner that passes over what it does not
// understand would count cases as passed that it never ran.
#define _XOPEN_SOURCE 700 // realpath
#include "manifest.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/alloc.h"
#include "../../tools/element.h"
#include "../../tools/files.h"

static const size_t manifest_limit = (size_t)64 << 20;

const char *golden_stage_name(enum golden_stage stage)
{
    static const char *const names[] = {"none", "load", "allocate", "invoke", "any"};
    return names[stage];
}

// Cuts the next word off *cursor; "" at the end of the line.
static char *next_word(char **cursor)
{
    char *word = *cursor;
    while (*word == ' ') word++;
    char *end = word;
    while (*end != '\0' && *end != ' ') end++;
    *cursor = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool parse_size(const char **cursor, size_t *result)
{
    if (!isdigit((unsigned char)**cursor)) return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(*cursor, &end, 10);
    if (errno != 0 || value > SIZE_MAX / 2) return false;
    *cursor = end;
    *result = (size_t)value;
    return true;
}

static bool parse_index(const char *word, int *index)
{
    size_t value;
    const char *cursor = word;
    if (!parse_size(&cursor, &value) || *cursor != '\0' || value > INT_MAX) return false;
    *index = (int)value;
    return true;
}

// "1,224,224,3", or "-" for a scalar.
static bool parse_dims(const char *word, struct golden_tensor *tensor)
{
    tensor->rank = 0;
    if (strcmp(word, "-") == 0) return true;
    for (const char *cursor = word;; cursor++) {
        size_t value;
        if (tensor->rank == GOLDEN_MAX_RANK || !parse_size(&cursor, &value) || value > INT_MAX) return false;
        tensor->dims[tensor->rank++] = (int)value;
        if (*cursor == '\0') return true;
        if (*cursor != ',') return false;
    }
}

// INDEX TYPE DIMS @OFFSET+BYTES NAME. Returns what is wrong, or NULL.
static const char *parse_tensor(char *line, struct golden_tensor *tensor)
{
    if (!parse_index(next_word(&line), &tensor->index)) return "INDEX is not a number";
    tensor->type = hl_element_named(next_word(&line));
    if (tensor->type == kTfLiteNoType) return "unknown TYPE";
    if (!parse_dims(next_word(&line), tensor)) return "DIMS are not numbers separated by commas";
    const char *place = next_word(&line);
    if (*place++ != '@' || !parse_size(&place, &tensor->offset) || *place++ != '+' ||
        !parse_size(&place, &tensor->bytes) || *place != '\0')
        return "the place is not @OFFSET+BYTES";
    tensor->name = line;
    return NULL;
}

static struct golden_tensor *add_tensor(struct golden_tensor **tensors, int *count)
{
    *tensors = hl_alloc_grow(*tensors, (size_t)*count + 1, sizeof **tensors);
    struct golden_tensor *tensor = &(*tensors)[(*count)++];
    memset(tensor, 0, sizeof *tensor);
    return tensor;
}

// INDEX RESOLVER D, about an output of the step named before.
static const char *parse_spread(char *line, struct golden_step *step)
{
    int index;
    if (!parse_index(next_word(&line), &index)) return "INDEX is not a number";
    const char *resolver = next_word(&line), *value = next_word(&line);
    struct golden_spread spread = {GOLDEN_SPREAD_FINITE, 0};
    if (strcmp(value, "refused") == 0) {
        spread.kind = GOLDEN_SPREAD_REFUSED;
    } else {
        char *end;
        spread.difference = strtod(value, &end);
        if (end == value || *end != '\0') return "D is not a number";
        if (!isfinite(spread.difference)) spread.kind = GOLDEN_SPREAD_INFINITE;
    }
    for (int i = step != NULL ? step->out_count - 1 : -1; i >= 0; i--) {
        struct golden_tensor *out = &step->outs[i];
        if (out->index != index) continue;
        if (strcmp(resolver, "ref") == 0) out->ref = spread;
        if (strcmp(resolver, "opt") == 0) out->opt = spread;
        if (strcmp(resolver, "xnn") == 0) out->xnn = spread;
        return NULL;
    }
    return "no output of this index stands before the spread line";
}

// STAGE MESSAGE. Where the official runtime itself crashed the stage binds nobody.
static const char *parse_fails(char *line, struct golden_case *c)
{
    static const enum golden_stage stages[] = {GOLDEN_LOAD, GOLDEN_ALLOCATE, GOLDEN_INVOKE, GOLDEN_ANY};
    const char *word = next_word(&line);
    c->fails_text = line;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (strcmp(word, golden_stage_name(stages[i])) != 0) continue;
        c->fails = strstr(line, "the original itself dies here") != NULL ? GOLDEN_ANY : stages[i];
        return NULL;
    }
    return "STAGE is none of load, allocate, invoke, any";
}

static const char *parse_oracle(char *line, struct golden_case *c)
{
    next_word(&line); // package
    next_word(&line); // version
    const char *resolver = next_word(&line);
    c->resolver = GOLDEN_REF;
    if (strcmp(resolver, "opt") == 0) c->resolver = GOLDEN_OPT;
    if (strcmp(resolver, "xnn") == 0) c->resolver = GOLDEN_XNN;
    return NULL;
}

// What lines say about the steps after them.
struct reading {
    const char *signature;
    bool reset;
    const char *model; // as the manifest has it, NULL where absent
};

static const char *parse_line(char *line, struct golden_case *c, struct reading *reading)
{
    const char *word = next_word(&line);
    struct golden_step *step = c->step_count > 0 ? &c->steps[c->step_count - 1] : NULL;
    if (*word == '\0') return NULL;
    if (strcmp(word, "oracle") == 0) return parse_oracle(line, c);
    if (strcmp(word, "fails") == 0) return parse_fails(line, c);
    if (strcmp(word, "spread") == 0) return parse_spread(line, step);
    if (strcmp(word, "note") == 0) {
        if (strstr(line, "a runtime that has it may run") != NULL) c->custom_excuse = true;
        return NULL;
    }
    if (strcmp(word, "model") == 0) {
        reading->model = line;
        return NULL;
    }
    if (strcmp(word, "signature") == 0) {
        reading->signature = line;
        return NULL;
    }
    if (strcmp(word, "reset") == 0) {
        reading->reset = true;
        return NULL;
    }
    if (strcmp(word, "step") == 0) {
        c->steps = hl_alloc_grow(c->steps, (size_t)c->step_count + 1, sizeof *c->steps);
        c->steps[c->step_count++] = (struct golden_step){.signature = reading->signature, .reset = reading->reset};
        reading->reset = false;
        return NULL;
    }
    bool in = strcmp(word, "in") == 0;
    if (!in && strcmp(word, "out") != 0) return "unknown word at the start of the line";
    if (step == NULL) return "no step line before it";
    struct golden_tensor *tensor =
        in ? add_tensor(&step->ins, &step->in_count) : add_tensor(&step->outs, &step->out_count);
    return parse_tensor(line, tensor);
}

// Model paths are relative to the folder that holds the folder named golden above the manifest. A copy of the cases may
// lie below several folders of that name: the innermost one whose parent has the model counts.
static char *find_model(const char *manifest, const char *model, struct hl_text *message)
{
    char *path = hl_path_absolute(manifest), *found = NULL;
    struct hl_text candidate = {0}, first = {0};
    for (char *slash; path != NULL && found == NULL && (slash = strrchr(path, '/')) != NULL;) {
        *slash = '\0';
        const char *folder = strrchr(path, '/');
        if (folder == NULL || strcmp(folder, "/golden") != 0) continue;
        hl_text_clear(&candidate);
        hl_text_add(&candidate, "%.*s/%s", (int)(folder - path), path, model);
        if (first.data == NULL) hl_text_add(&first, "%s", candidate.data);
        if (hl_path_may_read(candidate.data)) found = hl_alloc_string(candidate.data);
    }
    if (found == NULL && first.data != NULL)
        hl_text_add(message, "the model is not there: %s", first.data);
    else if (found == NULL)
        hl_text_add(message, "names the model %s, but lies in no folder named golden whose parent could hold it",
                    model);
    hl_text_free(&candidate);
    hl_text_free(&first);
    free(path);
    return found;
}

bool golden_is_manifest(const char *path)
{
    char start[8] = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    size_t count = fread(start, 1, sizeof start - 1, file);
    fclose(file);
    return count == 7 && memcmp(start, "golden ", 7) == 0;
}

static bool parse_text(struct golden_case *c, struct reading *reading, struct hl_text *message)
{
    int number = 0;
    for (char *line = c->text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) *next++ = '\0';
        number++;
        const char *wrong = NULL;
        if (number == 1)
            wrong = strcmp(line, "golden 1") == 0 ? NULL : "the first line is not \"golden 1\"";
        else
            wrong = parse_line(line, c, reading);
        if (wrong == NULL) continue;
        hl_text_add(message, "manifest line %d: %s", number, wrong);
        return false;
    }
    return true;
}

struct golden_case *golden_read_manifest(const char *path, struct hl_text *message)
{
    struct golden_case *c = hl_alloc(1, sizeof *c);
    struct reading reading = {0};
    size_t stem = strlen(path);
    if (hl_files_ends_with(path, ".txt")) stem -= strlen(".txt");
    struct hl_text name = {0};
    hl_text_add_bytes(&name, path, stem);
    c->name = hl_alloc_string(name.data);
    hl_text_add(&name, ".bin");
    c->data_path = hl_alloc_string(name.data);

    struct hl_text text = {0};
    bool read = hl_files_read(path, manifest_limit, &text, message);
    c->text = text.data;
    if (!read) goto fail;
    if (c->text == NULL) {
        hl_text_add(message, "is empty");
        goto fail;
    }
    if (!parse_text(c, &reading, message)) goto fail;
    // No step, nothing expected: a malformed file that the official runtime happens to run.
    if (c->step_count == 0 && c->fails == GOLDEN_RUNS) c->fails = GOLDEN_ANY;
    if (reading.model != NULL) {
        c->model_path = find_model(path, reading.model, message);
        if (c->model_path == NULL) goto fail;
    } else {
        name.length = stem;
        hl_text_add(&name, ".tflite");
        c->model_path = hl_alloc_string(name.data);
    }
    hl_text_free(&name);
    return c;

fail:
    hl_text_free(&name);
    golden_free_case(c);
    return NULL;
}

void golden_free_case(struct golden_case *c)
{
    if (c == NULL) return;
    for (int i = 0; i < c->step_count; i++) {
        free(c->steps[i].ins);
        free(c->steps[i].outs);
    }
    free(c->steps);
    free(c->name);
    free(c->model_path);
    free(c->data_path);
    free(c->text);
    free(c);
}
