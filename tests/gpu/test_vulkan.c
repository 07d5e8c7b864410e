// SPDX-License-Identifier: Apache-2.0
// The Vulkan backend through its table of functions, on HALITE_DEVICE where that names a Vulkan device ("vulkan:1"),
// else on the first one (lavapipe will do); skipped where there is none. Each test runs three times: with mapped
// buffers where the device has them, with buffers mapped for writing only, and with staging memory; and under the
// validation layer where that is installed: a test that expects no message gets none from the layer either. Kernels are
// emitted here and made SPIR-V by glslangValidator, in place of the build's gpu_spirv. Calls of Vulkan fail because
// this test stands between the backend and the instance.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !defined(HALITE_GPU_VULKAN)
int main(void)
{
    printf("skipped: this build has no Vulkan backend\n");
    return 77;
}
#else
#include <sys/wait.h>
#include <unistd.h>

#include "base/half.h"
#include "gpu/backend/vulkan_device.h"
#include "gpu/lang/spirv/spirv.h"

static const struct gpu_backend *const api = &gpu_backend_vulkan;

// ---- what the tests share: one object, set up by main ---------------------------------------------------------------

enum { MESSAGE_BYTES = 4096 };

static struct shared {
    int index; // of the device
    enum way { MAPPED, MAPPED_FOR_WRITING, STAGING } way;
    bool validation;
    char folder[64]; // of shaders
    struct gpu_device *device;
    int messages;
    char last[MESSAGE_BYTES];
    struct shader {
        char name[64];
        uint32_t *words;
        size_t bytes;
    } shaders[32];
    int shader_count;
    int fail_after;                  // calls from now, 0: never
    VkResult failure;                // what the call says then
    const char *failing;             // the only function that fails; NULL: any
    struct vulkan_instance instance; // as the backend sees it
    size_t extra;                    // bytes that a pipeline cache has beyond the driver's
    PFN_vkGetDeviceProcAddr get_device;
    PFN_vkGetPhysicalDeviceMemoryProperties get_memory;
} shared;

static void keep(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    shared.messages++;
    vsnprintf(shared.last, sizeof shared.last, format, args);
}

static const struct hl_reporter reporter = {.write = keep};

// One message since the last call, with these words in it.
static void said(const char *word, const char *other)
{
    if (shared.messages != 1 || !strstr(shared.last, word) || !strstr(shared.last, other))
        print_error("%d messages, the last: %s\n", shared.messages, shared.messages ? shared.last : "");
    assert_int_equal(shared.messages, 1);
    assert_non_null(strstr(shared.last, word));
    assert_non_null(strstr(shared.last, other));
    shared.messages = 0;
}

static void said_nothing(void)
{
    if (shared.messages) print_error("%d messages, the last: %s\n", shared.messages, shared.last);
    assert_int_equal(shared.messages, 0);
}

// ---- standing between the backend and Vulkan ------------------------------------------------------------------------

static bool fails(const char *function)
{
    if (shared.fail_after == 0 || (shared.failing && strcmp(shared.failing, function) != 0)) return false;
    return --shared.fail_after == 0;
}

#define ALLOCATION VkAllocationCallbacks

// X(name, parameters, arguments): functions that may fail.
// clang-format off
#define FALLIBLE(X) \
    X(vkAllocateCommandBuffers, (VkDevice d, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *o), (d, i, o)) \
    X(vkAllocateDescriptorSets, (VkDevice d, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *o), (d, i, o)) \
    X(vkAllocateMemory, (VkDevice d, const VkMemoryAllocateInfo *i, const ALLOCATION *a, VkDeviceMemory *o), \
      (d, i, a, o)) \
    X(vkBeginCommandBuffer, (VkCommandBuffer c, const VkCommandBufferBeginInfo *i), (c, i)) \
    X(vkBindBufferMemory, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o), (d, b, m, o)) \
    X(vkCreateBuffer, (VkDevice d, const VkBufferCreateInfo *i, const ALLOCATION *a, VkBuffer *o), (d, i, a, o)) \
    X(vkCreateCommandPool, (VkDevice d, const VkCommandPoolCreateInfo *i, const ALLOCATION *a, VkCommandPool *o), \
      (d, i, a, o)) \
    X(vkCreateComputePipelines, (VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo *i, \
      const ALLOCATION *a, VkPipeline *o), (d, c, n, i, a, o)) \
    X(vkCreateDescriptorPool, (VkDevice d, const VkDescriptorPoolCreateInfo *i, const ALLOCATION *a, \
      VkDescriptorPool *o), (d, i, a, o)) \
    X(vkCreateDescriptorSetLayout, (VkDevice d, const VkDescriptorSetLayoutCreateInfo *i, const ALLOCATION *a, \
      VkDescriptorSetLayout *o), (d, i, a, o)) \
    X(vkCreateFence, (VkDevice d, const VkFenceCreateInfo *i, const ALLOCATION *a, VkFence *o), (d, i, a, o)) \
    X(vkCreatePipelineCache, (VkDevice d, const VkPipelineCacheCreateInfo *i, const ALLOCATION *a, \
      VkPipelineCache *o), (d, i, a, o)) \
    X(vkCreatePipelineLayout, (VkDevice d, const VkPipelineLayoutCreateInfo *i, const ALLOCATION *a, \
      VkPipelineLayout *o), (d, i, a, o)) \
    X(vkCreateQueryPool, (VkDevice d, const VkQueryPoolCreateInfo *i, const ALLOCATION *a, VkQueryPool *o), \
      (d, i, a, o)) \
    X(vkCreateShaderModule, (VkDevice d, const VkShaderModuleCreateInfo *i, const ALLOCATION *a, \
      VkShaderModule *o), (d, i, a, o)) \
    X(vkGetQueryPoolResults, (VkDevice d, VkQueryPool p, uint32_t f, uint32_t n, size_t s, void *o, VkDeviceSize t, \
      VkQueryResultFlags g), (d, p, f, n, s, o, t, g)) \
    X(vkMapMemory, (VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s, VkMemoryMapFlags f, void **p), \
      (d, m, o, s, f, p)) \
    X(vkQueueSubmit, (VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f), (q, n, i, f)) \
    X(vkResetFences, (VkDevice d, uint32_t n, const VkFence *f), (d, n, f)) \
    X(vkWaitForFences, (VkDevice d, uint32_t n, const VkFence *f, VkBool32 w, uint64_t t), (d, n, f, w, t))
