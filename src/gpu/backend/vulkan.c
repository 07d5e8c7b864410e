// SPDX-License-Identifier: Apache-2.0
// The Vulkan backend: devices, programs, lists and the table of functions. In: kernels as SPIR-V, buffers, recorded
// dispatches. Out: calls of Vulkan 1.1. A program is a pipeline with specialization constants. A list is one command
// buffer, which list_finish records and each run submits. The library is in vulkan_instance.c, the queue in
// vulkan_queue.c, buffers in vulkan_memory.c, images of the application in vulkan_images.c.
#if defined(HALITE_GPU_VULKAN)
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "gpu/backend/vulkan_compiler.h"
#include "gpu/backend/vulkan_device.h"
#include "gpu/lang/spirv/spirv.h"

enum {
    MAX_CONSTANTS = GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES,
    GROUP_CONSTANT = 100, // the work-group size is in constants 100, 101 and 102
};

struct gpu_program {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    const char *name; // of the kernel
    int buffer_count, param_count;
};

struct record {
    struct gpu_dispatch dispatch;
    bool barrier; // a barrier comes before this dispatch
    VkDescriptorSet set;
};

struct gpu_list {
    struct gpu_device *device;
    struct record *records;
    int count, capacity;
    bool barrier; // one comes before the next dispatch
    VkDescriptorPool pool;
    VkCommandBuffer commands;
    struct gpu_buffer **written; // the buffers that the list writes, without repetition
    int written_count;
    struct gpu_image_uses images;
    VkCommandBuffer *submission; // room for a batch, the list and the copies to mirrors
    uint64_t number;             // the number of its last submission
};

// ---- devices --------------------------------------------------------------------------------------------------------

static int vulkan_count(const char **why)
{
    const struct vulkan_instance *instance = gpu_vulkan_instance();
    if (why) *why = instance->why;
    return instance->count;
}

static bool vulkan_describe(int index, struct gpu_caps *caps)
{
    const struct vulkan_instance *instance = gpu_vulkan_instance();
    if (index < 0 || index >= instance->count) return false;
    gpu_vulkan_fill_caps(instance, instance->devices[index].handle, caps);
    return true;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *device)
{
    (void)severity, (void)types;
    hl_report(&((struct gpu_device *)device)->base.reporter, "Vulkan validation: %s", data->pMessage);
    return VK_FALSE;
}

// Loads every function of the device. False after a message; the device is then destroyed again.
static bool load_device_functions(struct gpu_device *device)
{
    struct vulkan_device_api *vk = &device->vk;
    PFN_vkGetDeviceProcAddr get = device->instance->vk.vkGetDeviceProcAddr;
    const char *missing = NULL;
#define X(name) \
    if (!(vk->name = (PFN_##name)get(device->handle, #name))) missing = #name;
    VULKAN_DEVICE_FUNCTIONS(X)
#undef X
    if (!missing) return true;
    if (vk->vkDestroyDevice && !device->shared) vk->vkDestroyDevice(device->handle, NULL);
    device->handle = VK_NULL_HANDLE;
    return gpu_device_fail(&device->base, "the driver has no %s: update it", missing);
}

static bool create_device(struct gpu_device *device)
{
    static const float priority = 1.0f;
    const char *extensions[VULKAN_MAX_EXTERNAL + 4];
    const struct gpu_caps *caps = &device->base.caps;
    uint32_t count = gpu_vulkan_external_extensions(device, extensions);
    if (caps->half_math) extensions[count++] = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
    if (caps->byte_dots) extensions[count++] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
    if (caps->cooperative) {
        extensions[count++] = VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME;
        extensions[count++] = VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME;
    }
    VkPhysicalDeviceVulkanMemoryModelFeatures model = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
        .vulkanMemoryModel = VK_TRUE,
    };
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix = {
        .sType = (VkStructureType)VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
        .pNext = &model,
        .cooperativeMatrix = VK_TRUE,
    };
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dots = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR,
        .pNext = caps->cooperative ? &matrix : NULL,
        .shaderIntegerDotProduct = caps->byte_dots,
    };
    VkPhysicalDeviceShaderFloat16Int8Features half = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
        .pNext = caps->byte_dots ? &dots : dots.pNext,
        .shaderFloat16 = VK_TRUE,
    };
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = device->physical->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = caps->half_math ? (void *)&half : half.pNext,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = device->instance->vk.vkCreateDevice(device->physical->handle, &info, NULL, &device->handle);
    return gpu_vulkan_check(device, result, "vkCreateDevice");
}

