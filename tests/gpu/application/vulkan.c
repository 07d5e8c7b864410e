// SPDX-License-Identifier: Apache-2.0
// See application.h. The shaders are compiled when the tests are built (cmake/tests.cmake). Buffers lie in memory that
// the host can see, so that copies without a kernel are plain. With HALITE_VULKAN_VALIDATION=1 the instance has the
// validation layer, and its messages fail the test.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "application_fill.h"
#include "application_inspect.h"
#include "gpu/application/application.h"
#include "gpu/backend/vulkan_device.h"

enum { MAX_BUFFERS = 16 };

static struct {
    struct vulkan_instance_api vk;
    struct vulkan_device_api dev;
    PFN_vkDestroyInstance destroy_instance;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    uint32_t family;
    VkDevice device;
    VkQueue queue;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipelines[2];
    VkDescriptorPool sets;
    VkDescriptorSet set;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    uint64_t sums;
    struct memory {
        VkBuffer buffer;
        VkDeviceMemory memory;
        unsigned char *mapped;
    } buffers[MAX_BUFFERS];
} app;

#define MUST(...) assert_int_equal(__VA_ARGS__, VK_SUCCESS)

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity, (void)types, (void)user;
    print_error("%s\n", data->pMessage);
    abort();
}

// ---- instance and device ------------------------------------------------------------------------

static void create_instance(bool validation)
{
    static const char *const layers[] = {VULKAN_VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT enables[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .enabledValidationFeatureCount = 1,
                                        .pEnabledValidationFeatures = enables};
    VkApplicationInfo about = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &about};
    if (validation) {
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = layers;
        info.enabledExtensionCount = 2;
        info.ppEnabledExtensionNames = extensions;
    }
    MUST(app.vk.vkCreateInstance(&info, NULL, &app.instance));
#define X(name) app.vk.name = (PFN_##name)app.vk.vkGetInstanceProcAddr(app.instance, #name);
    VULKAN_INSTANCE_FUNCTIONS(X)
    VULKAN_DEBUG_FUNCTIONS(X)
#undef X
    app.destroy_instance = (PFN_vkDestroyInstance)app.vk.vkGetInstanceProcAddr(app.instance, "vkDestroyInstance");
    if (!validation) return;
    VkDebugUtilsMessengerCreateInfoEXT messages = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
    };
    MUST(app.vk.vkCreateDebugUtilsMessengerEXT(app.instance, &messages, NULL, &app.messenger));
}

static void create_device(void)
{
    static const float priority = 1;
    VkPhysicalDevice all[VULKAN_MAX_DEVICES];
    uint32_t count = VULKAN_MAX_DEVICES, families = 8;
    VkQueueFamilyProperties properties[8];
    app.vk.vkEnumeratePhysicalDevices(app.instance, &count, all);
    app.physical = all[0];
    app.vk.vkGetPhysicalDeviceQueueFamilyProperties(app.physical, &families, properties);
    for (app.family = 0; !(properties[app.family].queueFlags & VK_QUEUE_COMPUTE_BIT);) app.family++;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = app.family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    MUST(app.vk.vkCreateDevice(app.physical, &info, NULL, &app.device));
#define X(name) app.dev.name = (PFN_##name)app.vk.vkGetDeviceProcAddr(app.device, #name);
    VULKAN_DEVICE_FUNCTIONS(X)
#undef X
    app.dev.vkGetDeviceQueue(app.device, app.family, 0, &app.queue);
}

// ---- what the kernels need ----------------------------------------------------------------------

static void create_pipeline(int number, const uint32_t *code, size_t size)
{
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = size,
                                       .pCode = code};
    VkShaderModule shader;
    MUST(app.dev.vkCreateShaderModule(app.device, &module, NULL, &shader));
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = shader,
                                                  .pName = "main"},
                                        .layout = app.layout};
    MUST(app.dev.vkCreateComputePipelines(app.device, VK_NULL_HANDLE, 1, &info, NULL, &app.pipelines[number]));
    app.dev.vkDestroyShaderModule(app.device, shader, NULL);
}