// clang-format on

static struct {
#define X(name, parameters, arguments) PFN_##name name;
    FALLIBLE(X)
#undef X
    PFN_vkEndCommandBuffer vkEndCommandBuffer;
    PFN_vkGetPipelineCacheData vkGetPipelineCacheData;
    PFN_vkCreateDevice vkCreateDevice;
} real;

#define X(name, parameters, arguments)                              \
    static VKAPI_ATTR VkResult VKAPI_CALL try_##name parameters     \
    {                                                               \
        return fails(#name) ? shared.failure : real.name arguments; \
    }
FALLIBLE(X)
#undef X

static VKAPI_ATTR VkResult VKAPI_CALL try_vkEndCommandBuffer(VkCommandBuffer commands)
{
    VkResult result = real.vkEndCommandBuffer(commands);
    return fails("vkEndCommandBuffer") ? shared.failure : result;
}

// A driver whose cache grows where lavapipe's stays empty.
static VKAPI_ATTR VkResult VKAPI_CALL try_vkGetPipelineCacheData(VkDevice device, VkPipelineCache cache, size_t *size,
                                                                 void *data)
{
    if (fails("vkGetPipelineCacheData")) return shared.failure;
    if (data && *size < shared.extra) return VK_INCOMPLETE;
    size_t own = data ? *size - shared.extra : 0;
    VkResult result = real.vkGetPipelineCacheData(device, cache, &own, data);
    if (data) memset((unsigned char *)data + own, 0x5a, shared.extra);
    *size = own + shared.extra;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL try_vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                         const ALLOCATION *allocation, VkDevice *device)
{
    return fails("vkCreateDevice") ? shared.failure : real.vkCreateDevice(physical, info, allocation, device);
}

// Functions of extensions without which a device only cannot import memory: their absence is no failure.
static bool is_optional(const char *name)
{
    static const char names[] = "vkGetMemoryFdPropertiesKHR vkGetMemoryHostPointerPropertiesEXT vkImportSemaphoreFdKHR "
                                "vkGetSemaphoreFdKHR vkGetAndroidHardwareBufferPropertiesANDROID";
    return strstr(names, name) != NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char *name)
{
    PFN_vkVoidFunction function = shared.get_device(device, name);
    if (!is_optional(name) && fails("vkGetDeviceProcAddr")) return NULL;
#define X(wanted, parameters, arguments)         \
    if (strcmp(name, #wanted) == 0) {            \
        real.wanted = (PFN_##wanted)function;    \
        return (PFN_vkVoidFunction)try_##wanted; \
    }
    FALLIBLE(X)
    X(vkEndCommandBuffer, , )
    X(vkGetPipelineCacheData, , )
#undef X
    return function;
}

// A card's window is as a rule not cached.
static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *properties)
{
    shared.get_memory(physical, properties);
    for (uint32_t i = 0; i < properties->memoryTypeCount && shared.way == MAPPED_FOR_WRITING; i++)
        properties->memoryTypes[i].propertyFlags &= ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
}

const struct vulkan_instance *__real_gpu_vulkan_instance(void);
const struct vulkan_instance *__wrap_gpu_vulkan_instance(void);
const struct vulkan_instance *__wrap_gpu_vulkan_instance(void)
{
    struct vulkan_instance *instance = &shared.instance;
    if (instance->handle) return instance;
    *instance = *__real_gpu_vulkan_instance();
    shared.get_device = instance->vk.vkGetDeviceProcAddr;
    shared.get_memory = instance->vk.vkGetPhysicalDeviceMemoryProperties;
    real.vkCreateDevice = instance->vk.vkCreateDevice;
    instance->vk.vkGetDeviceProcAddr = get_device_function;
    instance->vk.vkGetPhysicalDeviceMemoryProperties = get_memory;
    instance->vk.vkCreateDevice = try_vkCreateDevice;
    return instance;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// clang-format off
static const struct gpu_kernel plus = {
    .name = "plus",
    .group = {64, 1, 1},
    .args = {{GPU_RAW_IN, "a"}, {GPU_RAW_OUT, "sum"}},
    .params = {"n"},
    .body = GPU_TEXT(
        int i = GID0;
        if (i < P_n.x) sum[i] = a[i] + bits_to_float(P_n.y);
    ),
};

static const struct gpu_kernel collect = {
    .name = "collect",
    .group = {64, 1, 1},
    .args = {{GPU_RAW_IN, "a"}, {GPU_RAW_IN, "before"}, {GPU_RAW_OUT, "sum"}},
    .params = {"n"},
    .body = GPU_TEXT(
        int i = GID0;
        if (i < P_n.x) sum[i] = a[i] + before[i];
    ),
};

// The sum of a group's floats, times a constant.
static const struct gpu_kernel group_sums = {
    .name = "group_sums",
    .group = {64, 1, 1},
    .args = {{GPU_RAW_IN, "a"}, {GPU_RAW_OUT, "sum"}},
    GPU_CONSTANTS({"OTHER", 5}, {"TIMES", 1}),
    .shared = {"float part[GROUP_X * GROUP_Y * GROUP_Z]"},
    .body = GPU_TEXT(
        int size = GROUP_X * GROUP_Y * GROUP_Z;
        int t = (LID2 * GROUP_Y + LID1) * GROUP_X + LID0;
        part[t] = a[GROUP0 * size + t];
        BARRIER;
        for (int s = size / 2; s > 0; s /= 2) {
            if (t < s) part[t] += part[t + s];
            BARRIER;
        }
        if (t == 0) sum[GROUP0] = part[0] * to_float(TIMES) + to_float(OTHER);
    ),
};

static const struct gpu_kernel value = {
    .name = "value",
    .group = {4, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .epilogue = true,
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, finish(read_x(p) * k(p.z), p));
    ),
};

static const struct gpu_kernel unknown = {
    .name = "unknown", .group = {1, 1, 1}, .args = {{GPU_RAW_OUT, "sum"}}, .body = GPU_TEXT(sum[0] = 1.0f;),
};
// clang-format on

static const struct gpu_kernel *const kernels[] = {&plus, &collect, &group_sums, &value};

static void make_shader(const struct gpu_kernel *kernel, enum gpu_precision precision)
{
    static const char *const precisions[] = {"f32", "f16s", "f16"};
    struct shader *shader = &shared.shaders[shared.shader_count++];
    snprintf(shader->name, sizeof shader->name, "%s.%s", kernel->name, precisions[precision]);
    char path[256], command[2000];
    snprintf(path, sizeof path, "%s/%s.comp", shared.folder, shader->name);
    char *text = gpu_emit(kernel, GPU_VULKAN, precision, 0, NULL, NULL);
    FILE *file = fopen(path, "w");
    assert_true(text && file && fputs(text, file) >= 0 && fclose(file) == 0);
    free(text);
    snprintf(command, sizeof command,
             "glslangValidator -V --target-env vulkan1.1 -o %s.spv %s >%s.log || { cat %s.log; false; }", path, path,
             path, path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s.spv", path);
    file = fopen(command, "rb");
    assert_non_null(file);
    shader->words = calloc(1, 1 << 16);
    assert_non_null(shader->words);
    shader->bytes = fread(shader->words, 1, 1 << 16, file);
    fclose(file);
    assert_in_range(shader->bytes, 20, (1 << 16) - 1);
}

uint32_t *__wrap_gpu_spirv(const char *kernel, enum gpu_precision precision, size_t *bytes);
uint32_t *__wrap_gpu_spirv(const char *kernel, enum gpu_precision precision, size_t *bytes)
{
    for (int i = 0; i < (int)(sizeof kernels / sizeof *kernels); i++) {
        if (strcmp(kernels[i]->name, kernel) != 0) continue;
        const struct shader *shader = &shared.shaders[i * GPU_PRECISIONS + (int)precision];
        *bytes = shader->bytes;
        uint32_t *words = malloc(shader->bytes);
        assert_non_null(words);
        return memcpy(words, shader->words, shader->bytes);
    }
    *bytes = 0;
    return NULL;
}

// ---- small words for calls ------------------------------------------------------------------------------------------

static struct gpu_buffer *new_buffer(size_t bytes)
{
    struct gpu_buffer *buffer = api->buffer_create(shared.device, bytes);
    assert_non_null(buffer);
    return buffer;
}

// n floats, the i-th is start + step * i.
static float *new_floats(int n, float start, float step)
{
    float *floats = malloc((size_t)n * sizeof *floats + 1);
    assert_non_null(floats);
    for (int i = 0; i < n; i++) floats[i] = start + step * (float)i;
    return floats;
}

static void fill(struct gpu_buffer *buffer, int n, float start, float step)
{
    float *floats = new_floats(n, start, step);
    assert_true(api->buffer_write(shared.device, buffer, 0, floats, (size_t)n * sizeof *floats));
    free(floats);
}

static void holds(struct gpu_buffer *buffer, int n, float start, float step)
{
    float *wanted = new_floats(n, start, step), *got = new_floats(n, -1.0f, -1.0f);
    assert_true(api->buffer_read(shared.device, buffer, 0, got, (size_t)n * sizeof *got));
    assert_memory_equal(got, wanted, (size_t)n * sizeof *got);
    free(wanted);
    free(got);
}

static struct gpu_program *new_program(const struct gpu_kernel *kernel, enum gpu_precision precision,
                                       const int *constants)
{
    struct gpu_program_desc desc = {
        kernel, precision, constants, {kernel->group[0], kernel->group[1], kernel->group[2]}, 0};
    struct gpu_program *program;
    return api->programs_create(shared.device, &desc, 1, &program) ? program : NULL;
}

static int32_t bits(float number)
{
    union {
        float f;
        int32_t i;
    } both = {number};
    return both.i;
}

// to = from + number, for n floats.
static bool add_plus(struct gpu_list *list, struct gpu_program *program, struct gpu_buffer *from, struct gpu_buffer *to,
                     int n, float number)
{
    struct gpu_dispatch dispatch = {
        .program = program,
        .buffer_count = 2,
        .buffers = {from, to},
        .sizes = {(size_t)n * 4, (size_t)n * 4},
        .writes = {false, true},
        .params = {{n, bits(number)}},
        .param_count = 1,
        .groups = {(n + 63) / 64, 1, 1},
        .label = "plus",
    };
    return api->list_dispatch(list, &dispatch);
}

static bool add_collect(struct gpu_list *list, struct gpu_program *program, struct gpu_buffer *from,
                        struct gpu_buffer *before, struct gpu_buffer *to, int n)
{
    struct gpu_dispatch dispatch = {
        .program = program,
        .buffer_count = 3,
        .buffers = {from, before, to},
        .sizes = {(size_t)n * 4, (size_t)n * 4, (size_t)n * 4},
        .writes = {false, false, true},
        .params = {{n}},
        .param_count = 1,
        .groups = {(n + 63) / 64, 1, 1},
        .label = "collect",
    };
    return api->list_dispatch(list, &dispatch);
}

// ---- tests ----------------------------------------------------------------------------------------------------------

static int open_device(void **state)
{
    (void)state;
    if (shared.way == STAGING)
        setenv("HALITE_VULKAN_STAGING", "1", 1);
    else
        unsetenv("HALITE_VULKAN_STAGING");
    shared.messages = shared.fail_after = 0;
    shared.failing = NULL;
    shared.extra = 0;
    shared.device = api->open(shared.index, &reporter);
    if (shared.device && !shared.validation) shared.messages = 0; // that there is no layer
    return shared.device ? 0 : -1;
}

// Whatever a test left behind the layer finds as the device goes.
static int close_device(void **state)
{
    (void)state;
    api->close(shared.device);
    if (shared.messages) print_error("%d messages, the last: %s\n", shared.messages, shared.last);
    return shared.messages ? -1 : 0;
}

static void device_says_what_it_is(void **state)
{
    (void)state;
    struct gpu_caps caps;
    assert_false(api->describe(-1, &caps));
    assert_false(api->describe(api->count(NULL), &caps));
    assert_true(api->describe(shared.index, &caps));
    assert_memory_equal(&caps, api->caps(shared.device), sizeof caps);
    print_message("%s, %s, groups of %d, %d bytes shared, %d compute units, subgroups of %d, buffers of %zu\n",
                  caps.name, caps.driver, caps.max_group_size, caps.shared_bytes, caps.compute_units,
                  caps.subgroup_size, caps.max_buffer);
    assert_non_null(strstr(caps.driver, "Vulkan 1."));
    assert_int_equal(caps.software, caps.vendor == GPU_VENDOR_SOFTWARE);
    assert_true(caps.half_storage && caps.max_group_size >= 128 && caps.shared_bytes >= 16384);
    assert_true(caps.max_buffer >= 1 << 27 && caps.subgroup_size >= 1);
    for (int i = 0; i < 3; i++) assert_true(caps.max_groups[i] >= 65535 && caps.max_group[i] >= 64);
    bool software = false;
    for (int i = 0; i < api->count(NULL); i++) { // those of hardware come first
        assert_true(api->describe(i, &caps));
        assert_true(caps.software >= software);
        software = caps.software;
    }
    assert_null(api->open(-1, &reporter));
    said("Vulkan has", "none with number -1");
    assert_null(api->open(1000, &reporter));
    said("Vulkan has", "none with number 1000");
}

static void buffers_keep_bytes(void **state)
{
    (void)state;
    enum { COUNT = 3 << 20 }; // of floats: more than staging memory
    struct gpu_buffer *large = new_buffer(COUNT * sizeof(float)), *small = new_buffer(3), *none = new_buffer(0);
    fill(large, COUNT, 1.0f, 1.0f);
    fill(large, COUNT, 2.0f, 1.0f); // over it, in the same batch
    assert_true(api->buffer_write(shared.device, small, 1, "ab", 2));
    assert_true(api->buffer_write(shared.device, small, 0, "cd", 2));
    assert_true(api->buffer_write(shared.device, none, 0, "", 0));
    char got[4] = "";
    assert_true(api->buffer_read(shared.device, small, 0, got, 3));
    assert_string_equal(got, "cdb");
    assert_true(api->buffer_read(shared.device, none, 0, got, 0));
    holds(large, COUNT, 2.0f, 1.0f);
    float numbers[2] = {0};
    assert_true(api->buffer_read(shared.device, large, 4000, numbers, sizeof numbers));
    assert_true(numbers[0] == 1002.0f && numbers[1] == 1003.0f);
    assert_true(api->buffer_write(shared.device, large, 4004, &(float){-5.0f}, 4)); // and nobody reads it
    api->buffer_destroy(shared.device, large);
    api->buffer_destroy(shared.device, small);
    api->buffer_destroy(shared.device, none);
    api->buffer_destroy(shared.device, NULL);
}

static void constants_and_shared_memory(void **state)
{
    (void)state;
    enum { COUNT = 1024, CASES = 4 };
    static const struct {
        int group[3], constants[2];
    } cases[CASES] = {{{64, 1, 1}, {5, 1}}, {{8, 8, 2}, {0, 3}}, {{16, 1, 1}, {-7, -2}}, {{1, 1, 1}, {1, 10}}};
    struct gpu_buffer *from = new_buffer(COUNT * 4), *to = new_buffer(COUNT * 4);
    fill(from, COUNT, 0.0f, 1.0f);
    struct gpu_program_desc descs[CASES];
    struct gpu_program *programs[CASES];
    for (int c = 0; c < CASES; c++) {
        descs[c] =
            (struct gpu_program_desc){.kernel = &group_sums, .precision = GPU_F32, .constants = cases[c].constants};
        memcpy(descs[c].group, cases[c].group, sizeof descs[c].group);
    }
    assert_true(api->programs_create(shared.device, descs, CASES, programs));
    for (int c = 0; c < CASES; c++) {
        const int *group = cases[c].group, size = group[0] * group[1] * group[2];
        struct gpu_program *program = programs[c];
        struct gpu_list *list = api->list_create(shared.device);
        assert_true(program && list);
        struct gpu_dispatch dispatch = {
            .program = program,
            .buffer_count = 2,
            .buffers = {from, to},
            .sizes = {COUNT * 4, COUNT * 4},
            .writes = {false, true},
            .groups = {COUNT / size, 1, 1},
        };
        assert_true(api->list_dispatch(list, &dispatch) && api->list_finish(list));
        assert_true(api->list_run(list) && api->list_wait(list));
        // The sum of size numbers from g * size on.
        float first = (float)size * (float)(size - 1) / 2.0f * (float)cases[c].constants[1];
        holds(to, COUNT / size, first + (float)cases[c].constants[0], (float)(size * size * cases[c].constants[1]));
        api->list_destroy(list);
        api->program_destroy(shared.device, program);
    }
    api->buffer_destroy(shared.device, from);
    api->buffer_destroy(shared.device, to);
    api->program_destroy(shared.device, NULL);
    api->list_destroy(NULL);
}

static void store(void *to, size_t at, float number, enum gpu_precision precision)
{
    if (precision == GPU_F32)
        ((float *)to)[at] = number;
    else
        ((uint16_t *)to)[at] = hl_half_from_float(number);
}

static float load(const void *from, size_t at, enum gpu_precision precision)
{
    return precision == GPU_F32 ? ((const float *)from)[at] : hl_half_to_float(((const uint16_t *)from)[at]);
}

// A value of 5 x 3 x 6 (two slices) in each precision, without and with a residual, at offsets of one buffer.
static void values_in_every_precision(void **state)
{
    (void)state;
    enum { W = 5, H = 3, C = 6, NUMBERS = W * H * 8, ROOM = 512 };
    for (int p = GPU_F32; p < GPU_PRECISIONS; p++) {
        enum gpu_precision precision = (enum gpu_precision)p;
        if (precision == GPU_F16 && !api->caps(shared.device)->half_math) {
            assert_null(new_program(&value, precision, (int[GPU_EPILOGUE_STAGES]){0}));
            said("half arithmetic", "value");
            continue;
        }
        size_t size = precision == GPU_F32 ? 4 : 2;
        struct gpu_buffer *arena = new_buffer(4 * ROOM);
        unsigned char bytes[4 * ROOM];
        memset(bytes, 0x7b, sizeof bytes);
        for (size_t i = 0; i < NUMBERS; i++) {
            bool channel = i < NUMBERS / 2 || i % 4 < 2;
            store(bytes, i, channel ? (float)(i % 32) - 16.0f : 0.0f, precision);
            store(bytes + 3 * ROOM, i, channel ? 0.5f : 0.0f, precision);
        }
        for (size_t i = 0; i < 8; i++) store(bytes + ROOM, i, (float)(i + 1) * 0.25f, precision);
        for (int residual = 0; residual < 2; residual++) {
            int stages[GPU_EPILOGUE_STAGES] = {GPU_EPI_SCALE_SHIFT, residual ? GPU_EPI_ADD_VALUE : GPU_EPI_NONE,
                                               GPU_EPI_RELU};
            struct gpu_program *program = new_program(&value, precision, stages);
            struct gpu_list *list = api->list_create(shared.device);
            assert_true(program && list && api->buffer_write(shared.device, arena, 0, bytes, sizeof bytes));
            struct gpu_dispatch dispatch = {
                .program = program,
                .buffer_count = 3 + residual,
                .buffers = {arena, arena, arena, residual ? arena : NULL},
                .offsets = {0, ROOM, 2 * ROOM, 3 * ROOM},
                .sizes = {NUMBERS * size, 8 * size, NUMBERS * size, NUMBERS * size},
                .writes = {false, false, true},
                .params = {{W, H, C, 1}, {W, H, C, 1}, {bits(2.0f), bits(1.0f)}},
                .param_count = 4,
                .groups = {2, 1, 2},
                .label = "value",
            };
            assert_true(api->list_dispatch(list, &dispatch) && api->list_finish(list));
            assert_true(api->list_run(list) && api->list_wait(list));
            unsigned char got[ROOM];
            assert_true(api->buffer_read(shared.device, arena, 2 * ROOM, got, sizeof got));
            for (size_t i = 0; i < NUMBERS; i++) {
                size_t channel = i / (NUMBERS / 2) * 4 + i % 4;
                float wanted = ((float)(i % 32) - 16.0f) * (float)(channel + 1) * 0.25f * 2.0f + 1.0f;
                if (residual) wanted += 0.5f;
                if (wanted < 0.0f || channel >= C) wanted = 0.0f;
                assert_true(load(got, i, precision) == wanted); // exact in halves too
            }
            api->list_destroy(list);
            api->program_destroy(shared.device, program);
        }
        api->buffer_destroy(shared.device, arena);
    }
}

// a -> b, b -> a, one more each: a hundred times without waiting, and reading now and then.
static void lists_replay(void **state)
{
    (void)state;
    enum { COUNT = 300000 }; // its mirror is made in a submission of its own, that of ten floats with the list
    struct gpu_buffer *a = new_buffer(COUNT * 4), *b = new_buffer(COUNT * 4);
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    struct gpu_list *list = api->list_create(shared.device), *empty = api->list_create(shared.device);
    assert_true(program && list && empty);
    assert_true(api->list_finish(empty) && api->list_wait(empty) && api->list_run(empty) && api->list_wait(empty));
    assert_true(add_plus(list, program, a, b, COUNT, 1.0f) && api->list_barrier(list));
    assert_true(add_plus(list, program, b, a, COUNT, 1.0f) && api->list_finish(list));
    fill(a, COUNT, 0.0f, 1.0f);
    for (int run = 0; run < 100; run++) assert_true(api->list_run(list));
    holds(a, COUNT, 200.0f, 1.0f);
    for (int run = 0; run < 10; run++) { // as a model is used: read after each run
        assert_true(api->list_run(list) && api->list_wait(list));
        holds(a, COUNT, 200.0f + 2.0f * (float)(run + 1), 1.0f);
    }
    fill(a, COUNT, 7.0f, 2.0f);
    holds(a, COUNT, 7.0f, 2.0f);
    assert_true(api->list_run(list));
    holds(b, COUNT, 8.0f, 2.0f);
    holds(a, COUNT, 9.0f, 2.0f);
    holds(a, 10, 9.0f, 2.0f); // another position
    holds(a, 10, 9.0f, 2.0f);
    assert_true(api->list_run(list));
    holds(a, 10, 11.0f, 2.0f);
    holds(a, COUNT, 11.0f, 2.0f);
    assert_true(api->list_run(list)); // nobody waits
    api->list_destroy(list);
    api->list_destroy(empty);
    api->program_destroy(shared.device, program);
    api->buffer_destroy(shared.device, a);
    api->buffer_destroy(shared.device, b);
}

static void long_chains(void **state)
{
    (void)state;
    enum { COUNT = 100000, STEPS = 80 };
    struct gpu_buffer *buffers[3];
    for (int i = 0; i < 3; i++) buffers[i] = new_buffer(COUNT * 4);
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    struct gpu_list *list = api->list_create(shared.device);
    assert_true(program && list && api->list_barrier(list)); // before anything: allowed
    for (int i = 0; i < STEPS; i++) {
        assert_true(add_plus(list, program, buffers[i % 3], buffers[(i + 1) % 3], COUNT, (float)i));
        assert_true(api->list_barrier(list) && (i % 2 || api->list_barrier(list)));
    }
    assert_true(api->list_finish(list));
    for (int run = 0; run < 3; run++) {
        fill(buffers[0], COUNT, (float)run, 0.5f);
        assert_true(api->list_run(list) && api->list_wait(list));
        holds(buffers[STEPS % 3], COUNT, (float)(STEPS * (STEPS - 1) / 2 + run), 0.5f);
    }
    api->list_destroy(list);
    api->program_destroy(shared.device, program);
    for (int i = 0; i < 3; i++) api->buffer_destroy(shared.device, buffers[i]);
}

// The layer's checks of synchronization are on, and a list without its barrier is noticed.
static void a_missing_barrier_is_noticed(void **state)
{
    (void)state;
    if (!shared.validation) {
        print_message("no validation layer\n");
        return;
    }
    struct gpu_buffer *a = new_buffer(256), *b = new_buffer(256);
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    struct gpu_list *list = api->list_create(shared.device);
    assert_true(program && list && add_plus(list, program, a, b, 64, 1.0f) && add_plus(list, program, b, a, 64, 1.0f));
    said_nothing();
    assert_true(api->list_finish(list));
    assert_true(shared.messages > 0);
    assert_non_null(strstr(shared.last, "SYNC-HAZARD"));
    shared.messages = 0;
    api->list_destroy(list);
    api->program_destroy(shared.device, program);
    api->buffer_destroy(shared.device, a);
    api->buffer_destroy(shared.device, b);
}

// What the host writes is seen by later runs only, waited for or not, and two lists take turns on the same buffers.
static void two_lists_and_writes_between(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    struct gpu_buffer *in = new_buffer(COUNT * 4), *sums[2] = {new_buffer(COUNT * 4), new_buffer(COUNT * 4)};
    struct gpu_program *program = new_program(&collect, GPU_F32, NULL);
    struct gpu_list *lists[2];
    for (int i = 0; i < 2; i++) {
        lists[i] = api->list_create(shared.device);
        assert_true(lists[i] && add_collect(lists[i], program, in, sums[i], sums[1 - i], COUNT) &&
                    api->list_finish(lists[i]));
    }
    fill(sums[0], COUNT, 0.0f, 0.0f);
    float total = 0.0f;
    for (int run = 0; run < 40; run++) {
        fill(in, COUNT, (float)run, 0.0f);
        assert_true(api->list_run(lists[run % 2]));
        total += (float)run;
        if (run % 5 == 4) holds(sums[1 - run % 2], COUNT, total, 0.0f);
    }
    assert_true(api->list_wait(lists[0]) && api->list_wait(lists[1]));
    holds(sums[0], COUNT, total, 0.0f);
    api->list_destroy(lists[0]);
    fill(in, COUNT, 1.0f, 0.0f);
    fill(sums[1], COUNT, 10.0f, 1.0f);
    assert_true(api->list_run(lists[1]));
    holds(sums[0], COUNT, 11.0f, 1.0f);
    api->list_destroy(lists[1]);
    api->program_destroy(shared.device, program);
    api->buffer_destroy(shared.device, in);
    for (int i = 0; i < 2; i++) api->buffer_destroy(shared.device, sums[i]);
}

static void lists_are_profiled(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct gpu_buffer *a = new_buffer(COUNT * 4), *b = new_buffer(COUNT * 4);
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    struct gpu_list *list = api->list_create(shared.device);
    assert_true(program && list && add_plus(list, program, a, b, COUNT, 1.0f) && api->list_barrier(list));
    assert_true(add_plus(list, program, b, a, 64, 1.0f) && api->list_finish(list));
    fill(a, COUNT, 0.0f, 1.0f);
    uint64_t times[3] = {0, 0, 99};
    assert_true(api->list_profile(list, times, 3));
    assert_true(times[0] > 0 && times[1] > 0 && times[0] < 60000000000u && times[2] == 99);
    print_message("%d floats: %llu ns, 64 floats: %llu ns\n", COUNT, (unsigned long long)times[0],
                  (unsigned long long)times[1]);
    holds(a, 64, 2.0f, 1.0f);
    times[1] = 99;
    assert_true(api->list_run(list) && api->list_profile(list, times, 1) && times[1] == 99);
    holds(b, 64, 5.0f, 1.0f);
    assert_true(api->list_run(list) && api->list_wait(list));
    holds(a, 64, 8.0f, 1.0f);
    api->list_destroy(list);
    api->program_destroy(shared.device, program);
    api->buffer_destroy(shared.device, a);
    api->buffer_destroy(shared.device, b);
}

static void impossible_wishes(void **state)
{
    (void)state;
    assert_null(new_program(&unknown, GPU_F32, NULL));
    said("no SPIR-V of kernel unknown", "build again");
    assert_null(api->buffer_create(shared.device, SIZE_MAX / 2));
    said("at most", "smaller batch");
    said_nothing();
}

// Everything once. True if all went well; then the result was right.
static bool everything(void)
{
    enum { COUNT = 1000 };
    void *kept = NULL;
    size_t kept_size;
    if (!api->cache_load(shared.device, NULL, 0)) return false;
    struct gpu_buffer *a = api->buffer_create(shared.device, COUNT * 4),
                      *b = api->buffer_create(shared.device, COUNT * 4);
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    struct gpu_list *list = api->list_create(shared.device);
    float *floats = new_floats(COUNT, 1.0f, 1.0f), *got = new_floats(COUNT, 0.0f, 0.0f);
    uint64_t time;
    bool ok = a && b && program && list && add_plus(list, program, a, b, COUNT, 1.0f) && api->list_finish(list);
    for (int run = 0; run < 4 && ok; run++) {
        ok = api->buffer_write(shared.device, a, 0, floats, COUNT * 4) && api->list_run(list) && api->list_wait(list) &&
             api->buffer_read(shared.device, b, 0, got, COUNT * 4);
        for (int i = 0; i < COUNT && ok; i++) assert_true(got[i] == floats[i] + 1.0f);
    }
    ok = ok && api->list_profile(list, &time, 1) && api->cache_save(shared.device, &kept, &kept_size);
    free(kept);
    free(floats);
    free(got);
    api->list_destroy(list);
    api->program_destroy(shared.device, program);
    api->buffer_destroy(shared.device, a);
    api->buffer_destroy(shared.device, b);
    return ok;
}

static void caches_are_this_drivers(void **state)
{
    (void)state;
    void *bytes = NULL;
    size_t size;
    assert_true(api->cache_load(shared.device, NULL, 0));
    assert_true(api->cache_save(shared.device, &bytes, &size));
    free(bytes); // lavapipe's has nothing in it: NULL

    shared.extra = 16;
    assert_true(api->cache_load(shared.device, NULL, 0));
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    assert_true(api->cache_save(shared.device, &bytes, &size));
    assert_non_null(bytes);
    assert_true(size >= sizeof(VkPipelineCacheHeaderVersionOne) + 16);
    assert_int_equal(((unsigned char *)bytes)[size - 1], 0x5a);
    api->program_destroy(shared.device, program);
    said_nothing();

    // Not one byte of what says whose it is may differ; those of headerSize only say how long that is.
    unsigned char *other = malloc(size);
    assert_non_null(other);
    for (size_t at = 4; at < sizeof(VkPipelineCacheHeaderVersionOne); at++) {
        memcpy(other, bytes, size);
        other[at] ^= 1;
        assert_false(api->cache_load(shared.device, other, size));
        said("of another device or driver", "");
    }
    memcpy(other, bytes, size);
    other[1] = 1; // a head of 288 bytes
    assert_false(api->cache_load(shared.device, other, size));
    said("of another device or driver", "");
    assert_false(api->cache_load(shared.device, bytes, sizeof(VkPipelineCacheHeaderVersionOne) - 1));
    said("of another device or driver", "");
    assert_non_null(program = new_program(&plus, GPU_F32, NULL)); // it has begun all the same
    api->program_destroy(shared.device, program);
    free(other);
    free(bytes);
}

// Every call of Vulkan fails once: one message with the function's and the result's names, and nothing is left behind.
static void every_call_may_fail(void **state)
{
    (void)state;
    api->close(shared.device);
    shared.device = NULL;
    shared.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    int call = 1;
    for (bool ok = false; !ok; call++) {
        assert_in_range(call, 1, 1000);
        shared.messages = 0;
        shared.fail_after = call;
        shared.device = api->open(shared.index, &reporter);
        if (!shared.validation && shared.messages && strstr(shared.last, "there is no VK_LAYER")) shared.messages = 0;
        ok = shared.device && everything();
        bool failed = shared.fail_after == 0;
        shared.fail_after = 0;
        api->close(shared.device);
        shared.device = NULL;
        assert_true(ok == !failed);
        if (!ok) said("Vulkan on ", strstr(shared.last, "the driver has no") ? "vk" : "VK_ERROR_OUT_OF_DEVICE_MEMORY");
        said_nothing();
    }
    print_message("%d calls\n", call - 2);
    assert_true(call > 60);
    shared.device = api->open(shared.index, NULL);
    assert_non_null(shared.device);
}

// Lost by an error; with staging memory by a run without an end, but for cards, which are done before they are asked.
static void a_lost_device_stays_lost(void **state)
{
    (void)state;
    bool hangs = shared.way == STAGING && api->caps(shared.device)->software;
    struct gpu_buffer *a = new_buffer(256), *b = new_buffer(256);
    struct gpu_program *program = new_program(&plus, GPU_F32, NULL);
    struct gpu_list *list = api->list_create(shared.device), *other = api->list_create(shared.device);
    assert_true(program && list && other && add_plus(list, program, a, b, 64, 1.0f) && api->list_finish(list));
    fill(a, 64, 0.0f, 0.0f);
    assert_true(api->list_run(list) && api->list_wait(list));
    shared.failing = hangs ? "vkWaitForFences" : "vkQueueSubmit";
    shared.failure = hangs ? VK_TIMEOUT : VK_ERROR_DEVICE_LOST;
    shared.fail_after = 1;
    assert_false(api->list_run(list) && api->list_wait(list));
    said(hangs ? "a run has not ended in 3.6e+03 s" : "vkQueueSubmit failed: VK_ERROR_DEVICE_LOST", "delete");
    char bytes[4] = "";
    uint64_t time;
    assert_false(api->list_run(list));
    said("cannot run a list", "lost");
    assert_false(api->list_wait(list));
    said("cannot wait", "lost");
    assert_false(api->list_profile(list, &time, 1));
    said("cannot profile", "lost");
    assert_false(add_plus(other, program, a, b, 64, 1.0f));
    said("cannot record", "lost");
    assert_false(api->list_finish(other));
    said("cannot finish", "lost");
    assert_null(api->list_create(shared.device));
    said("cannot create a list", "lost");
    assert_null(new_program(&plus, GPU_F32, NULL));
    said("cannot compile a kernel", "lost");
    assert_null(api->buffer_create(shared.device, 4));
    said("cannot create a buffer", "lost");
    void *kept;
    size_t size;
    assert_false(api->cache_save(shared.device, &kept, &size));
    assert_null(kept);
    said("cannot save programs", "lost");
    assert_false(api->buffer_write(shared.device, a, 0, bytes, 4));
    said("cannot write", "lost");
    assert_false(api->buffer_read(shared.device, a, 0, bytes, 4));
    said("cannot read", "lost");
    api->list_destroy(other);
    api->list_destroy(list);
    api->program_destroy(shared.device, program);
    api->buffer_destroy(shared.device, a);
    api->buffer_destroy(shared.device, b);
}

// ---- main -----------------------------------------------------------------------------------------------------------

static bool prepare_shaders(void)
{
    if (system("glslangValidator --version >/dev/null 2>&1") != 0) return false;
    snprintf(shared.folder, sizeof shared.folder, "/tmp/halite_test_vulkan.XXXXXX");
    if (!mkdtemp(shared.folder)) return false;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int p = GPU_F32; p < GPU_PRECISIONS; p++) make_shader(kernels[k], (enum gpu_precision)p);
    return true;
}

static int prepare(void **state)
{
    (void)state;
    return prepare_shaders() ? 0 : -1;
}

static int tidy(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", shared.folder);
    for (int i = 0; i < shared.shader_count; i++) free(shared.shaders[i].words);
    shared.shader_count = 0;
    return system(command) == 0 ? 0 : -1;
}

// A process that is told of a library that is not there.
static bool does_without_library(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const char *why = NULL;
        struct gpu_caps caps;
        setenv("HALITE_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1", 1);
        bool ok = api->count(&why) == 0 && why && strstr(why, "HALITE_VULKAN_LIBRARY") && !api->describe(0, &caps) &&
                  !api->open(0, &reporter) && shared.messages == 1 && strstr(shared.last, "does not open");
        _exit(ok ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    if (!does_without_library()) {
        printf("FAILED: a process without the library\n");
        return 1;
    }
    const char *device = getenv("HALITE_DEVICE"), *why = NULL;
    setenv("HALITE_VULKAN_VALIDATION", "1", 0);
    if (device && strncmp(device, "vulkan:", 7) == 0) shared.index = atoi(device + 7);
    if (api->count(&why) <= shared.index) {
        printf("skipped: no Vulkan device %d: %s\n", shared.index, why ? why : "there are fewer");
        return 77;
    }
    if (system("glslangValidator --version >/dev/null 2>&1") != 0) {
        printf("skipped: no glslangValidator, which makes SPIR-V here\n");
        return 77;
    }
    struct gpu_device *first = api->open(shared.index, &reporter);
    shared.validation = first && shared.messages == 0 && strcmp(getenv("HALITE_VULKAN_VALIDATION"), "0") != 0;
    if (shared.messages) printf("%s\n", shared.last);
    api->close(first);
#define TEST(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)
    const struct CMUnitTest tests[] = {
        TEST(device_says_what_it_is),
        TEST(buffers_keep_bytes),
        TEST(constants_and_shared_memory),
        TEST(values_in_every_precision),
        TEST(lists_replay),
        TEST(long_chains),
        TEST(a_missing_barrier_is_noticed),
        TEST(two_lists_and_writes_between),
        TEST(lists_are_profiled),
        TEST(impossible_wishes),
        TEST(caches_are_this_drivers),
        TEST(every_call_may_fail),
        TEST(a_lost_device_stays_lost),
    };
    int failed = cmocka_run_group_tests_name("mapped buffers", tests, prepare, tidy);
    shared.way = MAPPED_FOR_WRITING;
    failed += cmocka_run_group_tests_name("buffers mapped for writing", tests, prepare, tidy);
    shared.way = STAGING;
    return failed + cmocka_run_group_tests_name("staging memory", tests, prepare, tidy);
}
#endif