static bool create_messenger(struct gpu_device *device)
{
    const struct vulkan_instance *instance = device->instance;
    if (instance->validation_missing)
        gpu_device_fail(&device->base, "HALITE_VULKAN_VALIDATION is set, but there is no " VULKAN_VALIDATION_LAYER
                                       ": install the Vulkan validation layers");
    if (!instance->validation) return true;
    VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = device,
    };
    VkResult result = instance->vk.vkCreateDebugUtilsMessengerEXT(instance->handle, &info, NULL, &device->messenger);
    return gpu_vulkan_check(device, result, "vkCreateDebugUtilsMessengerEXT");
}

static bool create_set_layouts(struct gpu_device *device)
{
    VkDescriptorSetLayoutBinding bindings[GPU_MAX_BUFFERS];
    for (uint32_t i = 0; i < GPU_MAX_BUFFERS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    for (uint32_t count = 0; count <= GPU_MAX_BUFFERS; count++) {
        VkDescriptorSetLayoutCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
            .bindingCount = count,
            .pBindings = bindings,
        };
        if (!VULKAN_CALL(device, vkCreateDescriptorSetLayout, device->handle, &info, NULL, &device->sets[count]))
            return false;
    }
    return true;
}

static bool create_cache(struct gpu_device *device, const void *bytes, size_t size)
{
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = size,
        .pInitialData = bytes,
    };
    VkPipelineCache cache = VK_NULL_HANDLE;
    if (!VULKAN_CALL(device, vkCreatePipelineCache, device->handle, &info, NULL, &cache)) return false;
    device->vk.vkDestroyPipelineCache(device->handle, device->cache, NULL);
    device->cache = cache;
    device->cache_loaded = size;
    return true;
}

static void vulkan_close(struct gpu_device *device)
{
    if (!device) return;
    const struct vulkan_device_api *vk = &device->vk;
    if (device->handle) {
        if (!device->base.lost) gpu_vulkan_wait(device, device->submitted);
        if (!device->base.is_abandoned && !device->shared) // the application's other queues are none of our business
            vk->vkDeviceWaitIdle(device->handle);
        gpu_vulkan_memory_destroy(device);
        gpu_vulkan_sync_files_end(device);
    }
    if (device->handle && !device->base.is_abandoned) {
        gpu_vulkan_queue_destroy(device);
        for (int i = 0; i <= GPU_MAX_BUFFERS; i++)
            vk->vkDestroyDescriptorSetLayout(device->handle, device->sets[i], NULL);
        vk->vkDestroyPipelineCache(device->handle, device->cache, NULL);
        if (!device->shared) vk->vkDestroyDevice(device->handle, NULL);
    }
    gpu_device_end(&device->base);
    if (device->messenger)
        device->instance->vk.vkDestroyDebugUtilsMessengerEXT(device->instance->handle, device->messenger, NULL);
    free(device->shared);
    free(device);
}

static struct gpu_device *new_device(const struct hl_reporter *reporter)
{
    struct gpu_device *device = calloc(1, sizeof *device);
    if (!device) {
        hl_report(reporter, VULKAN_API ": out of memory for a device");
        return NULL;
    }
    device->base.api = VULKAN_API;
    if (reporter) device->base.reporter = *reporter;
    return device;
}

// What comes before the VkDevice.
static void describe_device(struct gpu_device *device, const struct vulkan_instance *instance, int index)
{
    device->instance = instance;
    device->physical = &instance->devices[index];
    gpu_vulkan_fill_caps(instance, device->physical->handle, &device->base.caps);
    VkPhysicalDeviceProperties properties;
    instance->vk.vkGetPhysicalDeviceProperties(device->physical->handle, &properties);
    device->timestamp_period = properties.limits.timestampPeriod;
    gpu_vulkan_choose_memory(device);
}

