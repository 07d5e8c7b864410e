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
    VkDescriptorPool set_pool;
    VkDescriptorSet sets[2]; // and commands: of each pipeline
    VkCommandPool pool;
    VkCommandBuffer commands[2];
    VkFence fence;
    PFN_vkCreateSemaphore create_semaphore;
    PFN_vkDestroySemaphore destroy_semaphore;
    PFN_vkSignalSemaphore signal_semaphore;
    VkSemaphore timeline;
    uint64_t reached, gate; // values of the timeline: the last that was given out, and the one that opens the gate
    uint64_t sums;
    struct memory {
        VkBuffer buffer;
        VkDeviceMemory memory;
        unsigned char *mapped;
        uint32_t type;
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
    VkApplicationInfo about = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
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

static bool has_extension(const char *name)
{
    uint32_t count = 0;
    bool found = false;
    MUST(app.vk.vkEnumerateDeviceExtensionProperties(app.physical, NULL, &count, NULL));
    VkExtensionProperties *all = calloc(count + 1, sizeof *all);
    assert_non_null(all);
    MUST(app.vk.vkEnumerateDeviceExtensionProperties(app.physical, NULL, &count, all));
    for (uint32_t i = 0; i < count; i++) found = found || strcmp(all[i].extensionName, name) == 0;
    free(all);
    return found;
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
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
    static const char *const wanted[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                                         VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
    enum { WANTED = sizeof wanted / sizeof *wanted };
    const char *names[WANTED];
    uint32_t name_count = 0;
    for (int i = 0; i < WANTED; i++)
        if (has_extension(wanted[i])) names[name_count++] = wanted[i];
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &timeline,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = name_count,
                               .ppEnabledExtensionNames = names};
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
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 2,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    MUST(app.dev.vkCreateDescriptorPool(app.device, &pool, NULL, &app.set_pool));
    const VkDescriptorSetLayout set_layouts[2] = {app.set_layout, app.set_layout};
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = app.set_pool,
                                       .descriptorSetCount = 2,
                                       .pSetLayouts = set_layouts};
    MUST(app.dev.vkAllocateDescriptorSets(app.device, &set, app.sets));
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
                                            .commandBufferCount = 2};
    MUST(app.dev.vkAllocateCommandBuffers(app.device, &commands, app.commands));
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

// exported: the memory can be had as a file descriptor, and has so many bytes then; NULL: it cannot.
static struct memory *create_in(size_t bytes, size_t *exported)
{
    struct memory *memory = app.buffers;
    while (memory->buffer) memory++;
    VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                 .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = exported ? &external : NULL,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    MUST(app.dev.vkCreateBuffer(app.device, &info, NULL, &memory->buffer));
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    app.dev.vkGetBufferMemoryRequirements(app.device, memory->buffer, &needs);
    app.vk.vkGetPhysicalDeviceMemoryProperties(app.physical, &types);
    const VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = memory_type(&types, needs.memoryTypeBits, needed | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (type == types.memoryTypeCount) type = memory_type(&types, needs.memoryTypeBits, needed);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = exported ? &export : NULL,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    MUST(app.dev.vkAllocateMemory(app.device, &allocate, NULL, &memory->memory));
    MUST(app.dev.vkBindBufferMemory(app.device, memory->buffer, memory->memory, 0));
    void *mapped;
    MUST(app.dev.vkMapMemory(app.device, memory->memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memory->mapped = mapped;
    memory->type = type;
    if (exported) *exported = (size_t)needs.size;
    return memory;
}

static uint64_t create(size_t bytes)
{
    return number_of(create_in(bytes, NULL)->buffer);
}

static int create_exported(size_t *bytes, uint64_t *buffer, int32_t *memory_type)
{
    PFN_vkGetMemoryFdKHR get_fd = (PFN_vkGetMemoryFdKHR)app.vk.vkGetDeviceProcAddr(app.device, "vkGetMemoryFdKHR");
    if (!get_fd) return -1;
    struct memory *memory = create_in(*bytes, bytes);
    VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                 .memory = memory->memory,
                                 .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int descriptor = -1;
    MUST(get_fd(app.device, &info, &descriptor));
    *buffer = number_of(memory->buffer);
    *memory_type = (int32_t)memory->type;
    return descriptor;
}

static void destroy(uint64_t buffer)
{
    struct memory *memory = find(buffer);
    app.dev.vkDestroyBuffer(app.device, memory->buffer, NULL);
    app.dev.vkFreeMemory(app.device, memory->memory, NULL);
    *memory = (struct memory){.mapped = NULL};
}

// Ends and submits a command buffer. after, then: values of the timeline to wait for and to signal; 0: none.
static void submit(int number, uint64_t after, uint64_t then)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = after ? 1 : 0,
                                            .pWaitSemaphoreValues = &after,
                                            .signalSemaphoreValueCount = then ? 1 : 0,
                                            .pSignalSemaphoreValues = &then};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = after ? 1 : 0,
                         .pWaitSemaphores = &app.timeline,
                         .pWaitDstStageMask = &stage,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &app.commands[number],
                         .signalSemaphoreCount = then ? 1 : 0,
                         .pSignalSemaphores = &app.timeline};
    MUST(app.dev.vkEndCommandBuffer(app.commands[number]));
    MUST(app.dev.vkQueueSubmit(app.queue, 1, &info, VK_NULL_HANDLE));
}