static void create_set(void)
{
    VkDescriptorSetLayoutBinding bindings[2];
    for (uint32_t i = 0; i < 2; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                              .bindingCount = 2,
                                              .pBindings = bindings};
    MUST(app.dev.vkCreateDescriptorSetLayout(app.device, &layout, NULL, &app.set_layout));
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    MUST(app.dev.vkCreateDescriptorPool(app.device, &pool, NULL, &app.sets));
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = app.sets,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &app.set_layout};
    MUST(app.dev.vkAllocateDescriptorSets(app.device, &set, &app.set));
    VkPushConstantRange first = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(int32_t)};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &app.set_layout,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &first};
    MUST(app.dev.vkCreatePipelineLayout(app.device, &info, NULL, &app.layout));
}

static void create_commands(void)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = app.family};
    MUST(app.dev.vkCreateCommandPool(app.device, &pool, NULL, &app.pool));
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = app.pool,
                                            .commandBufferCount = 1};
    MUST(app.dev.vkAllocateCommandBuffers(app.device, &commands, &app.commands));
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    MUST(app.dev.vkCreateFence(app.device, &fence, NULL, &app.fence));
}

// ---- buffers ------------------------------------------------------------------------------------

static uint64_t number_of(VkBuffer buffer)
{
    uint64_t number = 0;
    memcpy(&number, &buffer, sizeof buffer);
    return number;
}

static struct memory *find(uint64_t buffer)
{
    for (int i = 0; i < MAX_BUFFERS; i++)
        if (app.buffers[i].buffer && number_of(app.buffers[i].buffer) == buffer) return &app.buffers[i];
    fail();
    return NULL;
}

