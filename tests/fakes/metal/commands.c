// SPDX-License-Identifier: Apache-2.0
// Command buffers and encoders of the fake: they keep what is encoded, and check the order in which it comes.
#include <stdlib.h>
#include <string.h>

#include "fake.h"

enum { CONCURRENT = 1, BUFFERS = 1, ENQUEUED = 1, COMMITTED = 2, SCHEDULED = 3, COMPLETED = 4, PATIENCE = 3 };

static unsigned long get_status(const struct fake_commands *commands)
{
    fake_lock();
    unsigned long status = commands->status;
    fake_unlock();
    return status;
}

// ---- encoders -------------------------------------------------------------------------------------------------------

static void add_command(struct fake_commands *commands, const struct fake_command *command)
{
    if (commands->count == commands->capacity) {
        commands->capacity = 2 * commands->capacity + 16;
        commands->list = realloc(commands->list, (size_t)commands->capacity * sizeof *commands->list);
        if (!commands->list) abort();
    }
    commands->list[commands->count++] = *command;
}

// Whether the encoder may still encode.
static bool is_open(const struct fake_encoder *encoder, const char *selector)
{
    if (!encoder->has_ended && get_status(encoder->commands) <= ENQUEUED) return true;
    objc_complain("%s to an encoder that has ended", selector);
    return false;
}

static void encoder_set_pipeline(void *own, const char *selector, void *pipeline)
{
    struct fake_encoder *encoder = own;
    if (is_open(encoder, selector)) encoder->now.pipeline = pipeline;
}

static void encoder_set_buffer(void *own, const char *selector, void *buffer, unsigned long offset, unsigned long index)
{
    struct fake_encoder *encoder = own;
    if (!is_open(encoder, selector)) return;
    if (index >= FAKE_MAX_ARGUMENTS || !buffer || offset >= ((struct fake_buffer *)buffer)->bytes) {
        objc_complain("setBuffer: no such argument, no buffer, or an offset beyond its end");
        return;
    }
    if (((struct fake_buffer *)buffer)->device != encoder->commands->queue->device)
        objc_complain("setBuffer: of another device");
    encoder->now.buffers[index] = buffer;
    encoder->now.offsets[index] = offset;
    free(encoder->now.inlined[index]);
    encoder->now.inlined[index] = NULL;
}

static void encoder_set_bytes(void *own, const char *selector, const void *bytes, unsigned long length,
                              unsigned long index)
{
    struct fake_encoder *encoder = own;
    if (!is_open(encoder, selector)) return;
    if (index >= FAKE_MAX_ARGUMENTS || length == 0 || length > FAKE_MAX_INLINE) {
        objc_complain("setBytes: %lu bytes for argument %lu", length, index);
        return;
    }
    free(encoder->now.inlined[index]);
    encoder->now.inlined[index] = malloc(length);
    if (!encoder->now.inlined[index]) abort();
    memcpy(encoder->now.inlined[index], bytes, length);
    encoder->inlined_bytes[index] = length;
    encoder->now.buffers[index] = NULL;
}

static bool can_dispatch(const struct fake_encoder *encoder, const struct fake_size *groups,
                         const struct fake_size *group)
{
    const struct fake_command *now = &encoder->now;
    unsigned long items = group->width * group->height * group->depth;
    bool ok = now->pipeline && !encoder->copies;
    for (int i = 0; ok && i < now->pipeline->function->argument_count; i++)
        ok = now->pipeline->function->is_constant[i] ? now->inlined[i] != NULL : now->buffers[i] != NULL;
    if (ok && items > 0 && items <= FAKE_MAX_GROUP && groups->width * groups->height * groups->depth > 0) return true;
    objc_complain("a dispatch without a pipeline or an argument, or of a size that cannot be");
    return false;
}