static bool create_objects(struct gpu_device *device)
{
    if (!load_device_functions(device)) return false;
    gpu_vulkan_external_begin(device);
    gpu_vulkan_sync_files_begin(device);
    return gpu_vulkan_queue_create(device) && create_set_layouts(device) && create_cache(device, NULL, 0);
}

static struct gpu_device *vulkan_open(int index, const struct hl_reporter *reporter)
{
    const struct vulkan_instance *instance = gpu_vulkan_instance();
    if (!gpu_device_exists(VULKAN_API, index, instance->count, instance->why, reporter)) return NULL;
    struct gpu_device *device = new_device(reporter);
    if (!device) return NULL;
    describe_device(device, instance, index);
    if (create_messenger(device) && create_device(device) && create_objects(device)) return device;
    vulkan_close(device);
    return NULL;
}

static struct gpu_device *vulkan_open_shared(const HaliteGpuContext *context, const struct hl_reporter *reporter)
{
    struct gpu_device *device = new_device(reporter);
    if (!device) return NULL;
    device->shared = calloc(1, sizeof *device->shared);
    if (!device->shared) gpu_device_no_memory(&device->base, "a device");
    if (device->shared && gpu_vulkan_take_instance(context, reporter, device->shared)) {
        describe_device(device, device->shared, 0);
        // The application may not have enabled these features.
        device->base.caps.half_math = device->base.caps.byte_dots = device->base.caps.cooperative = false;
        device->base.caps.fragment_forms = 0;
        device->handle = context->vk_device;
        device->queue = context->vk_queue;
        if (create_objects(device)) return device;
    }
    vulkan_close(device);
    return NULL;
}

static void vulkan_drop_fragments(struct gpu_device *device)
{
    device->base.caps.fragment_forms = 0;
}

// ---- programs -------------------------------------------------------------------------------------------------------

// A program that is being created. Messages are written before or after `compile`, which runs in several threads.
struct compilation {
    struct gpu_device *device;
    const struct gpu_program_desc *desc;
    struct gpu_program *program;
    uint32_t *spirv;
    VkShaderModule module;
    VkResult result;
};

// Several threads call this at the same time, each for an item of its own.
static void compile(void *arg, int64_t item, int worker)
{
    struct compilation *compilation = (struct compilation *)arg + item;
    const struct gpu_device *device = compilation->device;
    const struct gpu_program_desc *desc = compilation->desc;
    struct gpu_program *program = compilation->program;
    (void)worker;
    enum { MORE = GPU_FLOATS_CONSTANT - GROUP_CONSTANT + 1 }; // modules without the last constant ignore it
    int values[MAX_CONSTANTS + MORE], count = gpu_kernel_constant_count(desc->kernel);
    VkSpecializationMapEntry entries[MAX_CONSTANTS + MORE];
    values[count + MORE - 1] = (int)desc->floats;
    for (int i = 0; i < count + MORE; i++) {
        if (i < count + 3) values[i] = i < count ? desc->constants[i] : desc->group[i - count];
        entries[i] = (VkSpecializationMapEntry){
            .constantID = (uint32_t)(i < count ? i : GROUP_CONSTANT + i - count),
            .offset = (uint32_t)((size_t)i * sizeof *values),
            .size = sizeof *values,
        };
    }
    VkSpecializationInfo constants = {
        .mapEntryCount = (uint32_t)(count + MORE),
        .pMapEntries = entries,
        .dataSize = ((size_t)count + MORE) * sizeof *values,
        .pData = values,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = compilation->module,
                .pName = "main",
                .pSpecializationInfo = &constants,
            },
        .layout = program->layout,
    };
    compilation->result =
        device->vk.vkCreateComputePipelines(device->handle, device->cache, 1, &info, NULL, &program->pipeline);
}

