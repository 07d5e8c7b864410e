// SPDX-License-Identifier: Apache-2.0
// The Vulkan backend. In: kernels as SPIR-V, buffers, recorded dispatches. Out: calls of Vulkan 1.1, whose library is opened by
// name, with one instance per process. A program is a pipeline with specialisation constants; a list is one command buffer,
// recorded when it is finished and submitted again and again.
// Host memory and buffers meet in staging memory: writes are copied on the queue before the next list; what is read again and
// again after a list (a model's outputs) is copied behind it in the same submission. Where the device's memory is the host's
// (integrated, software) buffers are mapped, and nothing is copied.
// Environment: HALITE_VULKAN_LIBRARY (path of the loader), HALITE_VULKAN_VALIDATION=1 (the Khronos layer, synchronisation
// included, its messages as errors of the device's reporter), HALITE_VULKAN_STAGING=1 (never map buffers).
#if defined(HALITE_GPU_VULKAN)
#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/backend/backend.h"
#include "gpu/backend/vulkan_api.h"
#include "gpu/lang/spirv.h"

enum {
    MAX_DEVICES = 16,
    MAX_FAMILIES = 32,
    OFFSET_ALIGNMENT = 256,        // of gpu_dispatch: no device asks for more
    MAX_CONSTANTS = GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES,
    GROUP_CONSTANT = 100,          // ids 100, 101, 102: work-group size
    FENCES = 4,                    // submissions in flight
    BATCHES = 2,                   // of copies: one is filled while the other is on its way
    STAGING_BYTES = 4 << 20,       // of each batch, and for reading
    MIRROR_BYTES = 4 << 20,        // what is read again and again is mirrored up to this size
    SPIN_NS = 50000,
};
#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

// ---- the library and its instance, once per process -------------------------------------------------------------------

struct instance {
    struct vulkan_instance_api vk;
    VkInstance handle;
    bool validation, validation_missing;
    int count;
    struct physical {
        VkPhysicalDevice handle;
        uint32_t family; // of queues that compute
        uint32_t timestamp_bits;
    } devices[MAX_DEVICES];
    const char *why; // there is no device, static text
};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

static void *open_library(const char **why)
{
    static const char *const names[] = {
#if defined(__APPLE__)
        "libvulkan.1.dylib", "libvulkan.dylib",
#else
        "libvulkan.so.1", "libvulkan.so",
#endif
    };
    const char *named = getenv("HALITE_VULKAN_LIBRARY");
    if (named && *named) {
        *why = "the library that HALITE_VULKAN_LIBRARY names does not open: correct the path or unset it";
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    }
    *why = "no libvulkan.so.1: install the Vulkan loader and a driver";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (handle) return handle;
    }
    return NULL;
}

static bool has_validation_layer(const struct vulkan_instance_api *vk)
{
    uint32_t count = 0;
    if (vk->vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || count == 0) return false;
    VkLayerProperties *layers = calloc(count, sizeof *layers);
    bool found = false;
    if (layers && vk->vkEnumerateInstanceLayerProperties(&count, layers) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++) found = found || strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
    free(layers);
    return found;
}

static bool create_instance(struct instance *instance)
{
    struct vulkan_instance_api *vk = &instance->vk;
    bool wanted = is_set("HALITE_VULKAN_VALIDATION");
    instance->validation = wanted && has_validation_layer(vk);
    instance->validation_missing = wanted && !instance->validation;
    static const char *const layers[] = {VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT enables[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enables,
    };
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "Halite",
        .apiVersion = VK_API_VERSION_1_1,
    };
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    if (instance->validation) {
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = layers;
        info.enabledExtensionCount = 2;
        info.ppEnabledExtensionNames = extensions;
    }
    if (vk->vkCreateInstance(&info, NULL, &instance->handle) == VK_SUCCESS) return true;
    instance->why = "libvulkan.so.1 is there but finds no driver: install one (vulkaninfo --summary says what the loader sees)";
    return false;
}

