// SPDX-License-Identifier: Apache-2.0
// See devices.h. The table of backends is here: a new backend is one row.
#include "gpu/backend/devices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A backend that is missing from this build keeps its row, so that messages can name it and say what puts it in.
#define LEFT_OUT(option) NULL, "not in this build of the library; CMake's -D" option "=ON puts it in"
#if defined(HALITE_GPU_OPENCL)
#define OPENCL &gpu_backend_opencl, NULL
#else
#define OPENCL LEFT_OUT("HALITE_OPENCL")
#endif
#if defined(HALITE_GPU_VULKAN)
#define VULKAN &gpu_backend_vulkan, NULL
#else
#define VULKAN LEFT_OUT("HALITE_VULKAN")
#endif
#if defined(HALITE_GPU_GLES)
#define GLES &gpu_backend_gles, NULL
#else
#define GLES LEFT_OUT("HALITE_GLES")
#endif
#if defined(HALITE_GPU_METAL)
#define METAL &gpu_backend_metal, NULL
#else
#define METAL LEFT_OUT("HALITE_METAL")
#endif
#if defined(HALITE_GPU_CUDA)
#define CUDA &gpu_backend_cuda, NULL
#else
#define CUDA LEFT_OUT("HALITE_CUDA")
#endif
static const struct row {
    const struct gpu_backend *backend; // NULL if this build lacks it
    const char *why_not;               // then: what to do about it
    const char *name, *title;
    // The highest rank wins among equal devices. Measured on an H200: a list of 30 dispatches takes 75 to 90 us with
    // Vulkan and 120 to 150 us with OpenCL. "auto" asks a backend with a rank below 0 only if no other has a real GPU,
    // because OpenGL ES would open one more driver and cannot tell cards apart, and CUDA needs a compiler that no
    // driver brings. sustained_rank: the same for many runs, where the start matters less. CUDA, if its compiler is
    // there, takes half a second to a second longer to start than Vulkan, and then 45 to 90 % of its time for a run.
    int rank, sustained_rank;
    bool hidden; // used only if the user names it
} rows[] = {
    {OPENCL, "opencl", "OpenCL", 1, 1, false},
    {VULKAN, "vulkan", "Vulkan", 2, 2, false},
    {GLES, "gles", "OpenGL ES", -1, -1, false},
    {METAL, "metal", "Metal", 3, 3, false}, // what else Apple's systems have is made of it
    {CUDA, "cuda", "CUDA", -2, 4, false},
    {&gpu_backend_null, NULL, "null", "Null", 0, 0, true},
};
enum { ROWS = sizeof rows / sizeof *rows };

// ---- texts of limited length ---------------------------------------------------------------------------------------

struct text {
    char data[GPU_REASON_BYTES];
    size_t length;
};

static void HL_PRINTF(2, 3) put(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(text->data + text->length, sizeof text->data - text->length, format, args);
    va_end(args);
    if (wanted < 0) return;
    text->length += (size_t)wanted;
    if (text->length >= sizeof text->data) text->length = sizeof text->data - 1;
}

// ---- searching ------------------------------------------------------------------------------------------------------

// is_named: the user has named this backend, and is told even that this system cannot have it.
static void find_row(const struct row *row, bool is_named, int rank, struct gpu_device_list *list)
{
    const char *why = row->why_not;
    int count = row->backend ? row->backend->count(&why) : 0, described = 0;
    if (count < 0 && !is_named) return;
    for (int i = 0; i < count && list->count < GPU_MAX_DEVICES; i++) {
        struct gpu_device_info *info = &list->devices[list->count];
        *info = (struct gpu_device_info){.backend = row->backend, .api = row->title, .index = i, .rank = rank};
        if (!row->backend->describe(i, &info->caps)) continue;
        snprintf(info->text, sizeof info->text, "%s:%d", row->name, i);
        list->count++;
        described++;
    }
    if (list->api_count == GPU_MAX_BACKENDS) return;
    if (count > 0) why = "its device does not say what it is: check the driver";
    list->apis[list->api_count].name = row->title;
    list->apis[list->api_count++].why = described > 0 ? NULL : why ? why : "no device";
}

void gpu_devices_find(struct gpu_device_list *list)
{
    list->count = list->api_count = 0;
    for (int i = 0; i < ROWS; i++)
        if (!rows[i].hidden) find_row(&rows[i], false, rows[i].rank, list);
}

// ---- comparing ------------------------------------------------------------------------------------------------------