static bool create_layout(struct gpu_device *device, struct gpu_program *program)
{
    VkPushConstantRange params = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = (uint32_t)program->param_count * 4 * (uint32_t)sizeof(int32_t),
    };
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &device->sets[program->buffer_count],
        .pushConstantRangeCount = program->param_count > 0,
        .pPushConstantRanges = &params,
    };
    return VULKAN_CALL(device, vkCreatePipelineLayout, device->handle, &info, NULL, &program->layout);
}

static void vulkan_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    if (!device->base.lost) gpu_vulkan_wait(device, device->submitted);
    if (!device->base.is_abandoned) {
        device->vk.vkDestroyPipeline(device->handle, program->pipeline, NULL);
        device->vk.vkDestroyPipelineLayout(device->handle, program->layout, NULL);
    }
    free(program);
}

// The kernel's SPIR-V. False after a message: there is none. Without memory it is NULL.
static bool find_module(struct compilation *compilation, size_t *bytes)
{
    struct gpu_device *device = compilation->device;
    const struct gpu_kernel *kernel = compilation->desc->kernel;
    enum gpu_precision precision = compilation->desc->precision;
    if (kernel->modules) {
        char why[512];
        int number = precision == GPU_F32 ? 0 : 1;
        *bytes = kernel->modules->bytes[number];
        compilation->spirv =
            *bytes > 0 ? malloc(*bytes) : gpu_vulkan_compile(kernel, precision, bytes, why, sizeof why);
        if (compilation->spirv && kernel->modules->words[number])
            memcpy(compilation->spirv, kernel->modules->words[number], *bytes);
        return *bytes > 0 || gpu_device_fail(&device->base, "kernel %s: %s", kernel->name, why);
    }
    compilation->spirv = gpu_spirv(kernel->name, precision, bytes);
    return *bytes > 0 ||
           gpu_device_fail(&device->base,
                           "this build has no SPIR-V of kernel %s: name it in its operator's table and build again",
                           kernel->name);
}

static bool begin(struct gpu_device *device, const struct gpu_program_desc *desc, void *arg)
{
    struct compilation *compilation = arg;
    *compilation = (struct compilation){.device = device, .desc = desc};
    const struct gpu_kernel *kernel = desc->kernel;
    if (desc->precision == GPU_F16 && !device->base.caps.half_math)
        return gpu_device_fail(&device->base,
                               "kernel %s is wanted with half arithmetic, which the device lacks: use f32 or f16s",
                               kernel->name);
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    if (!find_module(compilation, &info.codeSize)) return false;
    struct gpu_program *program = compilation->program = calloc(1, sizeof *program);
    if (!compilation->spirv || !program) return gpu_device_no_memory(&device->base, "a program");
    info.pCode = compilation->spirv;
    program->name = kernel->name;
    program->buffer_count = gpu_kernel_arg_count(kernel) + (kernel->epilogue ? 1 : 0);
    program->param_count = gpu_kernel_param_count(kernel);
    assert(program->buffer_count <= GPU_MAX_BUFFERS && program->param_count <= GPU_MAX_PARAMS);
    return VULKAN_CALL(device, vkCreateShaderModule, device->handle, &info, NULL, &compilation->module) &&
           create_layout(device, program);
}

static struct gpu_program *end(void *arg, bool ok)
{
    struct compilation *compilation = arg;
    struct gpu_device *device = compilation->device;
    struct gpu_program *program = compilation->program;
    char call[128];
    snprintf(call, sizeof call, "vkCreateComputePipelines of kernel %.40s", compilation->desc->kernel->name);
    ok = ok && gpu_vulkan_check(device, compilation->result, call);
    if (compilation->module) device->vk.vkDestroyShaderModule(device->handle, compilation->module, NULL);
    free(compilation->spirv);
    if (ok) return program;
    vulkan_program_destroy(device, program);
    return NULL;
}

static bool vulkan_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                                   struct gpu_program **programs)
{
    // The messenger reports from the thread in which it is called.
    struct gpu_compiler compiler = {sizeof(struct compilation), begin, compile, end, .serial = device->messenger != 0};
    return gpu_device_compile(device, &compiler, descs, count, programs);
}