static bool load_functions(struct instance *instance)
{
    struct vulkan_instance_api *vk = &instance->vk;
    instance->why = "its loader lacks functions of Vulkan 1.1: update the Vulkan loader";
#define X(name) \
    if (!(vk->name = (PFN_##name)vk->vkGetInstanceProcAddr(instance->handle, #name))) return false;
    VULKAN_GLOBAL_FUNCTIONS(X)
    if (!create_instance(instance)) return false;
    VULKAN_INSTANCE_FUNCTIONS(X)
    if (instance->validation) {
        VULKAN_DEBUG_FUNCTIONS(X)
    }
#undef X
    return true;
}

// A queue that computes, and not graphics as well where there is the choice: it is not held up by a desktop.
static bool find_family(const struct vulkan_instance_api *vk, struct physical *physical)
{
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = MAX_FAMILIES;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, families);
    bool found = false;
    for (int pass = 0; pass < 2 && !found; pass++) {
        VkQueueFlags refused = pass == 0 ? VK_QUEUE_GRAPHICS_BIT : 0;
        for (uint32_t i = 0; i < count && !found; i++) {
            if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || (families[i].queueFlags & refused)) continue;
            physical->family = i;
            physical->timestamp_bits = families[i].timestampValidBits;
            found = true;
        }
    }
    return found;
}

static void find_devices(struct instance *instance)
{
    static const VkPhysicalDeviceType order[] = {
        VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU,
        VK_PHYSICAL_DEVICE_TYPE_OTHER, VK_PHYSICAL_DEVICE_TYPE_CPU};
    const struct vulkan_instance_api *vk = &instance->vk;
    VkPhysicalDevice handles[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    instance->why = "a loader is there but no driver: install one (vulkaninfo --summary says what the loader sees)";
    if (vk->vkEnumeratePhysicalDevices(instance->handle, &count, handles) < VK_SUCCESS || count == 0) return;
    for (size_t type = 0; type < sizeof order / sizeof *order; type++)
        for (uint32_t i = 0; i < count; i++) {
            VkPhysicalDeviceProperties properties;
            vk->vkGetPhysicalDeviceProperties(handles[i], &properties);
            struct physical physical = {.handle = handles[i]};
            if (properties.deviceType == order[type] && properties.apiVersion >= VK_API_VERSION_1_1 &&
                properties.limits.minStorageBufferOffsetAlignment <= OFFSET_ALIGNMENT && find_family(vk, &physical))
                instance->devices[instance->count++] = physical;
        }
    instance->why = instance->count ? NULL : "its devices lack Vulkan 1.1 or a queue that computes: update the driver";
}

static void load(struct instance *instance)
{
    void *library = open_library(&instance->why); // stays open: drivers do not like to be unloaded
    if (!library) return;
    instance->why = "libvulkan.so.1 has no vkGetInstanceProcAddr: install the Vulkan loader";
    instance->vk.vkGetInstanceProcAddr = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    if (instance->vk.vkGetInstanceProcAddr && load_functions(instance)) find_devices(instance);
}

static struct instance *instance_memory(void)
{
    static struct instance instance;
    return &instance;
}

static void load_instance(void)
{
    load(instance_memory());
}

static const struct instance *get_instance(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_instance);
    return instance_memory();
}

static int vulkan_count(const char **why)
{
    const struct instance *instance = get_instance();
    if (why) *why = instance->why;
    return instance->count;
}

// ---- what a device is and can do --------------------------------------------------------------------------------------

static int to_int(uint32_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

static enum gpu_vendor vendor_of(const VkPhysicalDeviceProperties *properties)
{
    if (properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) return GPU_VENDOR_SOFTWARE;
    switch (properties->vendorID) {
    case 0x10de: return GPU_VENDOR_NVIDIA;
    case 0x1002: case 0x1022: return GPU_VENDOR_AMD;
    case 0x8086: return GPU_VENDOR_INTEL;
    case 0x13b5: return GPU_VENDOR_ARM;
    case 0x5143: return GPU_VENDOR_QUALCOMM;
    case 0x106b: return GPU_VENDOR_APPLE;
    default: return GPU_VENDOR_OTHER;
    }
}

struct extensions {
    bool driver_properties, float16, nvidia_builtins, amd_core, arm_builtins;
};

static struct extensions find_extensions(const struct instance *instance, VkPhysicalDevice physical)
{
    struct extensions found = {0};
    uint32_t count = 0;
    if (instance->vk.vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) != VK_SUCCESS || count == 0)
        return found;
    VkExtensionProperties *all = calloc(count, sizeof *all);
    if (all && instance->vk.vkEnumerateDeviceExtensionProperties(physical, NULL, &count, all) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++) {
            const char *name = all[i].extensionName;
            if (!strcmp(name, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME)) found.driver_properties = true;
            if (!strcmp(name, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME)) found.float16 = true;
            if (!strcmp(name, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) found.nvidia_builtins = true;
            if (!strcmp(name, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) found.amd_core = true;
            if (!strcmp(name, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) found.arm_builtins = true;
        }
    free(all);
    return found;
}

// Puts a struct into the chain behind another.
static void chain(void *first, void *next)
{
    VkBaseOutStructure *head = first, *added = next;
    added->pNext = head->pNext;
    head->pNext = added;
}

static bool has_half_math(const struct instance *instance, VkPhysicalDevice physical, const struct extensions *extensions)
{
    if (!extensions->float16) return false;
    VkPhysicalDeviceShaderFloat16Int8Features half = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &half};
    instance->vk.vkGetPhysicalDeviceFeatures2(physical, &features);
    return half.shaderFloat16;
}

static void fill_caps(const struct instance *instance, VkPhysicalDevice physical, struct gpu_caps *caps)
{
    struct extensions extensions = find_extensions(instance, physical);
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    VkPhysicalDeviceShaderCorePropertiesAMD amd = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
    VkPhysicalDeviceMaintenance3Properties memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    chain(&all, &memory);
    chain(&all, &subgroup);
    if (extensions.driver_properties) chain(&all, &driver);
    if (extensions.nvidia_builtins) chain(&all, &nvidia);
    if (extensions.amd_core) chain(&all, &amd);
    if (extensions.arm_builtins) chain(&all, &arm);
    instance->vk.vkGetPhysicalDeviceProperties2(physical, &all);

    const VkPhysicalDeviceLimits *limits = &all.properties.limits;
    uint32_t version = all.properties.apiVersion;
    *caps = (struct gpu_caps){
        .vendor = vendor_of(&all.properties),
        .software = all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
        .half_storage = true, // as pairs in 32-bit words: no feature needed
        .half_math = has_half_math(instance, physical, &extensions),
        .max_buffer = memory.maxMemoryAllocationSize > SIZE_MAX ? SIZE_MAX : (size_t)memory.maxMemoryAllocationSize,
        .max_group_size = to_int(limits->maxComputeWorkGroupInvocations),
        .shared_bytes = to_int(limits->maxComputeSharedMemorySize),
        .compute_units = to_int(nvidia.shaderSMCount + arm.shaderCoreCount +
                                amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray),
        .subgroup_size = to_int(subgroup.subgroupSize),
    };
    for (int i = 0; i < 3; i++) {
        caps->max_group[i] = to_int(limits->maxComputeWorkGroupSize[i]);
        caps->max_groups[i] = to_int(limits->maxComputeWorkGroupCount[i]);
    }
    snprintf(caps->name, sizeof caps->name, "%.127s", all.properties.deviceName);
    char number[16]; // of the driver, where it gives no text
    snprintf(number, sizeof number, "%#x", (unsigned)all.properties.driverVersion);
    snprintf(caps->driver, sizeof caps->driver, "%.12s %.26s, Vulkan %u.%u", driver.driverName[0] ? driver.driverName : "driver",
             driver.driverInfo[0] ? driver.driverInfo : number, (unsigned)VK_API_VERSION_MAJOR(version),
             (unsigned)VK_API_VERSION_MINOR(version));
}

static bool vulkan_describe(int index, struct gpu_caps *caps)
{
    const struct instance *instance = get_instance();
    if (index < 0 || index >= instance->count) return false;
    fill_caps(instance, instance->devices[index].handle, caps);
    return true;
}

// ---- objects ----------------------------------------------------------------------------------------------------------

struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    size_t bytes;
    unsigned char *mapped; // NULL: only the device sees it
    // What was read last, and how many times in a row; from the second time on, lists that write the buffer copy it to the
    // mirror as they end, and `mirrored` is the last submission that did (0: none since the buffer was written from outside).
    size_t read_offset, read_bytes;
    int reads;
    struct gpu_buffer *mirror;
    VkCommandBuffer mirror_commands;
    uint64_t mirrored;
};

// Copies between staging memory and buffers that go to the queue together.
struct batch {
    VkCommandBuffer commands;
    struct gpu_buffer *staging; // NULL until it is needed
    size_t used;
    bool recording;
    uint64_t number; // of its submission
};

struct gpu_device {
    struct vulkan_device_api vk;
    const struct instance *instance;
    const struct physical *physical;
    VkDevice handle;
    VkQueue queue;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDeviceMemoryProperties memory;
    VkCommandPool pool;
    VkPipelineCache cache;
    VkDescriptorSetLayout sets[GPU_MAX_BUFFERS + 1]; // by how many buffers
    float timestamp_period; // nanoseconds
    uint32_t max_range;     // bytes that a kernel may see of a buffer
    bool maps_buffers, reads_mapped;
    bool lost;
    struct gpu_caps caps;
    struct hl_reporter reporter;

    // Submissions are numbered from 1; number n has fence n % FENCES, and is done when that is signalled or a later one is.
    VkFence fences[FENCES];
    uint64_t submitted, completed;
    struct batch batches[BATCHES];
    int batch; // that is filled now
    struct gpu_buffer *download;
};

struct gpu_program {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    const char *name; // of the kernel
    int buffer_count, param_count;
};

struct record {
    struct gpu_dispatch dispatch;
    bool barrier; // before it
    VkDescriptorSet set;
};

struct gpu_list {
    struct gpu_device *device;
    struct record *records;
    int count, capacity;
    bool barrier; // before the next
    VkDescriptorPool pool;
    VkCommandBuffer commands;
    struct gpu_buffer **written; // each once
    int written_count;
    VkCommandBuffer *together; // room for a submission: a batch, the list, mirrors
    uint64_t number;           // of the last submission
};

// ---- errors -----------------------------------------------------------------------------------------------------------

static const char *result_name(VkResult result)
{
    switch (result) {
#define X(name) \
    case name: return #name;
        X(VK_NOT_READY) X(VK_TIMEOUT) X(VK_INCOMPLETE) X(VK_ERROR_OUT_OF_HOST_MEMORY) X(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        X(VK_ERROR_INITIALIZATION_FAILED) X(VK_ERROR_DEVICE_LOST) X(VK_ERROR_MEMORY_MAP_FAILED) X(VK_ERROR_LAYER_NOT_PRESENT)
        X(VK_ERROR_EXTENSION_NOT_PRESENT) X(VK_ERROR_FEATURE_NOT_PRESENT) X(VK_ERROR_TOO_MANY_OBJECTS)
        X(VK_ERROR_FRAGMENTED_POOL) X(VK_ERROR_OUT_OF_POOL_MEMORY) X(VK_ERROR_FRAGMENTATION) X(VK_ERROR_INVALID_SHADER_NV)
        X(VK_ERROR_UNKNOWN)
#undef X
    default: return "a result that it should not give";
    }
}

static const char *advice(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "the process is out of memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "the GPU's memory is full: use a smaller batch or model, or free some of it";
    case VK_ERROR_TOO_MANY_OBJECTS: return "delete delegates that are not in use";
    case VK_ERROR_DEVICE_LOST: return "the driver gave the GPU up: delete the delegate and make a new one";
    default: return "check the driver: vulkaninfo, and HALITE_VULKAN_VALIDATION=1 for the reason";
    }
}

// Whether a call went well; if not, says which and why.
static bool check(struct gpu_device *device, VkResult result, const char *call)
{
    if (result == VK_SUCCESS) return true;
    if (result == VK_ERROR_DEVICE_LOST) device->lost = true;
    hl_report(&device->reporter, "Vulkan (%s): %s failed: %s (%d): %s", device->caps.name, call, result_name(result),
              (int)result, advice(result));
    return false;
}
#define CALL(device, name, ...) check((device), (device)->vk.name(__VA_ARGS__), #name)

static bool fail_memory(const struct gpu_device *device, const char *what)
{
    hl_report(&device->reporter, "Vulkan (%s): out of memory for %s", device->caps.name, what);
    return false;
}

static bool is_alive(const struct gpu_device *device, const char *what)
{
    if (!device->lost) return true;
    hl_report(&device->reporter, "Vulkan (%s): cannot %s: the device was lost earlier: delete the delegate and make a new one",
              device->caps.name, what);
    return false;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *device)
{
    (void)severity, (void)types;
    hl_report(&((struct gpu_device *)device)->reporter, "Vulkan validation: %s", data->pMessage);
    return VK_FALSE;
}

// ---- the queue --------------------------------------------------------------------------------------------------------

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Until a submission is done. Asking for a while before sleeping: 74 instead of 90 us for a list of 30 small dispatches (H200).
static bool wait_for(struct gpu_device *device, uint64_t number)
{
    if (number <= device->completed) return true;
    VkFence fence = device->fences[number % FENCES];
    VkResult result = VK_NOT_READY;
    if (!device->caps.software) {
        uint64_t end = now_ns() + SPIN_NS;
        do result = device->vk.vkGetFenceStatus(device->handle, fence);
        while (result == VK_NOT_READY && now_ns() < end);
    }
    if (result == VK_NOT_READY) result = device->vk.vkWaitForFences(device->handle, 1, &fence, VK_TRUE, UINT64_MAX);
    if (!check(device, result, "vkWaitForFences")) return false;
    device->completed = number;
    return true;
}

// The submission's number; 0 after a message.
static uint64_t submit(struct gpu_device *device, const VkCommandBuffer *commands, int count)
{
    uint64_t number = device->submitted + 1;
    if (number > FENCES && !wait_for(device, number - FENCES)) return 0;
    VkFence fence = device->fences[number % FENCES];
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = (uint32_t)count,
        .pCommandBuffers = commands,
    };
    if (!CALL(device, vkResetFences, device->handle, 1, &fence)) return 0;
    if (!CALL(device, vkQueueSubmit, device->queue, 1, &info, fence)) return 0;
    return device->submitted = number;
}

static void barrier(const struct gpu_device *device, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags writes,
                    VkPipelineStageFlags to, VkAccessFlags uses)
{
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = writes, .dstAccessMask = uses};
    device->vk.vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

enum {
    COMPUTE = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
    COPY = VK_PIPELINE_STAGE_TRANSFER_BIT,
    SHADER_WRITE = VK_ACCESS_SHADER_WRITE_BIT,
    SHADER_USE = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    COPY_WRITE = VK_ACCESS_TRANSFER_WRITE_BIT,
    COPY_USE = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
};

// At the end of every command buffer, so that none needs one at its beginning: what was written is seen by whatever follows, on
// the host as well, and what was read may be overwritten.
static void barrier_to_all(const struct gpu_device *device, VkCommandBuffer commands, VkPipelineStageFlags from,
                           VkAccessFlags writes)
{
    barrier(device, commands, from, writes, COMPUTE | COPY | VK_PIPELINE_STAGE_HOST_BIT,
            SHADER_USE | COPY_USE | VK_ACCESS_HOST_READ_BIT);
}

static bool allocate_commands(struct gpu_device *device, VkCommandBuffer *commands)
{
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return CALL(device, vkAllocateCommandBuffers, device->handle, &info, commands);
}

static void free_commands(struct gpu_device *device, VkCommandBuffer commands)
{
    if (commands) device->vk.vkFreeCommandBuffers(device->handle, device->pool, 1, &commands);
}

static bool begin_commands(struct gpu_device *device, VkCommandBuffer commands, VkCommandBufferUsageFlags usage)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = usage};
    return CALL(device, vkBeginCommandBuffer, commands, &info);
}

