// SPDX-License-Identifier: Apache-2.0
// What becomes of the outputs of halite run: files, or a few lines about each.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "element.h"
#include "files.h"
#include "message.h"
#include "npy.h"
#include "output_file.h"
#include "run_graph.h"
#include "values.h"

enum { SHOWN = 8, LARGEST = 5 }; // values of an output without a file

// The file an output goes to, NULL: none. The last --output counts.
static const char *file_of(const struct hl_graph *graph, const struct hl_flag_list *outputs, int index)
{
    const char *found = NULL, *path;
    int named;
    for (int i = 0; i < outputs->count; i++)
        if (hl_graph_parse(graph, false, outputs->items[i], &named, &path) && named == index) found = path;
    return found;
}

bool hl_graph_check_outputs(const struct hl_graph *graph, const struct hl_flag_list *outputs)
{
    for (int i = 0; i < outputs->count; i++) {
        int index;
        const char *path;
        if (!hl_graph_parse(graph, false, outputs->items[i], &index, &path)) return false;
        const char *name;
        hl_files_split_format(path, &name);
        if (hl_files_ends_with(name, ".npy") || hl_files_ends_with(name, ".txt") || hl_files_ends_with(name, ".raw"))
            continue;
        hl_error(graph->file->command, path, "is no file for an output: end it in .npy, .txt or .raw, or write -");
        return false;
    }
    return true;
}

static bool write_text(const char *path, const TfLiteTensor *tensor, struct hl_text *error)
{
    TfLiteType type = TfLiteTensorType(tensor);
    const void *data = TfLiteTensorData(tensor);
    bool strings = type == kTfLiteString;
    int64_t count = strings ? hl_values_strings(data, TfLiteTensorByteSize(tensor)) : hl_model_elements(tensor);
    struct hl_output output;
    if (!hl_output_open(&output, path, error)) return false;
    struct hl_text line = {0};
    for (int64_t i = 0; i < count; i++) {
        hl_text_clear(&line);
        size_t length;
        if (strings) {
            const char *string = hl_values_string(data, i, &length);
            hl_text_add_bytes(&line, string, length);
        } else if (type == kTfLiteFloat32) {
            hl_text_add(&line, "%.9g", hl_element_real(type, data, i)); // reads back as the same float
        } else if (type == kTfLiteFloat64) {
            hl_text_add(&line, "%.17g", hl_element_real(type, data, i));
        } else {
            hl_values_add(&line, type, data, i);
        }
        fwrite(line.data, 1, line.length, output.file);
        fputc('\n', output.file);
    }
    hl_text_free(&line);
    return hl_output_close(&output, error);
}

static bool write_raw(const char *path, const TfLiteTensor *tensor, struct hl_text *error)
{
    struct hl_output output;
    if (!hl_output_open(&output, path, error)) return false;
    if (TfLiteTensorByteSize(tensor) > 0)
        fwrite(TfLiteTensorData(tensor), 1, TfLiteTensorByteSize(tensor), output.file);
    return hl_output_close(&output, error);
}

static bool write_file(const struct hl_graph *graph, const TfLiteTensor *tensor, const char *value)
{
    struct hl_text error = {0};
    const char *name, *path = hl_files_split_format(value, &name);
    bool ok;
    if (hl_files_ends_with(name, ".npy"))
        ok = hl_npy_write(path, TfLiteTensorType(tensor), TfLiteTensorNumDims(tensor),
                          tensor->dims != NULL ? tensor->dims->data : NULL, TfLiteTensorData(tensor), &error);
    else if (hl_files_ends_with(name, ".txt"))
        ok = write_text(path, tensor, &error);
    else
        ok = write_raw(path, tensor, &error);
    if (!ok) hl_error(graph->file->command, path, "%s", error.data);
    hl_text_free(&error);
    return ok;
}

static double real_of(const TfLiteTensor *tensor, int64_t i)
{
    TfLiteQuantizationParams q = TfLiteTensorQuantizationParams(tensor);
    double stored = hl_values_at(TfLiteTensorType(tensor), TfLiteTensorData(tensor), i);
    return q.scale != 0 ? (double)q.scale * (stored - q.zero_point) : stored;
}