static void encoder_dispatch(void *own, const char *selector, struct fake_size groups, struct fake_size group)
{
    struct fake_encoder *encoder = own;
    if (!is_open(encoder, selector) || !can_dispatch(encoder, &groups, &group)) return;
    struct fake_command command = encoder->now;
    command.kind = FAKE_DISPATCH;
    command.groups = groups;
    command.group = group;
    objc_retain(command.pipeline);
    for (int i = 0; i < FAKE_MAX_ARGUMENTS; i++) {
        objc_retain(command.buffers[i]);
        if (!command.inlined[i]) continue;
        command.inlined[i] = malloc(encoder->inlined_bytes[i]);
        if (!command.inlined[i]) abort();
        memcpy(command.inlined[i], encoder->now.inlined[i], encoder->inlined_bytes[i]);
    }
    add_command(encoder->commands, &command);
}

static void encoder_barrier(void *own, const char *selector, unsigned long scope)
{
    struct fake_encoder *encoder = own;
    if (!is_open(encoder, selector)) return;
    if (scope != BUFFERS) objc_complain("memoryBarrierWithScope: %lu", scope);
    add_command(encoder->commands, &(struct fake_command){.kind = FAKE_BARRIER});
}

static void encoder_copy(void *own, const char *selector, void *from, unsigned long from_offset, void *to,
                         unsigned long to_offset, unsigned long bytes)
{
    struct fake_encoder *encoder = own;
    const struct fake_buffer *ends[2] = {from, to};
    const unsigned long offsets[2] = {from_offset, to_offset};
    if (!is_open(encoder, selector)) return;
    for (int i = 0; i < 2; i++)
        if (!ends[i] || offsets[i] > ends[i]->bytes || bytes > ends[i]->bytes - offsets[i]) {
            objc_complain("a copy from or to what is no part of a buffer");
            return;
        }
    struct fake_command command = {.kind = FAKE_COPY,
                                   .buffers = {objc_retain(from), objc_retain(to)},
                                   .offsets = {from_offset, to_offset},
                                   .bytes = bytes};
    add_command(encoder->commands, &command);
}

static void encoder_end(void *own, const char *selector)
{
    struct fake_encoder *encoder = own;
    if (!is_open(encoder, selector)) return;
    encoder->has_ended = true;
    encoder->commands->open = NULL;
    add_command(encoder->commands, &(struct fake_command){.kind = FAKE_END});
}

static void encoder_dealloc(void *own)
{
    struct fake_encoder *encoder = own;
    if (!encoder->has_ended) objc_complain("an encoder is gone before endEncoding");
    for (int i = 0; i < FAKE_MAX_ARGUMENTS; i++) free(encoder->now.inlined[i]);
    objc_release(encoder->commands);
}

static const struct objc_method compute_methods[] = {
    OBJC_METHOD("setComputePipelineState:", encoder_set_pipeline),
    OBJC_METHOD("setBuffer:offset:atIndex:", encoder_set_buffer),
    OBJC_METHOD("setBytes:length:atIndex:", encoder_set_bytes),
    OBJC_METHOD("dispatchThreadgroups:threadsPerThreadgroup:", encoder_dispatch),
    OBJC_METHOD("memoryBarrierWithScope:", encoder_barrier),
    OBJC_METHOD("endEncoding", encoder_end),
    {NULL, NULL, false},
};
static const struct objc_method copy_methods[] = {
    OBJC_METHOD("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", encoder_copy),
    OBJC_METHOD("endEncoding", encoder_end),
    {NULL, NULL, false},
};
static const struct objc_class compute_class = {.name = "MTLComputeCommandEncoder",
                                                .bytes = sizeof(struct fake_encoder),
                                                .methods = compute_methods,
                                                .dealloc = encoder_dealloc};
static const struct objc_class copy_class = {.name = "MTLBlitCommandEncoder",
                                             .bytes = sizeof(struct fake_encoder),
                                             .methods = copy_methods,
                                             .dealloc = encoder_dealloc};

static void *open_encoder(struct fake_commands *commands, const struct objc_class *isa)
{
    if (!fake_begin()) return NULL;
    if (commands->open || get_status(commands) > ENQUEUED)
        objc_complain("an encoder for a command buffer that is committed, or has one open");
    struct fake_encoder *encoder = objc_create(isa);
    encoder->commands = objc_retain(commands);
    encoder->copies = isa == &copy_class;
    commands->open = encoder;
    return objc_autorelease(encoder);
}