// ---- memory -----------------------------------------------------------------------------------------------------------

enum memory_use { MEMORY_DEVICE, MEMORY_MAPPED, MEMORY_UPLOAD, MEMORY_DOWNLOAD, MEMORY_USES };

// What a memory type should have and should not, best first; the end is what any device has.
enum {
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
};
static const struct memory_wish {
    VkMemoryPropertyFlags wanted, refused;
} memory_wishes[MEMORY_USES][3] = {
    [MEMORY_DEVICE] = {{LOCAL, VISIBLE}, {LOCAL, 0}, {0, 0}}, // a window into a card's memory may be small: last
    [MEMORY_MAPPED] = {{LOCAL | VISIBLE | CACHED, 0}, {LOCAL | VISIBLE, 0}, {VISIBLE, 0}},
    [MEMORY_UPLOAD] = {{VISIBLE, LOCAL | CACHED}, {VISIBLE, LOCAL}, {VISIBLE, 0}},
    [MEMORY_DOWNLOAD] = {{VISIBLE | CACHED, LOCAL}, {VISIBLE | CACHED, 0}, {VISIBLE, 0}},
};

// The first type among those that a buffer may have; -1: none.
static int find_type(const struct gpu_device *device, uint32_t allowed, const struct memory_wish *wish)
{
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = device->memory.memoryTypes[i].propertyFlags;
        if ((allowed >> i & 1) && (flags & wish->wanted) == wish->wanted && !(flags & wish->refused)) return (int)i;
    }
    return -1;
}