// The largest real values with their places, the first of equals first: of scores the best classes.
static void show_largest(const TfLiteTensor *tensor, int64_t count)
{
    int64_t best[LARGEST];
    int found = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = real_of(tensor, i);
        int at = found < LARGEST ? found : LARGEST - 1;
        if (isnan(value) || (found == LARGEST && value <= real_of(tensor, best[at]))) continue;
        if (found < LARGEST) found++;
        for (; at > 0 && real_of(tensor, best[at - 1]) < value; at--) best[at] = best[at - 1];
        best[at] = i;
    }
    for (int i = 0; i < found; i++)
        printf("%s%.6g at %" PRId64 "%s", i == 0 ? "      largest " : ", ", real_of(tensor, best[i]), best[i],
               i == found - 1 ? "\n" : "");
}

static void show_values(const TfLiteTensor *tensor)
{
    TfLiteType type = TfLiteTensorType(tensor);
    const void *data = TfLiteTensorData(tensor);
    int64_t count = hl_model_elements(tensor);
    struct hl_values_summary summary = hl_values_summarize(type, data, count);
    if (type == kTfLiteString) count = hl_values_strings(data, TfLiteTensorByteSize(tensor));
    if (count <= 0 || data == NULL) {
        printf("      no elements\n");
        return;
    }
    if (summary.count > 0) printf("      min %.6g, max %.6g, mean %.6g\n", summary.min, summary.max, summary.mean);
    struct hl_text values = {0};
    for (int64_t i = 0; i < count && i < SHOWN; i++) {
        hl_text_add(&values, " ");
        hl_values_add(&values, type, data, i);
    }
    printf("     %s%s\n", values.data, count > SHOWN ? " ..." : "");
    TfLiteQuantizationParams q = TfLiteTensorQuantizationParams(tensor);
    if (q.scale != 0) {
        printf("      real value = %.9g * (stored - %d):", (double)q.scale, q.zero_point);
        for (int64_t i = 0; i < count && i < SHOWN; i++) printf(" %.6g", real_of(tensor, i));
        printf("%s\n", count > SHOWN ? " ..." : "");
    }
    if (count > SHOWN && summary.count == count) show_largest(tensor, count);
    hl_text_free(&values);
}

bool hl_graph_streams(const struct hl_graph *graph, const struct hl_flag_list *outputs)
{
    const char *name, *value;
    for (int i = 0; i < graph->output_count; i++)
        if ((value = file_of(graph, outputs, i)) != NULL && strcmp(hl_files_split_format(value, &name), "-") == 0)
            return true;
    return false;
}

bool hl_graph_show(const struct hl_graph *graph, const struct hl_flag_list *outputs)
{
    bool ok = true, streams = hl_graph_streams(graph, outputs);
    for (int i = 0; i < graph->output_count; i++) {
        const TfLiteTensor *tensor = hl_graph_output(graph, i);
        const char *path = file_of(graph, outputs, i), *name = hl_graph_output_name(graph, i);
        struct hl_text line = {0};
        hl_text_add(&line, "  %2d  ", i);
        hl_text_add_escaped(&line, name, strlen(name));
        hl_text_add(&line, "  ");
        hl_model_add_tensor_shape(&line, tensor);
        if (path != NULL) {
            hl_text_add(&line, " -> ");
            hl_text_add_escaped(&line, path, strlen(path));
        }
        if (!streams) printf("%s\n", line.data);
        hl_text_free(&line);
        if (path == NULL && !streams)
            show_values(tensor);
        else if (path == NULL)
            continue;
        else if (!write_file(graph, tensor, path))
            ok = false;

        struct hl_values_summary summary =
            hl_values_summarize(TfLiteTensorType(tensor), TfLiteTensorData(tensor), hl_model_elements(tensor));
        if (summary.nans > 0)
            hl_warn(graph->file->command, graph->file->path,
                    "output %d '%s' holds %" PRId64 " NaN, the first at element %" PRId64, i, name, summary.nans,
                    summary.first_nan);
    }
    return ok;
}