// Whether the header names this device and driver. Drivers should check this themselves, but some do not.
static bool is_own_cache(const struct gpu_device *device, const void *bytes, size_t size)
{
    VkPipelineCacheHeaderVersionOne header;
    VkPhysicalDeviceProperties properties;
    if (size < sizeof header) return false;
    memcpy(&header, bytes, sizeof header);
    device->instance->vk.vkGetPhysicalDeviceProperties(device->physical->handle, &properties);
    return header.headerSize >= sizeof header && header.headerSize <= size &&
           header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == properties.vendorID &&
           header.deviceID == properties.deviceID &&
           memcmp(header.pipelineCacheUUID, properties.pipelineCacheUUID, sizeof header.pipelineCacheUUID) == 0;
}

// The cache starts empty unless the bytes are usable.
static bool vulkan_cache_load(struct gpu_device *device, const void *bytes, size_t size)
{
    bool own = !bytes || is_own_cache(device, bytes, size);
    if (!own) gpu_device_fail(&device->base, "the cached programs are of another device or driver");
    return (bytes && own && create_cache(device, bytes, size)) || (create_cache(device, NULL, 0) && !bytes);
}

// A cache that has not grown contains nothing new.
static bool vulkan_cache_save(struct gpu_device *device, void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    if (!gpu_device_is_alive(&device->base, "save programs")) return false;
    if (!VULKAN_CALL(device, vkGetPipelineCacheData, device->handle, device->cache, size, NULL)) return false;
    if (*size == device->cache_loaded || *size <= sizeof(VkPipelineCacheHeaderVersionOne)) return true;
    void *data = malloc(*size);
    if (!data) return gpu_device_no_memory(&device->base, "the program cache");
    if (VULKAN_CALL(device, vkGetPipelineCacheData, device->handle, device->cache, size, data)) {
        *bytes = data;
        return true;
    }
    free(data);
    return false;
}

// ---- lists ----------------------------------------------------------------------------------------------------------

static struct gpu_list *vulkan_list_create(struct gpu_device *device)
{
    if (!gpu_device_is_alive(&device->base, "create a list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) gpu_device_no_memory(&device->base, "a list");
    if (list) list->device = device;
    return list;
}

static bool vulkan_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    assert(!list->commands && dispatch->buffer_count <= dispatch->program->buffer_count);
    if (!gpu_device_is_alive(&device->base, "record a dispatch")) return false;
    for (int i = 0; i < dispatch->buffer_count; i++) {
        assert(dispatch->offsets[i] % VULKAN_OFFSET_ALIGNMENT == 0);
        if (!dispatch->buffers[i] || dispatch->sizes[i] <= device->base.caps.max_range) continue;
        return gpu_device_fail(&device->base,
                               "%s: kernel %s is to see %zu bytes of buffer %d, at most %zu can be: use a smaller "
                               "batch or model",
                               dispatch->label ? dispatch->label : "a dispatch", dispatch->program->name,
                               dispatch->sizes[i], i, device->base.caps.max_range);
    }
    struct record *records = hl_grow(list->records, list->count, &list->capacity, sizeof *records);
    if (!records) return gpu_device_no_memory(&device->base, "a list");
    list->records = records;
    records[list->count++] = (struct record){.dispatch = *dispatch, .barrier = list->barrier};
    list->barrier = false;
    return true;
}

static bool vulkan_list_barrier(struct gpu_list *list)
{
    list->barrier = list->count > 0;
    return true;
}

// A binding that this dispatch leaves out (there is no residual) still needs a buffer, and gets the first one.
static int buffer_at(const struct gpu_dispatch *dispatch, int binding)
{
    return binding < dispatch->buffer_count && dispatch->buffers[binding] ? binding : 0;
}

static void write_set(const struct gpu_device *device, const struct record *record)
{
    const struct gpu_dispatch *dispatch = &record->dispatch;
    VkDescriptorBufferInfo ranges[GPU_MAX_BUFFERS];
    int count = dispatch->program->buffer_count;
    for (int i = 0; i < count; i++) {
        int from = buffer_at(dispatch, i);
        ranges[i] =
            (VkDescriptorBufferInfo){dispatch->buffers[from]->handle, dispatch->offsets[from], dispatch->sizes[from]};
    }
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = record->set,
        .descriptorCount = (uint32_t)count, // consecutive bindings
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = ranges,
    };
    if (count > 0) device->vk.vkUpdateDescriptorSets(device->handle, 1, &write, 0, NULL);
}