static bool allocate(struct gpu_device *device, struct gpu_buffer *buffer, enum memory_use use)
{
    VkMemoryRequirements needs;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
    int type = -1;
    for (int i = 0; i < 3 && type < 0; i++) type = find_type(device, needs.memoryTypeBits, &memory_wishes[use][i]);
    if (type < 0) {
        hl_report(&device->reporter, "Vulkan (%s): no memory type suits a buffer: check the driver", device->caps.name);
        return false;
    }
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = (uint32_t)type,
    };
    char call[64];
    snprintf(call, sizeof call, "vkAllocateMemory of %zu bytes", (size_t)needs.size);
    if (!check(device, device->vk.vkAllocateMemory(device->handle, &info, NULL, &buffer->memory), call)) return false;
    if (!CALL(device, vkBindBufferMemory, device->handle, buffer->handle, buffer->memory, 0)) return false;
    void *mapped = NULL;
    if (use != MEMORY_DEVICE && !CALL(device, vkMapMemory, device->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped))
        return false;
    buffer->mapped = mapped;
    return true;
}

static void release(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    release(device, buffer->mirror);
    free_commands(device, buffer->mirror_commands);
    device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
    device->vk.vkFreeMemory(device->handle, buffer->memory, NULL); // unmaps it
    free(buffer);
}

static struct gpu_buffer *create(struct gpu_device *device, size_t bytes, enum memory_use use)
{
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        fail_memory(device, "a buffer");
        return NULL;
    }
    buffer->bytes = bytes;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    if (CALL(device, vkCreateBuffer, device->handle, &info, NULL, &buffer->handle) && allocate(device, buffer, use))
        return buffer;
    release(device, buffer);
    return NULL;
}