// ---- kernels ------------------------------------------------------------------------------------

static void record(int pipeline, uint64_t buffer, size_t offset, int count)
{
    VkCommandBuffer commands = app.commands[pipeline];
    VkDescriptorBufferInfo infos[2] = {{find(buffer)->buffer, 0, VK_WHOLE_SIZE},
                                       {find(app.sums)->buffer, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = app.sets[pipeline],
                                  .descriptorCount = 2,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = infos};
    app.dev.vkUpdateDescriptorSets(app.device, 1, &write, 0, NULL);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    int32_t first = (int32_t)(offset / sizeof(float));
    MUST(app.dev.vkBeginCommandBuffer(commands, &begin));
    app.dev.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, app.pipelines[pipeline]);
    app.dev.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, app.layout, 0, 1, &app.sets[pipeline], 0,
                                    NULL);
    app.dev.vkCmdPushConstants(commands, app.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof first, &first);
    app.dev.vkCmdDispatch(commands, (uint32_t)count, 1, 1);
    if (pipeline == 1) {
        VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
        app.dev.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                     &barrier, 0, NULL, 0, NULL);
    }
}

// Waits only when the host wants to see what the kernel wrote: whatever the delegate does comes after it in the queue.
static void start(int pipeline, uint64_t buffer, size_t offset, int count)
{
    MUST(app.dev.vkDeviceWaitIdle(app.device)); // set and commands may be in use
    record(pipeline, buffer, offset, count);
    submit(pipeline, 0, 0);
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

// ---- images -------------------------------------------------------------------------------------

// The delegate needs none of these.
#define IMAGE_FUNCTIONS(X) \
    X(vkCreateImage)       \
    X(vkDestroyImage)      \
    X(vkGetImageMemoryRequirements) X(vkBindImageMemory)
static struct {
#define X(name) PFN_##name name;
    IMAGE_FUNCTIONS(X)
#undef X
} more;

static VkImage image_of(uint64_t number)
{
    VkImage image;
    memcpy(&image, &number, sizeof image);
    return image;
}

static uint64_t image_create(int width, int height, HaliteGpuElement element)
{
    static const VkFormat formats[] = {[kHaliteGpuElementFloat32] = VK_FORMAT_R32G32B32A32_SFLOAT,
                                       [kHaliteGpuElementFloat16] = VK_FORMAT_R16G16B16A16_SFLOAT,
                                       [kHaliteGpuElementRgba8] = VK_FORMAT_R8G8B8A8_UNORM};
#define X(name) more.name = (PFN_##name)app.vk.vkGetDeviceProcAddr(app.device, #name);
    IMAGE_FUNCTIONS(X)
#undef X
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = formats[element],
                              .extent = {(uint32_t)width, (uint32_t)height, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkImage image;
    MUST(more.vkCreateImage(app.device, &info, NULL, &image));
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    more.vkGetImageMemoryRequirements(app.device, image, &needs);
    app.vk.vkGetPhysicalDeviceMemoryProperties(app.physical, &types);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = memory_type(&types, needs.memoryTypeBits, 0)};
    struct application_image *own = application_image_add(width, height, element);
    memcpy(&own->handle, &image, sizeof image);
    VkDeviceMemory memory;
    MUST(app.dev.vkAllocateMemory(app.device, &allocate, NULL, &memory));
    MUST(more.vkBindImageMemory(app.device, image, memory, 0));
    memcpy(&own->memory, &memory, sizeof memory);
    return own->handle;
}

static void image_destroy(uint64_t image)
{
    struct application_image *own = application_image_find(image);
    VkDeviceMemory memory;
    memcpy(&memory, &own->memory, sizeof memory);
    MUST(app.dev.vkDeviceWaitIdle(app.device));
    more.vkDestroyImage(app.device, image_of(image), NULL);
    app.dev.vkFreeMemory(app.device, memory, NULL);
    own->handle = 0;
}

static void bring_to(VkImage image, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                                    .oldLayout = from,
                                    .newLayout = to,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image,
                                    .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                                         .levelCount = 1,
                                                         .layerCount = 1}};
    app.dev.vkCmdPipelineBarrier(app.commands[0], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                 VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

// Copies between an image and a buffer, and waits.
static void image_copy(uint64_t handle, uint64_t buffer, int layout, bool to_image)
{
    const struct application_image *own = application_image_find(handle);
    VkImageLayout in = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, out = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    VkBufferImageCopy region = {.imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
                                .imageExtent = {(uint32_t)own->width, (uint32_t)own->height, 1}};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    MUST(app.dev.vkDeviceWaitIdle(app.device));
    MUST(app.dev.vkBeginCommandBuffer(app.commands[0], &begin));
    bring_to(image_of(handle), to_image ? VK_IMAGE_LAYOUT_UNDEFINED : (VkImageLayout)layout, to_image ? in : out);
    if (to_image)
        app.dev.vkCmdCopyBufferToImage(app.commands[0], find(buffer)->buffer, image_of(handle), in, 1, &region);
    else
        app.dev.vkCmdCopyImageToBuffer(app.commands[0], image_of(handle), out, find(buffer)->buffer, 1, &region);
    bring_to(image_of(handle), to_image ? in : out, (VkImageLayout)layout);
    submit(0, 0, 0);
    MUST(app.dev.vkDeviceWaitIdle(app.device));
}

static void image_write(uint64_t image, const void *texels, int layout)
{
    size_t bytes = application_image_bytes(application_image_find(image));
    uint64_t buffer = create(bytes);
    memcpy(find(buffer)->mapped, texels, bytes);
    image_copy(image, buffer, layout, true);
    destroy(buffer);
}

static void image_read(uint64_t image, void *texels, int layout)
{
    size_t bytes = application_image_bytes(application_image_find(image));
    uint64_t buffer = create(bytes);
    image_copy(image, buffer, layout, false);
    memcpy(texels, find(buffer)->mapped, bytes);
    destroy(buffer);
}

// ---- fences: values of one timeline -------------------------------------------------------------

static void create_timeline(void)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    PFN_vkGetDeviceProcAddr get = app.vk.vkGetDeviceProcAddr;
    app.create_semaphore = (PFN_vkCreateSemaphore)get(app.device, "vkCreateSemaphore");
    app.destroy_semaphore = (PFN_vkDestroySemaphore)get(app.device, "vkDestroySemaphore");
    app.signal_semaphore = (PFN_vkSignalSemaphore)get(app.device, "vkSignalSemaphore");
    MUST(app.create_semaphore(app.device, &info, NULL, &app.timeline));
}