// The first type of memory with these properties that a buffer may lie in; memoryTypeCount if there is none.
static uint32_t memory_type(const VkPhysicalDeviceMemoryProperties *types, uint32_t allowed,
                            VkMemoryPropertyFlags wanted)
{
    uint32_t type = 0;
    while (type < types->memoryTypeCount &&
           (!(allowed >> type & 1) || (types->memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    return type;
}

static uint64_t create(size_t bytes)
{
    struct memory *memory = app.buffers;
    while (memory->buffer) memory++;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    MUST(app.dev.vkCreateBuffer(app.device, &info, NULL, &memory->buffer));
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    app.dev.vkGetBufferMemoryRequirements(app.device, memory->buffer, &needs);
    app.vk.vkGetPhysicalDeviceMemoryProperties(app.physical, &types);
    const VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = memory_type(&types, needs.memoryTypeBits, needed | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (type == types.memoryTypeCount) type = memory_type(&types, needs.memoryTypeBits, needed);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    MUST(app.dev.vkAllocateMemory(app.device, &allocate, NULL, &memory->memory));
    MUST(app.dev.vkBindBufferMemory(app.device, memory->buffer, memory->memory, 0));
    void *mapped;
    MUST(app.dev.vkMapMemory(app.device, memory->memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memory->mapped = mapped;
    return number_of(memory->buffer);
}

static void destroy(uint64_t buffer)
{
    struct memory *memory = find(buffer);
    app.dev.vkDestroyBuffer(app.device, memory->buffer, NULL);
    app.dev.vkFreeMemory(app.device, memory->memory, NULL);
    *memory = (struct memory){.mapped = NULL};
}

// ---- kernels ------------------------------------------------------------------------------------

// Waits only when the host wants to see what the kernel wrote: whatever the delegate does comes after it in the queue.
static void start(int pipeline, uint64_t buffer, size_t offset, int count)
{
    MUST(app.dev.vkDeviceWaitIdle(app.device)); // the set may be in use
    VkDescriptorBufferInfo infos[2] = {{find(buffer)->buffer, 0, VK_WHOLE_SIZE},
                                       {find(app.sums)->buffer, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = app.set,
                                  .descriptorCount = 2,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = infos};
    app.dev.vkUpdateDescriptorSets(app.device, 1, &write, 0, NULL);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    int32_t first = (int32_t)(offset / sizeof(float));
    MUST(app.dev.vkBeginCommandBuffer(app.commands, &begin));
    app.dev.vkCmdBindPipeline(app.commands, VK_PIPELINE_BIND_POINT_COMPUTE, app.pipelines[pipeline]);
    app.dev.vkCmdBindDescriptorSets(app.commands, VK_PIPELINE_BIND_POINT_COMPUTE, app.layout, 0, 1, &app.set, 0, NULL);
    app.dev.vkCmdPushConstants(app.commands, app.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof first, &first);
    app.dev.vkCmdDispatch(app.commands, (uint32_t)count, 1, 1);
    if (pipeline == 1) {
        VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
        app.dev.vkCmdPipelineBarrier(app.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                                     1, &barrier, 0, NULL, 0, NULL);
    }
    MUST(app.dev.vkEndCommandBuffer(app.commands));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &app.commands};
    MUST(app.dev.vkQueueSubmit(app.queue, 1, &submit, VK_NULL_HANDLE));
}

static void fill(uint64_t buffer, size_t offset, int count)
{
    start(0, buffer, offset, count);
}

static void read(uint64_t buffer, size_t offset, void *to, size_t bytes)
{
    MUST(app.dev.vkDeviceWaitIdle(app.device));
    memcpy(to, find(buffer)->mapped + offset, bytes);
}

static void inspect(uint64_t buffer, size_t offset, int count, float *to)
{
    start(1, buffer, offset, count);
    read(app.sums, 0, to, (size_t)count * sizeof *to);
}

static void write(uint64_t buffer, size_t offset, const void *from, size_t bytes)
{
    MUST(app.dev.vkDeviceWaitIdle(app.device));
    memcpy(find(buffer)->mapped + offset, from, bytes);
}

// ---- life ---------------------------------------------------------------------------------------

static bool begin(HaliteGpuContext *context)
{
    const struct vulkan_instance *found = gpu_vulkan_instance(); // says whether there is a device, and has the loader
    if (found->count == 0) return false;
    memset(&app, 0, sizeof app);
    app.vk = found->vk;
    create_instance(found->validation);
    create_device();
    create_set();
    create_pipeline(0, application_fill, sizeof application_fill);
    create_pipeline(1, application_inspect, sizeof application_inspect);
    create_commands();
    app.sums = create(APPLICATION_ROOM);
    *context = (HaliteGpuContext){.struct_size = sizeof *context,
                                  .api = kHaliteGpuApiVulkan,
                                  .vk_instance = app.instance,
                                  .vk_physical_device = app.physical,
                                  .vk_device = app.device,
                                  .vk_queue = app.queue,
                                  .vk_queue_family = app.family};
    return true;
}

static void end(void)
{
    app.dev.vkDeviceWaitIdle(app.device);
    destroy(app.sums);
    app.dev.vkDestroyFence(app.device, app.fence, NULL);
    app.dev.vkDestroyCommandPool(app.device, app.pool, NULL);
    app.dev.vkDestroyDescriptorPool(app.device, app.sets, NULL);
    for (int i = 0; i < 2; i++) app.dev.vkDestroyPipeline(app.device, app.pipelines[i], NULL);
    app.dev.vkDestroyPipelineLayout(app.device, app.layout, NULL);
    app.dev.vkDestroyDescriptorSetLayout(app.device, app.set_layout, NULL);
    app.dev.vkDestroyDevice(app.device, NULL);
    if (app.messenger) app.vk.vkDestroyDebugUtilsMessengerEXT(app.instance, app.messenger, NULL);
    app.destroy_instance(app.instance, NULL);
}

const struct application application_vulkan = {
    .name = "vulkan",
    .begin = begin,
    .end = end,
    .create = create,
    .destroy = destroy,
    .fill = fill,
    .inspect = inspect,
    .write = write,
    .read = read,
};