static struct gpu_buffer *vulkan_buffer_create(struct gpu_device *device, size_t bytes)
{
    if (!is_alive(device, "create a buffer")) return NULL;
    if (bytes > device->caps.max_buffer) {
        hl_report(&device->reporter, "Vulkan (%s): a buffer of %zu bytes is wanted, the device has at most %zu: use a smaller "
                  "batch or model", device->caps.name, bytes, device->caps.max_buffer);
        return NULL;
    }
    return create(device, bytes ? bytes : 1, device->maps_buffers ? MEMORY_MAPPED : MEMORY_DEVICE);
}

// ---- copies -----------------------------------------------------------------------------------------------------------

// The batch that is filled now, recording and with staging memory; NULL after a message.
static struct batch *open_batch(struct gpu_device *device)
{
    struct batch *batch = &device->batches[device->batch];
    if (batch->recording) return batch;
    if (!wait_for(device, batch->number)) return NULL;
    if (!batch->staging && !(batch->staging = create(device, STAGING_BYTES, MEMORY_UPLOAD))) return NULL;
    if (!begin_commands(device, batch->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)) return NULL;
    batch->recording = true;
    batch->used = 0;
    return batch;
}

// Ends the batch, if there is something in it, for a submission that the caller makes.
static bool close_batch(struct gpu_device *device, struct batch **closed)
{
    struct batch *batch = &device->batches[device->batch];
    *closed = NULL;
    if (!batch->recording) return true;
    batch->recording = false;
    if (!CALL(device, vkEndCommandBuffer, batch->commands)) return false;
    device->batch = (device->batch + 1) % BATCHES;
    *closed = batch;
    return true;
}

static bool flush(struct gpu_device *device)
{
    struct batch *batch;
    if (!close_batch(device, &batch)) return false;
    return !batch || (batch->number = submit(device, &batch->commands, 1)) != 0;
}

static bool finish(struct gpu_device *device)
{
    return flush(device) && wait_for(device, device->submitted);
}

static void record_copy(const struct gpu_device *device, VkCommandBuffer commands, const struct gpu_buffer *from,
                        size_t from_offset, const struct gpu_buffer *to, size_t to_offset, size_t bytes)
{
    VkBufferCopy region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = bytes};
    device->vk.vkCmdCopyBuffer(commands, from->handle, to->handle, 1, &region);
    barrier_to_all(device, commands, COPY, COPY_WRITE);
}

static bool vulkan_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                                size_t bytes)
{
    assert(offset <= buffer->bytes && bytes <= buffer->bytes - offset);
    if (!is_alive(device, "write a buffer")) return false;
    if (buffer->mapped) {
        if (!finish(device)) return false;
        memcpy(buffer->mapped + offset, from, bytes);
        return true;
    }
    buffer->mirrored = 0;
    const unsigned char *next = from;
    while (bytes > 0) {
        struct batch *batch = open_batch(device);
        if (!batch) return false;
        size_t part = STAGING_BYTES - batch->used;
        if (part > bytes) part = bytes;
        memcpy(batch->staging->mapped + batch->used, next, part);
        record_copy(device, batch->commands, batch->staging, batch->used, buffer, offset, part);
        batch->used += part;
        if (batch->used == STAGING_BYTES && !flush(device)) return false;
        next += part;
        offset += part;
        bytes -= part;
    }
    return true;
}

static bool read_by_copies(struct gpu_device *device, const struct gpu_buffer *buffer, size_t offset, unsigned char *to,
                           size_t bytes)
{
    if (!device->download && !(device->download = create(device, STAGING_BYTES, MEMORY_DOWNLOAD))) return false;
    while (bytes > 0) {
        struct batch *batch = open_batch(device);
        if (!batch) return false;
        size_t part = bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
        record_copy(device, batch->commands, buffer, offset, device->download, 0, part);
        if (!finish(device)) return false;
        memcpy(to, device->download->mapped, part);
        to += part;
        offset += part;
        bytes -= part;
    }
    return true;
}

// Counts reads of one place; the second in a row makes a mirror of it. The queue is idle.
static bool note_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, size_t bytes)
{
    bool same = buffer->reads > 0 && buffer->read_offset == offset && buffer->read_bytes == bytes;
    buffer->read_offset = offset;
    buffer->read_bytes = bytes;
    buffer->reads = same ? 2 : 1;
    if (!same) {
        release(device, buffer->mirror);
        free_commands(device, buffer->mirror_commands);
        buffer->mirror = NULL;
        buffer->mirror_commands = NULL;
        buffer->mirrored = 0;
        return true;
    }
    if (buffer->mirror || bytes == 0 || bytes > MIRROR_BYTES) return true;
    if (!(buffer->mirror = create(device, bytes, MEMORY_DOWNLOAD))) return false;
    VkCommandBuffer commands;
    if (!allocate_commands(device, &commands)) return false;
    buffer->mirror_commands = commands;
    if (!begin_commands(device, commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT)) return false;
    record_copy(device, commands, buffer, offset, buffer->mirror, 0, bytes);
    return CALL(device, vkEndCommandBuffer, commands);
}

static bool vulkan_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    assert(offset <= buffer->bytes && bytes <= buffer->bytes - offset);
    if (!is_alive(device, "read a buffer")) return false;
    if (buffer->mapped && device->reads_mapped) {
        if (!finish(device)) return false;
        memcpy(to, buffer->mapped + offset, bytes);
        return true;
    }
    if (buffer->mirrored && buffer->read_offset == offset && buffer->read_bytes == bytes) {
        if (!wait_for(device, buffer->mirrored)) return false;
        memcpy(to, buffer->mirror->mapped, bytes);
        return true;
    }
    return read_by_copies(device, buffer, offset, to, bytes) && note_read(device, buffer, offset, bytes);
}

static void vulkan_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    if (!device->lost) finish(device); // a batch may name it
    release(device, buffer);
}

// ---- opening ----------------------------------------------------------------------------------------------------------