static void *pointer(const uint64_t *buffer)
{
    return (void *)(uintptr_t)buffer; // the delegate only reads it
}

static void make_fence(HaliteGpuFence *fence)
{
    *fence = (HaliteGpuFence){.struct_size = sizeof *fence, .value = ++app.reached};
    memcpy(&fence->handle, &app.timeline, sizeof app.timeline);
}

static void fill_later(uint64_t buffer, size_t offset, int count, HaliteGpuFence *fence)
{
    app.gate = ++app.reached;
    make_fence(fence);
    record(0, buffer, offset, count);
    submit(0, app.gate, fence->value);
}

static void open_gate(void)
{
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = app.timeline,
                                  .value = app.gate};
    MUST(app.signal_semaphore(app.device, &info));
}

static void inspect_after(const HaliteGpuFence *fence, uint64_t buffer, size_t offset, int count)
{
    record(1, buffer, offset, count);
    submit(1, fence->value, 0);
}

static void read_sums(int count, float *to)
{
    read(app.sums, 0, to, (size_t)count * sizeof *to);
}

static void release_fence(const HaliteGpuFence *fence)
{
    (void)fence; // a value of the timeline
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
    create_timeline();
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
    app.destroy_semaphore(app.device, app.timeline, NULL);
    app.dev.vkDestroyFence(app.device, app.fence, NULL);
    app.dev.vkDestroyCommandPool(app.device, app.pool, NULL);
    app.dev.vkDestroyDescriptorPool(app.device, app.set_pool, NULL);
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
    .create_exported = create_exported,
    .image_create = image_create,
    .image_destroy = image_destroy,
    .image_write = image_write,
    .image_read = image_read,

    .buffer_type = HALITE_BUFFER_VK,
    .fence_type = HALITE_FENCE_VK,
    APPLICATION_FENCES,
};
