// SPDX-License-Identifier: Apache-2.0
// The Vulkan library, its instance and its devices, once per process. In: the environment. Out: devices in a stable
// order (discrete, integrated, virtual, other, CPU; among equals as the loader lists them) with their capabilities, or
// the reason why there is none. Environment: HALITE_VULKAN_LIBRARY (path of the loader) and HALITE_VULKAN_VALIDATION=1
// (the Khronos layer with synchronization checks, whose messages go to the device's reporter).
#if defined(HALITE_GPU_VULKAN)
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/loader_names.h"
#include "base/mutex.h"
#include "gpu/backend/vulkan_device.h"

enum { MAX_FAMILIES = 32 };

bool gpu_vulkan_is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

static struct hl_library *open_library(const char **why)
{
    const char *named = hl_library_named("HALITE_VULKAN_LIBRARY");
    if (named) {
        *why = "the library that HALITE_VULKAN_LIBRARY names does not open: correct the path or unset it";
        return hl_library_open(named);
    }
    *why = "no libvulkan.so.1: install the Vulkan loader and a driver";
    return hl_library_open_first(hl_loader_names.vulkan);
}

static bool has_validation_layer(const struct vulkan_instance_api *vk)
{
    uint32_t count = 0;
    if (vk->vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || count == 0) return false;
    VkLayerProperties *layers = calloc(count, sizeof *layers);
    bool found = false;
    if (layers && vk->vkEnumerateInstanceLayerProperties(&count, layers) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++) found = found || strcmp(layers[i].layerName, VULKAN_VALIDATION_LAYER) == 0;
    free(layers);
    return found;
}

static bool create_instance(struct vulkan_instance *instance)
{
    struct vulkan_instance_api *vk = &instance->vk;
    bool wanted = gpu_vulkan_is_set("HALITE_VULKAN_VALIDATION");
    instance->validation = wanted && has_validation_layer(vk);
    instance->validation_missing = wanted && !instance->validation;
    static const char *const layers[] = {VULKAN_VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
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
    instance->why = "libvulkan.so.1 is there but finds no driver: install one (vulkaninfo --summary lists them)";
    return false;
}

static bool load_functions(struct vulkan_instance *instance)
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

// Finds a queue family for compute. One without graphics is preferred, because a desktop does not delay it.
static bool find_family(const struct vulkan_instance_api *vk, struct vulkan_physical *physical)
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

static void find_devices(struct vulkan_instance *instance)
{
    static const VkPhysicalDeviceType order[] = {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                                                 VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                                                 VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_OTHER,
                                                 VK_PHYSICAL_DEVICE_TYPE_CPU};
    const struct vulkan_instance_api *vk = &instance->vk;
    VkPhysicalDevice handles[VULKAN_MAX_DEVICES];
    uint32_t count = VULKAN_MAX_DEVICES;
    instance->why = "libvulkan.so.1 is there but finds no device: install its driver (vulkaninfo --summary lists them)";
    if (vk->vkEnumeratePhysicalDevices(instance->handle, &count, handles) < VK_SUCCESS || count == 0) return;
    for (size_t type = 0; type < sizeof order / sizeof *order; type++)
        for (uint32_t i = 0; i < count; i++) {
            VkPhysicalDeviceProperties properties;
            vk->vkGetPhysicalDeviceProperties(handles[i], &properties);
            struct vulkan_physical physical = {.handle = handles[i]};
            if (properties.deviceType == order[type] && properties.apiVersion >= VK_API_VERSION_1_1 &&
                properties.limits.minStorageBufferOffsetAlignment <= VULKAN_OFFSET_ALIGNMENT &&
                find_family(vk, &physical))
                instance->devices[instance->count++] = physical;
        }
    instance->why = instance->count ? NULL : "its devices lack Vulkan 1.1 or a queue that computes: update the driver";
}

static void load(struct vulkan_instance *instance)
{
    struct hl_library *library = open_library(&instance->why); // stays open: some drivers crash when unloaded
    if (!library) return;
    instance->why = "libvulkan.so.1 has no vkGetInstanceProcAddr: install the Vulkan loader";
    PFN_vkGetInstanceProcAddr *address = &instance->vk.vkGetInstanceProcAddr;
    if (!hl_library_find(library, "vkGetInstanceProcAddr", address, sizeof *address)) return;
    if (load_functions(instance)) find_devices(instance);
}

static struct vulkan_instance *instance_memory(void)
{
    static struct vulkan_instance instance;
    return &instance;
}

static void load_instance(void)
{
    load(instance_memory());
}

const struct vulkan_instance *gpu_vulkan_instance(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, load_instance);
    return instance_memory();
}