static bool load_device_functions(struct gpu_device *device)
{
    struct vulkan_device_api *vk = &device->vk;
    const char *name;
#define X(function) \
    name = #function; \
    if (!(vk->function = (PFN_##function)device->instance->vk.vkGetDeviceProcAddr(device->handle, name))) goto missing;
    VULKAN_DEVICE_FUNCTIONS(X)
#undef X
    return true;
missing:
    hl_report(&device->reporter, "Vulkan (%s): the driver has no %s: update it", device->caps.name, name);
    return false;
}

static bool create_device(struct gpu_device *device)
{
    static const float priority = 1.0f;
    static const char *const half_extension = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
    VkPhysicalDeviceShaderFloat16Int8Features half = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
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
        .pNext = device->caps.half_math ? &half : NULL,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = device->caps.half_math ? 1 : 0,
        .ppEnabledExtensionNames = &half_extension,
    };
    VkResult result = device->instance->vk.vkCreateDevice(device->physical->handle, &info, NULL, &device->handle);
    return check(device, result, "vkCreateDevice");
}

static bool create_messenger(struct gpu_device *device)
{
    const struct instance *instance = device->instance;
    if (instance->validation_missing)
        hl_report(&device->reporter, "Vulkan (%s): HALITE_VULKAN_VALIDATION is set, but there is no " VALIDATION_LAYER
                  ": install the Vulkan validation layers", device->caps.name);
    if (!instance->validation) return true;
    VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = device,
    };
    VkResult result = instance->vk.vkCreateDebugUtilsMessengerEXT(instance->handle, &info, NULL, &device->messenger);
    return check(device, result, "vkCreateDebugUtilsMessengerEXT");
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
        if (!CALL(device, vkCreateDescriptorSetLayout, device->handle, &info, NULL, &device->sets[count])) return false;
    }
    return true;
}

static bool create_queue(struct gpu_device *device)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->physical->family,
    };
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    device->vk.vkGetDeviceQueue(device->handle, device->physical->family, 0, &device->queue);
    if (!CALL(device, vkCreateCommandPool, device->handle, &pool, NULL, &device->pool)) return false;
    for (int i = 0; i < FENCES; i++)
        if (!CALL(device, vkCreateFence, device->handle, &fence, NULL, &device->fences[i])) return false;
    for (int i = 0; i < BATCHES; i++)
        if (!allocate_commands(device, &device->batches[i].commands)) return false;
    return true;
}

static void choose_memory(struct gpu_device *device)
{
    VkPhysicalDeviceProperties properties;
    device->instance->vk.vkGetPhysicalDeviceMemoryProperties(device->physical->handle, &device->memory);
    device->instance->vk.vkGetPhysicalDeviceProperties(device->physical->handle, &properties);
    device->timestamp_period = properties.limits.timestampPeriod;
    device->max_range = properties.limits.maxStorageBufferRange;
    bool shared = device->caps.software || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    bool visible = find_type(device, UINT32_MAX, &(struct memory_wish){LOCAL | VISIBLE, 0}) >= 0;
    device->maps_buffers = shared && visible && !is_set("HALITE_VULKAN_STAGING");
    device->reads_mapped = find_type(device, UINT32_MAX, &(struct memory_wish){LOCAL | VISIBLE | CACHED, 0}) >= 0;
}

static void vulkan_close(struct gpu_device *device)
{
    if (!device) return;
    const struct vulkan_device_api *vk = &device->vk;
    if (device->handle && vk->vkDeviceWaitIdle) {
        vk->vkDeviceWaitIdle(device->handle);
        for (int i = 0; i < BATCHES; i++) release(device, device->batches[i].staging);
        release(device, device->download);
        for (int i = 0; i <= GPU_MAX_BUFFERS; i++) vk->vkDestroyDescriptorSetLayout(device->handle, device->sets[i], NULL);
        for (int i = 0; i < FENCES; i++) vk->vkDestroyFence(device->handle, device->fences[i], NULL);
        vk->vkDestroyPipelineCache(device->handle, device->cache, NULL);
        vk->vkDestroyCommandPool(device->handle, device->pool, NULL);
        vk->vkDestroyDevice(device->handle, NULL);
    }
    if (device->messenger)
        device->instance->vk.vkDestroyDebugUtilsMessengerEXT(device->instance->handle, device->messenger, NULL);
    free(device);
}

static struct gpu_device *vulkan_open(int index, const struct hl_reporter *reporter)
{
    const struct instance *instance = get_instance();
    if (index < 0 || index >= instance->count) {
        hl_report(reporter, "Vulkan: there is no device %d: %s", index, instance->why ? instance->why : "use a smaller number");
        return NULL;
    }
    struct gpu_device *device = calloc(1, sizeof *device);
    if (!device) {
        hl_report(reporter, "Vulkan: out of memory for a device");
        return NULL;
    }
    device->instance = instance;
    device->physical = &instance->devices[index];
    if (reporter) device->reporter = *reporter;
    fill_caps(instance, device->physical->handle, &device->caps);
    choose_memory(device);
    VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    if (create_messenger(device) && create_device(device) && load_device_functions(device) && create_queue(device) &&
        create_set_layouts(device) && CALL(device, vkCreatePipelineCache, device->handle, &cache, NULL, &device->cache))
        return device;
    vulkan_close(device);
    return NULL;
}

static const struct gpu_caps *vulkan_caps(const struct gpu_device *device)
{
    return &device->caps;
}

// ---- programs ---------------------------------------------------------------------------------------------------------