static bool make_sets(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1};
    for (int i = 0; i < list->count; i++)
        size.descriptorCount += (uint32_t)list->records[i].dispatch.program->buffer_count;
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = (uint32_t)list->count + 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    if (!VULKAN_CALL(device, vkCreateDescriptorPool, device->handle, &info, NULL, &list->pool)) return false;
    for (int i = 0; i < list->count; i++) {
        struct record *record = &list->records[i];
        VkDescriptorSetAllocateInfo set = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = list->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &device->sets[record->dispatch.program->buffer_count],
        };
        if (!VULKAN_CALL(device, vkAllocateDescriptorSets, device->handle, &set, &record->set)) return false;
        write_set(device, record);
    }
    return true;
}

// Notes what the list writes, and which images of the application it reads or writes.
static bool note_used(struct gpu_list *list)
{
    list->written = calloc((size_t)list->count * GPU_MAX_BUFFERS + 1, sizeof(struct gpu_buffer *));
    list->submission = calloc((size_t)list->count * GPU_MAX_BUFFERS + 2, sizeof *list->submission);
    if (!list->written || !list->submission) return gpu_device_no_memory(&list->device->base, "a list");
    for (int r = 0; r < list->count; r++)
        for (int b = 0; b < list->records[r].dispatch.buffer_count; b++) {
            struct gpu_buffer *buffer = list->records[r].dispatch.buffers[b];
            int known = 0;
            bool writes = list->records[r].dispatch.writes[b];
            if (buffer && buffer->image.handle && buffer->image.is_input != writes &&
                !gpu_image_uses_add(&list->images, buffer))
                return gpu_device_no_memory(&list->device->base, "a list");
            if (!writes || !buffer) continue;
            while (known < list->written_count && list->written[known] != buffer) known++;
            if (known == list->written_count) list->written[list->written_count++] = buffer;
        }
    return true;
}

static void record_dispatch(const struct gpu_device *device, VkCommandBuffer commands, const struct record *record)
{
    const struct vulkan_device_api *vk = &device->vk;
    const struct gpu_dispatch *dispatch = &record->dispatch;
    const struct gpu_program *program = dispatch->program;
    assert(dispatch->param_count == program->param_count);
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->pipeline);
    vk->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->layout, 0, 1, &record->set, 0, NULL);
    if (program->param_count > 0)
        vk->vkCmdPushConstants(commands, program->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               (uint32_t)program->param_count * (uint32_t)sizeof *dispatch->params, dispatch->params);
    vk->vkCmdDispatch(commands, (uint32_t)dispatch->groups[0], (uint32_t)dispatch->groups[1],
                      (uint32_t)dispatch->groups[2]);
}

// Copies images of the application before the first dispatch (inputs), or after the last one.
static void copy_images(const struct gpu_list *list, VkCommandBuffer commands, bool inputs)
{
    for (int i = 0; i < list->images.count; i++)
        if (list->images.list[i]->image.is_input == inputs)
            gpu_vulkan_image_copy(list->device, commands, list->images.list[i]);
}