// ---- MTLCommandBuffer -----------------------------------------------------------------------------------------------

static void *commands_encoder(void *own, const char *selector, unsigned long type)
{
    (void)selector;
    if (type != CONCURRENT) objc_complain("an encoder of type %lu", type);
    return open_encoder(own, &compute_class);
}

static void *commands_copier(void *own, const char *selector)
{
    (void)selector;
    return open_encoder(own, &copy_class);
}

static void commands_commit(void *own, const char *selector)
{
    struct fake_commands *commands = own;
    (void)selector;
    if (commands->open) objc_complain("commit before endEncoding");
    if (get_status(commands) > ENQUEUED) {
        objc_complain("a command buffer is committed twice");
        return;
    }
    commands->has_to_fail = !fake_begin();
    commands->status = COMMITTED;
    fake_count(&fake.commits);
    fake_submit(commands);
}

static void commands_wait(void *own, const char *selector)
{
    const struct fake_commands *commands = own;
    (void)selector;
    fake_count(&fake.waits);
    if (get_status(commands) < COMMITTED)
        objc_complain("waitUntilCompleted before commit: this would wait forever");
    else
        fake_run_until(commands);
}

static void commands_wait_scheduled(void *own, const char *selector)
{
    struct fake_commands *commands = own;
    (void)selector;
    fake_lock();
    unsigned long status = commands->status;
    if (status == COMMITTED) commands->status = SCHEDULED;
    fake_unlock();
    if (status < COMMITTED) objc_complain("waitUntilScheduled before commit: this would wait forever");
}

static unsigned long commands_status(void *own, const char *selector)
{
    struct fake_commands *commands = own;
    (void)selector;
    fake_lock();
    unsigned long status = commands->status;
    bool is_over = (status == COMMITTED || status == SCHEDULED) && ++commands->polls >= PATIENCE && !fake.hangs;
    if (status == COMMITTED || status == SCHEDULED) fake.polls++;
    fake_unlock();
    if (is_over) fake_run_until(commands);
    return is_over ? get_status(commands) : status;
}

static void *commands_error(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_commands *)own)->error;
}

static void *commands_device(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_commands *)own)->queue->device;
}

static double commands_start(void *own, const char *selector)
{
    const struct fake_commands *commands = own;
    (void)selector;
    if (get_status(commands) < COMPLETED) objc_complain("GPUStartTime before the command buffer is done");
    return commands->start;
}

static double commands_end(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_commands *)own)->end;
}

static void commands_dealloc(void *own)
{
    struct fake_commands *commands = own;
    for (int i = 0; i < commands->count; i++) {
        struct fake_command *command = &commands->list[i];
        objc_release(command->kind == FAKE_DISPATCH ? command->pipeline : NULL);
        for (int k = 0; k < FAKE_MAX_ARGUMENTS; k++) {
            objc_release(command->buffers[k]);
            free(command->inlined[k]);
        }
    }
    free(commands->list);
    objc_release(commands->error);
    objc_release(commands->queue);
}

static const struct objc_method commands_methods[] = {
    OBJC_METHOD("computeCommandEncoderWithDispatchType:", commands_encoder),
    OBJC_METHOD("blitCommandEncoder", commands_copier),
    OBJC_METHOD("commit", commands_commit),
    OBJC_METHOD("waitUntilCompleted", commands_wait),
    OBJC_METHOD("waitUntilScheduled", commands_wait_scheduled),
    OBJC_METHOD("status", commands_status),
    OBJC_METHOD("error", commands_error),
    OBJC_METHOD("device", commands_device),
    OBJC_NEW_METHOD("GPUStartTime", commands_start),
    OBJC_NEW_METHOD("GPUEndTime", commands_end),
    {NULL, NULL, false},
};
static const struct objc_class commands_class = {.name = "MTLCommandBuffer",
                                                 .bytes = sizeof(struct fake_commands),
                                                 .methods = commands_methods,
                                                 .dealloc = commands_dealloc};

void *fake_commands_create(struct fake_queue *queue)
{
    struct fake_commands *commands = objc_create(&commands_class);
    commands->queue = objc_retain(queue);
    return commands;
}