static bool create_pipeline(struct gpu_device *device, const struct gpu_program_desc *desc, VkShaderModule module,
                            struct gpu_program *program)
{
    int values[MAX_CONSTANTS + 3], count = gpu_kernel_constant_count(desc->kernel);
    VkSpecializationMapEntry entries[MAX_CONSTANTS + 3];
    for (int i = 0; i < count + 3; i++) {
        values[i] = i < count ? desc->constants[i] : desc->group[i - count];
        entries[i] = (VkSpecializationMapEntry){
            .constantID = (uint32_t)(i < count ? i : GROUP_CONSTANT + i - count),
            .offset = (uint32_t)((size_t)i * sizeof *values),
            .size = sizeof *values,
        };
    }
    VkSpecializationInfo constants = {
        .mapEntryCount = (uint32_t)count + 3,
        .pMapEntries = entries,
        .dataSize = ((size_t)count + 3) * sizeof *values,
        .pData = values,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
            .pSpecializationInfo = &constants,
        },
        .layout = program->layout,
    };
    char call[128];
    snprintf(call, sizeof call, "vkCreateComputePipelines of kernel %.40s", desc->kernel->name);
    VkResult result =
        device->vk.vkCreateComputePipelines(device->handle, device->cache, 1, &info, NULL, &program->pipeline);
    return check(device, result, call);
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
    return CALL(device, vkCreatePipelineLayout, device->handle, &info, NULL, &program->layout);
}

static void vulkan_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    if (!device->lost) wait_for(device, device->submitted);
    device->vk.vkDestroyPipeline(device->handle, program->pipeline, NULL);
    device->vk.vkDestroyPipelineLayout(device->handle, program->layout, NULL);
    free(program);
}

static struct gpu_program *vulkan_program_create(struct gpu_device *device, const struct gpu_program_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    if (!is_alive(device, "create a program")) return NULL;
    if (desc->precision == GPU_F16 && !device->caps.half_math) {
        hl_report(&device->reporter, "Vulkan (%s): kernel %s is wanted with half arithmetic, which the device lacks: use f32 or "
                  "f16s", device->caps.name, kernel->name);
        return NULL;
    }
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.pCode = gpu_spirv(kernel->name, desc->precision, &info.codeSize);
    if (!info.pCode) {
        hl_report(&device->reporter, "Vulkan (%s): this build has no SPIR-V of kernel %s: list it where src/gpu/lang/build finds "
                  "it, and build again", device->caps.name, kernel->name);
        return NULL;
    }
    struct gpu_program *program = calloc(1, sizeof *program);
    if (!program) {
        fail_memory(device, "a program");
        return NULL;
    }
    program->name = kernel->name;
    program->buffer_count = gpu_kernel_arg_count(kernel) + (kernel->epilogue ? 1 : 0);
    program->param_count = gpu_kernel_param_count(kernel);
    assert(program->buffer_count <= GPU_MAX_BUFFERS && program->param_count <= GPU_MAX_PARAMS);
    VkShaderModule module = VK_NULL_HANDLE;
    bool ok = CALL(device, vkCreateShaderModule, device->handle, &info, NULL, &module) && create_layout(device, program) &&
              create_pipeline(device, desc, module, program);
    device->vk.vkDestroyShaderModule(device->handle, module, NULL);
    if (ok) return program;
    vulkan_program_destroy(device, program);
    return NULL;
}

// ---- lists ------------------------------------------------------------------------------------------------------------

static struct gpu_list *vulkan_list_create(struct gpu_device *device)
{
    if (!is_alive(device, "create a list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) fail_memory(device, "a list");
    if (list) list->device = device;
    return list;
}

static bool vulkan_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    assert(!list->commands && dispatch->buffer_count <= dispatch->program->buffer_count);
    if (!is_alive(device, "record a dispatch")) return false;
    for (int i = 0; i < dispatch->buffer_count; i++) {
        assert(dispatch->offsets[i] % OFFSET_ALIGNMENT == 0);
        if (!dispatch->buffers[i] || dispatch->sizes[i] <= device->max_range) continue;
        hl_report(&device->reporter, "Vulkan (%s): %s: kernel %s is to see %zu bytes of buffer %d, the device shows at most %u: "
                  "use a smaller batch or model", device->caps.name, dispatch->label ? dispatch->label : "a dispatch",
                  dispatch->program->name, dispatch->sizes[i], i, (unsigned)device->max_range);
        return false;
    }
    if (list->count == list->capacity) {
        int capacity = list->capacity * 2 + 32;
        struct record *records = realloc(list->records, (size_t)capacity * sizeof *records);
        if (!records) return fail_memory(device, "a list");
        list->records = records;
        list->capacity = capacity;
    }
    list->records[list->count++] = (struct record){.dispatch = *dispatch, .barrier = list->barrier};
    list->barrier = false;
    return true;
}

static bool vulkan_list_barrier(struct gpu_list *list)
{
    list->barrier = list->count > 0;
    return true;
}

// A place that the kernel has and this dispatch does not use (no residual) must have some buffer all the same: the first.
static int buffer_at(const struct gpu_dispatch *dispatch, int place)
{
    return place < dispatch->buffer_count && dispatch->buffers[place] ? place : 0;
}

static void write_set(const struct gpu_device *device, const struct record *record)
{
    const struct gpu_dispatch *dispatch = &record->dispatch;
    VkDescriptorBufferInfo ranges[GPU_MAX_BUFFERS];
    int count = dispatch->program->buffer_count;
    for (int i = 0; i < count; i++) {
        int from = buffer_at(dispatch, i);
        ranges[i] = (VkDescriptorBufferInfo){dispatch->buffers[from]->handle, dispatch->offsets[from], dispatch->sizes[from]};
    }
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = record->set,
        .descriptorCount = (uint32_t)count, // runs on from binding to binding
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = ranges,
    };
    if (count > 0) device->vk.vkUpdateDescriptorSets(device->handle, 1, &write, 0, NULL);
}