// clocks: if not null, timestamps are written before the first dispatch and after each one, and no two dispatches
// overlap.
static bool record_list(struct gpu_list *list, VkCommandBuffer commands, VkQueryPool clocks)
{
    struct gpu_device *device = list->device;
    const struct vulkan_device_api *vk = &device->vk;
    if (!gpu_vulkan_begin_commands(device, commands, 0)) return false;
    if (device->shared) gpu_vulkan_barrier_to_application(device, commands);
    copy_images(list, commands, true);
    if (clocks) {
        vk->vkCmdResetQueryPool(commands, clocks, 0, (uint32_t)list->count + 1);
        vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clocks, 0);
    }
    for (int i = 0; i < list->count; i++) {
        if (list->records[i].barrier || (clocks && i > 0)) gpu_vulkan_barrier(device, commands);
        record_dispatch(device, commands, &list->records[i]);
        if (clocks) vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clocks, (uint32_t)i + 1);
    }
    gpu_vulkan_barrier_to_all(device, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    copy_images(list, commands, false);
    if (device->shared) gpu_vulkan_barrier_to_application(device, commands);
    return VULKAN_CALL(device, vkEndCommandBuffer, commands);
}

static bool vulkan_list_finish(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    assert(!list->commands);
    return gpu_device_is_alive(&device->base, "finish a list") && make_sets(list) && note_used(list) &&
           gpu_vulkan_allocate_commands(device, &list->commands) && record_list(list, list->commands, VK_NULL_HANDLE);
}

// Whether a buffer that the list writes has a mirror so large that a read of it readies the threads for copying.
static bool has_large_mirror(const struct gpu_list *list)
{
    for (int i = 0; i < list->written_count; i++) {
        const struct gpu_buffer *buffer = list->written[i];
        if (buffer->mirror && !buffer->mirror_is_lent && buffer->read_bytes >= HL_LARGE_COPY) return true;
    }
    return false;
}

// Submits pending copies, a recording of the list, and the copies from what it writes to the mirrors, all in one
// submission; but large mirrors in one of their own, so that a read knows when the kernels before them are done.
static bool submit_list(struct gpu_list *list, VkCommandBuffer commands)
{
    struct gpu_device *device = list->device;
    struct vulkan_batch *batch;
    uint64_t number = 0;
    int count = 0;
    if (!gpu_vulkan_close_batch(device, &batch)) return false;
    if (batch) list->submission[count++] = batch->commands;
    list->submission[count++] = commands;
    if (has_large_mirror(list)) {
        number = gpu_vulkan_submit(device, list->submission, count);
        if (batch) batch->number = number;
        if (number == 0) return false;
        list->number = number;
        batch = NULL;
        count = 0;
    }
    for (int i = 0; i < list->written_count; i++)
        if (list->written[i]->mirror_commands) list->submission[count++] = list->written[i]->mirror_commands;
    number = gpu_vulkan_submit(device, list->submission, count);
    if (batch) batch->number = number;
    if (number == 0) return false;
    list->number = number;
    for (int i = 0; i < list->written_count; i++)
        list->written[i]->mirrored = list->written[i]->mirror_commands ? number : 0;
    return true;
}

static bool vulkan_list_run(struct gpu_list *list)
{
    assert(list->commands);
    if (!gpu_device_is_alive(&list->device->base, "run a list")) return false;
    struct gpu_device *device = list->device;
    // A command buffer must not be pending twice.
    if (!gpu_vulkan_wait(device, list->number) || !submit_list(list, list->commands)) return false;
    // A fence of the copies alone would take a submission of their own, which costs more than a wait that mostly comes
    // anyway when outputs are read.
    bool waits = device->is_sending;
    device->is_sending = false;
    return !waits || gpu_vulkan_wait(device, list->number);
}

static bool vulkan_list_wait(struct gpu_list *list)
{
    return gpu_device_is_alive(&list->device->base, "wait for a list") && gpu_vulkan_wait(list->device, list->number);
}