// Each returns a positive number if `a` is better, a negative one if `b` is, and 0 if they are equal.
static int by_hardware(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
    return (int)b->caps.software - (int)a->caps.software;
}
static int by_own_memory(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
    return (int)b->caps.integrated - (int)a->caps.integrated;
}
static int by_backend(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
    return a->rank - b->rank;
}
static int by_memory(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
    return (a->caps.memory > b->caps.memory) - (a->caps.memory < b->caps.memory);
}

static const struct criterion {
    int (*better)(const struct gpu_device_info *a, const struct gpu_device_info *b);
    const char *why;
} criteria[] = {
    {by_hardware, "it is not software"},
    {by_own_memory, "it does not share the CPU's memory"},
    {by_backend, "its API starts kernels faster"},
    {by_memory, "it has more memory"},
};
enum { CRITERIA = sizeof criteria / sizeof *criteria };

// The index of the criterion by which `a` beats `b`; -1 if `b` wins or they are equal.
static int wins_by(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
    for (int i = 0; i < CRITERIA; i++) {
        int better = criteria[i].better(a, b);
        if (better != 0) return better > 0 ? i : -1;
    }
    return -1;
}

const struct gpu_device_info *gpu_devices_fastest(const struct gpu_device_list *list, bool software,
                                                  const struct gpu_device_info *but)
{
    const struct gpu_device_info *best = NULL;
    for (int last = 0; last < 2 && !best; last++)
        for (int i = 0; i < list->count; i++) {
            const struct gpu_device_info *info = &list->devices[i];
            if (info == but || (info->caps.software && !software) || (info->rank < 0) != (last == 1)) continue;
            if (!best || wins_by(info, best) >= 0) best = info;
        }
    return best;
}

// "No GPU found by OpenCL or Vulkan, only software: opencl:0. To run on it, …". Only software devices are in the list.
static void put_no_gpu(struct text *text, const struct gpu_device_list *list)
{
    put(text, "No GPU found");
    for (int i = 0; i < list->api_count; i++)
        put(text, "%s%s", i == 0 ? " by " : i == list->api_count - 1 ? " or " : ", ", list->apis[i].name);
    for (int i = 0; i < list->count; i++) put(text, "%s%s", i == 0 ? ", only software: " : ", ", list->devices[i].text);
    put(text, ".");
    if (list->count > 0) {
        const char *first = list->devices[0].text;
        put(text, " To run on software, name it: HALITE_DEVICE=%s, or --device %s of halite.", first, first);
    } else if (list->api_count > 0) {
        put(text, " %s: %s.", list->apis[0].name, list->apis[0].why);
    }
    if (list->api_count > 1) put(text, " `halite devices` says more.");
}

const struct gpu_device_info *gpu_devices_auto(const struct gpu_device_list *list, char *why)
{
    const struct gpu_device_info *best = gpu_devices_fastest(list, false, NULL);
    const struct gpu_device_info *next = best ? gpu_devices_fastest(list, false, best) : NULL;
    if (next && next->rank < 0 && best->rank >= 0) next = NULL; // no competitor: choose_any would not even ask it
    struct text text = {.length = 0};
    int criterion = next ? wins_by(best, next) : -1;
    if (!best) {
        put_no_gpu(&text, list);
    } else if (!next) {
        put(&text, "the only real GPU");
    } else if (criterion < 0) {
        put(&text, "the first of equals");
    } else {
        put(&text, "before %s, since %s", next->text, criteria[criterion].why);
    }
    memcpy(why, text.data, text.length + 1);
    return best;
}

// ---- choosing -------------------------------------------------------------------------------------------------------

static bool choose_any(const char *only, bool sustained, const struct hl_reporter *reporter,
                       struct gpu_device_info *chosen)
{
    struct gpu_device_list list = {.count = 0};
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].hidden || (*only && strcmp(rows[i].name, only) != 0)) continue;
        const int rank = sustained ? rows[i].sustained_rank : rows[i].rank;
        if (rank >= 0 || !gpu_devices_fastest(&list, false, NULL)) find_row(&rows[i], *only != 0, rank, &list);
    }
    char why[GPU_REASON_BYTES];
    const struct gpu_device_info *best = gpu_devices_auto(&list, why);
    if (best) {
        *chosen = *best;
        snprintf(chosen->why, sizeof chosen->why, "%.*s", (int)sizeof chosen->why - 1, why);
    } else if (*only) {
        hl_report(reporter, "the options demand the backend %s. %s", only, why);
    } else {
        hl_report(reporter, "%s", why);
    }
    return best != NULL;
}