static bool make_sets(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1};
    for (int i = 0; i < list->count; i++) size.descriptorCount += (uint32_t)list->records[i].dispatch.program->buffer_count;
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = (uint32_t)list->count + 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    if (!CALL(device, vkCreateDescriptorPool, device->handle, &info, NULL, &list->pool)) return false;
    for (int i = 0; i < list->count; i++) {
        struct record *record = &list->records[i];
        VkDescriptorSetAllocateInfo set = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = list->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &device->sets[record->dispatch.program->buffer_count],
        };
        if (!CALL(device, vkAllocateDescriptorSets, device->handle, &set, &record->set)) return false;
        write_set(device, record);
    }
    return true;
}

static bool note_written(struct gpu_list *list)
{
    list->written = calloc((size_t)list->count * GPU_MAX_BUFFERS + 1, sizeof(struct gpu_buffer *));
    list->together = calloc((size_t)list->count * GPU_MAX_BUFFERS + 2, sizeof *list->together);
    if (!list->written || !list->together) return fail_memory(list->device, "a list");
    for (int r = 0; r < list->count; r++)
        for (int b = 0; b < list->records[r].dispatch.buffer_count; b++) {
            struct gpu_buffer *buffer = list->records[r].dispatch.buffers[b];
            int known = 0;
            if (!list->records[r].dispatch.writes[b] || !buffer) continue;
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
    vk->vkCmdDispatch(commands, (uint32_t)dispatch->groups[0], (uint32_t)dispatch->groups[1], (uint32_t)dispatch->groups[2]);
}

// clocks: with a time before the first dispatch and behind each, and none overlapping the next.
static bool record_list(struct gpu_list *list, VkCommandBuffer commands, VkQueryPool clocks)
{
    struct gpu_device *device = list->device;
    const struct vulkan_device_api *vk = &device->vk;
    if (!begin_commands(device, commands, 0)) return false;
    if (clocks) {
        vk->vkCmdResetQueryPool(commands, clocks, 0, (uint32_t)list->count + 1);
        vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clocks, 0);
    }
    for (int i = 0; i < list->count; i++) {
        if (list->records[i].barrier || (clocks && i > 0))
            barrier(device, commands, COMPUTE, SHADER_WRITE, COMPUTE, SHADER_USE);
        record_dispatch(device, commands, &list->records[i]);
        if (clocks) vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clocks, (uint32_t)i + 1);
    }
    barrier_to_all(device, commands, COMPUTE, SHADER_WRITE);
    return CALL(device, vkEndCommandBuffer, commands);
}

static bool vulkan_list_finish(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    assert(!list->commands);
    return is_alive(device, "finish a list") && make_sets(list) && note_written(list) &&
           allocate_commands(device, &list->commands) && record_list(list, list->commands, VK_NULL_HANDLE);
}

// Pending copies, a recording of the list, and copies to the mirrors of what it writes, in one submission.
static bool submit_list(struct gpu_list *list, VkCommandBuffer commands)
{
    struct gpu_device *device = list->device;
    struct batch *batch;
    int count = 0;
    if (!close_batch(device, &batch)) return false;
    if (batch) list->together[count++] = batch->commands;
    list->together[count++] = commands;
    for (int i = 0; i < list->written_count; i++)
        if (list->written[i]->mirror_commands) list->together[count++] = list->written[i]->mirror_commands;
    uint64_t number = submit(device, list->together, count);
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
    if (!is_alive(list->device, "run a list")) return false;
    // Its command buffer may be on the queue only once.
    return wait_for(list->device, list->number) && submit_list(list, list->commands);
}

static bool vulkan_list_wait(struct gpu_list *list)
{
    return is_alive(list->device, "wait for a list") && wait_for(list->device, list->number);
}

static bool read_clocks(struct gpu_list *list, VkQueryPool clocks, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    size_t values = (size_t)list->count + 1;
    uint64_t *ticks = calloc(values, sizeof *ticks);
    if (!ticks) return fail_memory(device, "times");
    bool ok = CALL(device, vkGetQueryPoolResults, device->handle, clocks, 0, (uint32_t)values, values * sizeof *ticks, ticks,
                   sizeof *ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
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
    if (!is_alive(device, "profile a list")) return false;
    if (device->physical->timestamp_bits == 0) {
        hl_report(&device->reporter, "Vulkan (%s): its queue has no clock: profile with another backend", device->caps.name);
        return false;
    }
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = (uint32_t)list->count + 1,
    };
    VkQueryPool clocks = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    bool ok = CALL(device, vkCreateQueryPool, device->handle, &info, NULL, &clocks) && allocate_commands(device, &commands) &&
              record_list(list, commands, clocks) && submit_list(list, commands) && wait_for(device, list->number) &&
              read_clocks(list, clocks, nanoseconds, count);
    free_commands(device, commands);
    device->vk.vkDestroyQueryPool(device->handle, clocks, NULL);
    return ok;
}

static void vulkan_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    struct gpu_device *device = list->device;
    if (!device->lost) wait_for(device, list->number);
    free_commands(device, list->commands);
    device->vk.vkDestroyDescriptorPool(device->handle, list->pool, NULL);
    free(list->records);
    free(list->written);
    free(list->together);
    free(list);
}

const struct gpu_backend gpu_backend_vulkan = {
    .name = "vulkan",
    .language = GPU_VULKAN,
    .count = vulkan_count,
    .describe = vulkan_describe,
    .open = vulkan_open,
    .close = vulkan_close,
    .caps = vulkan_caps,
    .buffer_create = vulkan_buffer_create,
    .buffer_destroy = vulkan_buffer_destroy,
    .buffer_write = vulkan_buffer_write,
    .buffer_read = vulkan_buffer_read,
    .program_create = vulkan_program_create,
    .program_destroy = vulkan_program_destroy,
    .list_create = vulkan_list_create,
    .list_dispatch = vulkan_list_dispatch,
    .list_barrier = vulkan_list_barrier,
    .list_finish = vulkan_list_finish,
    .list_run = vulkan_list_run,
    .list_wait = vulkan_list_wait,
    .list_profile = vulkan_list_profile,
    .list_destroy = vulkan_list_destroy,
};
#endif