static bool read_clocks(struct gpu_list *list, VkQueryPool clocks, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    size_t values = (size_t)list->count + 1;
    uint64_t *ticks = calloc(values, sizeof *ticks);
    if (!ticks) return gpu_device_no_memory(&device->base, "times");
    bool ok =
        VULKAN_CALL(device, vkGetQueryPoolResults, device->handle, clocks, 0, (uint32_t)values, values * sizeof *ticks,
                    ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    uint32_t bits = device->physical->timestamp_bits;
    uint64_t mask = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    for (int i = 0; i < count && i < list->count && ok; i++)
        nanoseconds[i] = (uint64_t)((double)((ticks[i + 1] - ticks[i]) & mask) * (double)device->timestamp_period);
    free(ticks);
    return ok;
}

static bool vulkan_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    assert(list->commands);
    if (!gpu_device_is_alive(&device->base, "profile a list")) return false;
    if (device->physical->timestamp_bits == 0)
        return gpu_device_fail(&device->base, "its queue has no clock: profile with another backend");
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = (uint32_t)list->count + 1,
    };
    VkQueryPool clocks = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    bool ok = VULKAN_CALL(device, vkCreateQueryPool, device->handle, &info, NULL, &clocks) &&
              gpu_vulkan_allocate_commands(device, &commands) && record_list(list, commands, clocks) &&
              submit_list(list, commands) && gpu_vulkan_wait(device, list->number) &&
              read_clocks(list, clocks, nanoseconds, count);
    if (!ok && !device->base.lost) gpu_vulkan_wait(device, list->number); // what is destroyed next must not be in use
    gpu_vulkan_free_commands(device, commands);
    if (!device->base.is_abandoned) device->vk.vkDestroyQueryPool(device->handle, clocks, NULL);
    return ok;
}

static void vulkan_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    struct gpu_device *device = list->device;
    if (!device->base.lost) gpu_vulkan_wait(device, list->number);
    gpu_vulkan_free_commands(device, list->commands);
    if (!device->base.is_abandoned) device->vk.vkDestroyDescriptorPool(device->handle, list->pool, NULL);
    free(list->records);
    free(list->written);
    free(list->images.list);
    free(list->submission);
    free(list);
}

const struct gpu_backend gpu_backend_vulkan = {
    .name = "vulkan",
    .language = GPU_VULKAN,
    .count = vulkan_count,
    .describe = vulkan_describe,
    .open = vulkan_open,
    .open_shared = vulkan_open_shared,
    .close = vulkan_close,
    .caps = gpu_device_caps,
    .drop_fragments = vulkan_drop_fragments,
    .set_wait_limit = gpu_device_set_wait_limit,
    .buffer_create = gpu_vulkan_buffer_create,
    .buffer_import = gpu_vulkan_buffer_import,
    .image_import = gpu_vulkan_image_import,
    .memory_import = gpu_vulkan_memory_import,
    .imports_descriptors = true,
    .takes_hardware_buffers = gpu_vulkan_takes_hardware_buffers,
    .buffer_destroy = gpu_vulkan_buffer_destroy,
    .lend = gpu_vulkan_lend,
    .take_back = gpu_vulkan_take_back,
    .buffer_write = gpu_vulkan_buffer_write,
    .buffer_send = gpu_vulkan_buffer_send,
    .buffer_write_halves = gpu_vulkan_buffer_write_halves,
    .buffer_read = gpu_vulkan_buffer_read,
    .programs_create = vulkan_programs_create,
    .program_destroy = vulkan_program_destroy,
    .cache_load = vulkan_cache_load,
    .cache_save = vulkan_cache_save,
    .list_create = vulkan_list_create,
    .list_dispatch = vulkan_list_dispatch,
    .list_barrier = vulkan_list_barrier,
    .list_finish = vulkan_list_finish,
    .list_run = vulkan_list_run,
    .list_wait = vulkan_list_wait,
    .list_profile = vulkan_list_profile,
    .list_destroy = vulkan_list_destroy,
    .fence_type = gpu_vulkan_fence_type,
    .buffer_type = HALITE_BUFFER_VK,
    .fence_await = gpu_vulkan_fence_await,
    .fence_signal = gpu_vulkan_fence_signal,
    .takes_sync_files = gpu_vulkan_takes_sync_files,
    .sync_file_await = gpu_vulkan_sync_file_await,
    .sync_file_create = gpu_vulkan_sync_file_create,
    .fence_create = gpu_vulkan_fence_create,
    .fence_wait = gpu_vulkan_fence_wait,
    .fence_destroy = gpu_vulkan_fence_destroy,
};
#endif