// number: of the device, or -1 for the fastest.
static bool choose_of(const struct row *row, int number, const char *asked, const struct hl_reporter *reporter,
                      struct gpu_device_info *chosen)
{
    struct gpu_device_list list = {.count = 0};
    find_row(row, true, row->rank, &list);
    const struct gpu_device_info *best = number < 0 ? gpu_devices_fastest(&list, true, NULL) : NULL;
    for (int i = 0; i < list.count && !best; i++)
        if (list.devices[i].index == number) best = &list.devices[i];
    if (best) {
        *chosen = *best;
        return true;
    }
    if (list.count == 0) {
        hl_report(reporter, "%s: no %s device: %s", asked, row->title, list.apis[0].why);
        return false;
    }
    struct text text = {.length = 0};
    for (int i = 0; i < list.count; i++)
        put(&text, "%s %s (%s)", i ? "," : "", list.devices[i].text, list.devices[i].caps.name);
    hl_report(reporter, "%s: there is no such device, only%s", asked, text.data);
    return false;
}

// A number of at most four digits; -1 if the text is anything else.
static int parse_number(const char *text)
{
    int number = 0;
    if (!*text || strlen(text) > 4) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return -1;
        number = number * 10 + (*text - '0');
    }
    return number;
}

// The row of the backend that the text names. *number: what follows the colon, or -1 without one. NULL after a message
// about `asked`.
static const struct row *read_device(const char *text, const char *asked, const struct hl_reporter *reporter,
                                     int *number)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    struct text names = {.length = 0};
    *number = colon ? parse_number(colon + 1) : -1;
    for (int i = 0; i < ROWS; i++) {
        put(&names, ", %s", rows[i].name);
        if (strlen(rows[i].name) != length || strncmp(rows[i].name, text, length) != 0) continue;
        if (!colon || *number >= 0) return &rows[i];
        hl_report(reporter, "%s: what follows the colon is no number of a device", asked);
        return NULL;
    }
    hl_report(reporter, "%s: unknown; known are auto%s, each but auto also with a number (opencl:0)", asked,
              names.data);
    return NULL;
}

bool gpu_device_text_is_valid(const char *text, const struct hl_reporter *reporter)
{
    char asked[64];
    int number;
    if (!*text || strcmp(text, "auto") == 0) return true;
    snprintf(asked, sizeof asked, "device %s", text);
    return read_device(text, asked, reporter, &number) != NULL;
}

bool gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                       struct gpu_device_info *chosen)
{
    const char *source = "device ";
    if (!text || !*text) {
        text = getenv("HALITE_DEVICE");
        source = "HALITE_DEVICE=";
    }
    if (!text || !*text || strcmp(text, "auto") == 0) return choose_any(only, sustained, reporter, chosen);

    char asked[64];
    int number;
    snprintf(asked, sizeof asked, "%s%s", source, text);
    const struct row *row = read_device(text, asked, reporter, &number);
    if (!row) return false;
    if (*only && strcmp(row->name, only) != 0) {
        hl_report(reporter, "%s: the options demand the backend %s", asked, only);
        return false;
    }
    return choose_of(row, number, asked, reporter, chosen);
}

static const struct row *row_of(HaliteGpuApi api)
{
    static const char *const names[] = {[kHaliteGpuApiOpenCl] = "opencl",
                                        [kHaliteGpuApiVulkan] = "vulkan",
                                        [kHaliteGpuApiOpenGlEs] = "gles",
                                        [kHaliteGpuApiCuda] = "cuda",
                                        [kHaliteGpuApiMetal] = "metal"};
    const struct row *row = rows;
    while (strcmp(row->name, names[api]) != 0) row++;
    return row;
}

const char *gpu_api_title(HaliteGpuApi api)
{
    return row_of(api)->title;
}

bool gpu_device_current(HaliteGpuContext *context)
{
    const struct gpu_backend *backend = row_of(kHaliteGpuApiOpenGlEs)->backend;
    *context = (HaliteGpuContext){.struct_size = sizeof *context, .api = kHaliteGpuApiOpenGlEs};
    return backend && backend->current(context);
}

struct gpu_device *gpu_device_adopt(const HaliteGpuContext *context, const struct hl_reporter *reporter,
                                    struct gpu_device_info *info)
{
    const struct row *row = row_of(context->api);
    const struct gpu_backend *backend = row->backend;
    struct gpu_device *device = NULL;
    if (!backend || !backend->open_shared)
        hl_report(reporter, "%s: no context of the application can be taken: %s", row->title,
                  row->why_not ? row->why_not : "this backend cannot");
    else
        device = backend->open_shared(context, reporter);
    if (!device) return NULL;
    *info = (struct gpu_device_info){.backend = backend, .api = row->title, .index = -1, .rank = row->rank};
    info->caps = *backend->caps(device);
    snprintf(info->text, sizeof info->text, "%s:shared", row->name);
    return device;
}