// ---- the application's instance ----------------------------------------------------------------------

static const char *find_application_device(const HaliteGpuContext *context, struct vulkan_instance *instance)
{
    const struct vulkan_instance_api *vk = &instance->vk;
    VkPhysicalDevice handles[VULKAN_MAX_DEVICES];
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = VULKAN_MAX_DEVICES, family_count = MAX_FAMILIES, i = 0, family = context->vk_queue_family;
    if (vk->vkEnumeratePhysicalDevices(instance->handle, &count, handles) < VK_SUCCESS) count = 0;
    while (i < count && (void *)handles[i] != context->vk_physical_device) i++;
    if (i == count) return "vk_physical_device is none of vk_instance";
    vk->vkGetPhysicalDeviceQueueFamilyProperties(handles[i], &family_count, families);
    if (family >= family_count || !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        return "vk_queue_family is no family of queues that compute";
    VkPhysicalDeviceProperties properties;
    vk->vkGetPhysicalDeviceProperties(handles[i], &properties);
    if (properties.apiVersion < VK_API_VERSION_1_1 ||
        properties.limits.minStorageBufferOffsetAlignment > VULKAN_OFFSET_ALIGNMENT)
        return "the device lacks Vulkan 1.1";
    instance->devices[0] = (struct vulkan_physical){handles[i], family, families[family].timestampValidBits};
    instance->count = 1;
    return NULL;
}

bool gpu_vulkan_take_instance(const HaliteGpuContext *context, const struct hl_reporter *reporter,
                              struct vulkan_instance *instance)
{
    struct vulkan_instance_api *vk = &instance->vk;
    const char *problem = NULL;
    *instance = (struct vulkan_instance){.handle = context->vk_instance};
    vk->vkGetInstanceProcAddr = gpu_vulkan_instance()->vk.vkGetInstanceProcAddr;
    if (context->vk_get_instance_proc_addr)
        vk->vkGetInstanceProcAddr = (PFN_vkGetInstanceProcAddr)context->vk_get_instance_proc_addr;
    if (!vk->vkGetInstanceProcAddr) problem = gpu_vulkan_instance()->why;
#define X(name)                                                                                   \
    if (!problem && !(vk->name = (PFN_##name)vk->vkGetInstanceProcAddr(instance->handle, #name))) \
        problem = "vk_instance lacks functions of Vulkan 1.1";
    VULKAN_INSTANCE_FUNCTIONS(X)
#undef X
    if (!problem) problem = find_application_device(context, instance);
    if (problem) hl_report(reporter, VULKAN_API ": the application's context: %s", problem);
    return !problem;
}

// ---- capabilities ------------------------------------------------------------------------------------

static int to_int(uint32_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

static enum gpu_vendor vendor_of(const VkPhysicalDeviceProperties *properties)
{
    if (properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) return GPU_VENDOR_SOFTWARE;
    switch (properties->vendorID) {
    case 0x10de: return GPU_VENDOR_NVIDIA;
    case 0x1002:
    case 0x1022: return GPU_VENDOR_AMD;
    case 0x8086: return GPU_VENDOR_INTEL;
    case 0x13b5: return GPU_VENDOR_ARM;
    case 0x5143: return GPU_VENDOR_QUALCOMM;
    case 0x106b: return GPU_VENDOR_APPLE;
    default: return GPU_VENDOR_OTHER;
    }
}

struct extensions {
    bool driver_properties, float16, dot_product, memory_model, cooperative_matrix, nvidia_builtins, amd_core,
        arm_builtins;
};

VkExtensionProperties *gpu_vulkan_list_extensions(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                                                  uint32_t *count)
{
    *count = 0;
    VkResult result = instance->vk.vkEnumerateDeviceExtensionProperties(physical, NULL, count, NULL);
    VkExtensionProperties *all = result == VK_SUCCESS && *count > 0 ? calloc(*count, sizeof *all) : NULL;
    if (!all || instance->vk.vkEnumerateDeviceExtensionProperties(physical, NULL, count, all) < VK_SUCCESS) *count = 0;
    return all;
}

bool gpu_vulkan_has_extension(const struct vulkan_instance *instance, VkPhysicalDevice physical, const char *name)
{
    uint32_t count;
    bool found = false;
    VkExtensionProperties *all = gpu_vulkan_list_extensions(instance, physical, &count);
    for (uint32_t i = 0; i < count; i++) found = found || strcmp(all[i].extensionName, name) == 0;
    free(all);
    return found;
}

static struct extensions find_extensions(const struct vulkan_instance *instance, VkPhysicalDevice physical)
{
    struct extensions found = {0};
    uint32_t count;
    VkExtensionProperties *all = gpu_vulkan_list_extensions(instance, physical, &count);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = all[i].extensionName;
        if (!strcmp(name, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME)) found.driver_properties = true;
        if (!strcmp(name, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME)) found.float16 = true;
        if (!strcmp(name, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) found.dot_product = true;
        if (!strcmp(name, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME)) found.memory_model = true;
        if (!strcmp(name, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) found.cooperative_matrix = true;
        if (!strcmp(name, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) found.nvidia_builtins = true;
        if (!strcmp(name, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) found.amd_core = true;
        if (!strcmp(name, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) found.arm_builtins = true;
    }
    free(all);
    return found;
}

// Inserts a struct into a pNext chain, after the first one.
static void chain(void *first, void *next)
{
    VkBaseOutStructure *head = first, *added = next;
    added->pNext = head->pNext;
    head->pNext = added;
}

static bool has_half_math(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                          const struct extensions *extensions)
{
    if (!extensions->float16) return false;
    VkPhysicalDeviceShaderFloat16Int8Features half = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
    };
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &half};
    instance->vk.vkGetPhysicalDeviceFeatures2(physical, &features);
    return half.shaderFloat16;
}

static bool has_dot_product(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                            const struct extensions *extensions)
{
    if (!extensions->dot_product) return false;
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dots = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR,
    };
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &dots};
    instance->vk.vkGetPhysicalDeviceFeatures2(physical, &features);
    return dots.shaderIntegerDotProduct;
}

static bool has_cooperative_features(const struct vulkan_instance *instance, VkPhysicalDevice physical)
{
    VkPhysicalDeviceVulkanMemoryModelFeatures model = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
    };
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix = {
        .sType = (VkStructureType)VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
        .pNext = &model,
    };
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &matrix};
    instance->vk.vkGetPhysicalDeviceFeatures2(physical, &features);
    return matrix.cooperativeMatrix && model.vulkanMemoryModel;
}

// Whether there are the products that kernels with fragments need: of halves, 16 x 16 x 16, with sums in floats.
static bool has_cooperative_matrices(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                                     const struct extensions *extensions)
{
    enum { MAX_PRODUCTS = 256 };
    if (!extensions->cooperative_matrix || !extensions->memory_model || !has_cooperative_features(instance, physical))
        return false;
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR list =
        (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
            instance->vk.vkGetInstanceProcAddr(instance->handle, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    VkCooperativeMatrixPropertiesKHR *products = calloc(MAX_PRODUCTS, sizeof *products);
    uint32_t count = MAX_PRODUCTS;
    for (int i = 0; products && i < MAX_PRODUCTS; i++)
        products[i].sType = (VkStructureType)VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    if (!list || !products || list(physical, &count, products) < VK_SUCCESS) count = 0;
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        const VkCooperativeMatrixPropertiesKHR *p = &products[i];
        found =
            found || (p->MSize == 16 && p->NSize == 16 && p->KSize == 16 && p->AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
                      p->BType == VK_COMPONENT_TYPE_FLOAT16_KHR && p->CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
                      p->ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR && p->scope == VK_SCOPE_SUBGROUP_KHR);
    }
    free(products);
    return found;
}

// Bytes of the largest device-local heap.
static uint64_t memory_of(const struct vulkan_instance *instance, VkPhysicalDevice physical)
{
    VkPhysicalDeviceMemoryProperties memory;
    instance->vk.vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    uint64_t most = 0;
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && heap->size > most) most = heap->size;
    }
    return most;
}

void gpu_vulkan_fill_caps(const struct vulkan_instance *instance, VkPhysicalDevice physical, struct gpu_caps *caps)
{
    struct extensions extensions = find_extensions(instance, physical);
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV,
    };
    VkPhysicalDeviceShaderCorePropertiesAMD amd = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM,
    };
    VkPhysicalDeviceMaintenance3Properties memory = {.sType =
                                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    VkPhysicalDeviceShaderIntegerDotProductPropertiesKHR dots = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES_KHR,
    };
    chain(&all, &memory);
    chain(&all, &subgroup);
    if (extensions.driver_properties) chain(&all, &driver);
    if (extensions.dot_product) chain(&all, &dots);
    if (extensions.nvidia_builtins) chain(&all, &nvidia);
    if (extensions.amd_core) chain(&all, &amd);
    if (extensions.arm_builtins) chain(&all, &arm);
    instance->vk.vkGetPhysicalDeviceProperties2(physical, &all);

    const VkPhysicalDeviceLimits *limits = &all.properties.limits;
    uint32_t version = all.properties.apiVersion;
    *caps = (struct gpu_caps){
        .vendor = vendor_of(&all.properties),
        .software = all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
        .integrated = all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
        .memory = memory_of(instance, physical),
        .half_storage = true, // kernels pack pairs into 32 bits, which needs no feature
        .half_math = has_half_math(instance, physical, &extensions),
        .max_buffer = memory.maxMemoryAllocationSize > SIZE_MAX ? SIZE_MAX : (size_t)memory.maxMemoryAllocationSize,
        .max_group_size = to_int(limits->maxComputeWorkGroupInvocations),
        .max_range = limits->maxStorageBufferRange,
        .shared_bytes = to_int(limits->maxComputeSharedMemorySize),
        .compute_units =
            to_int(nvidia.shaderSMCount + arm.shaderCoreCount +
                   amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray),
        .subgroup_size = to_int(subgroup.subgroupSize),
    };
    // Drivers without the instruction write the same operations that plain code has. Those of the CPU serve tests.
    caps->byte_dots = has_dot_product(instance, physical, &extensions) &&
                      (dots.integerDotProduct4x8BitPackedSignedAccelerated || caps->software);
    // The kernels take 32 invocations for a subgroup. It is not known whether they pay on others than NVIDIA's devices.
    caps->cooperative =
        caps->half_math && caps->subgroup_size == 32 && has_cooperative_matrices(instance, physical, &extensions);
    if (caps->cooperative && caps->vendor == GPU_VENDOR_NVIDIA)
        caps->fragment_forms = 1u << MATRIX_SPLIT | 1u << MATRIX_HALVES | 1u << MATRIX_NARROW;
    for (int i = 0; i < 3; i++) {
        caps->max_group[i] = to_int(limits->maxComputeWorkGroupSize[i]);
        caps->max_groups[i] = to_int(limits->maxComputeWorkGroupCount[i]);
    }
    snprintf(caps->name, sizeof caps->name, "%.127s", all.properties.deviceName);
    char number[16]; // the driver's version if it has no text
    snprintf(number, sizeof number, "%#x", (unsigned)all.properties.driverVersion);
    snprintf(caps->driver, sizeof caps->driver, "%.12s %.26s, Vulkan %u.%u",
             driver.driverName[0] ? driver.driverName : "driver", driver.driverInfo[0] ? driver.driverInfo : number,
             (unsigned)VK_API_VERSION_MAJOR(version), (unsigned)VK_API_VERSION_MINOR(version));
}
#endif
