// SPDX-License-Identifier: Apache-2.0
// Compilations, memory and executions of the fake: states, sizes, and the run itself.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "build.h"

// ---- compilations -------------------------------------------------------------------------------

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation)
{
    FAKE_BEGIN();
    FAKE_WANT(model && compilation, UNEXPECTED_NULL, "no model or compilation");
    FAKE_WANT(model->finished, BAD_STATE, "the model is not finished");
    *compilation = calloc(1, sizeof **compilation);
    if (!*compilation) return ANEURALNETWORKS_OUT_OF_MEMORY;
    (*compilation)->model = model;
    fake.devices_named = 0;
    model->users++;
    fake.live++;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices, uint32_t count,
                                                ANeuralNetworksCompilation **compilation)
{
    FAKE_WANT(devices, UNEXPECTED_NULL, "no devices");
    FAKE_WANT(count > 0, BAD_DATA, "no devices");
    for (uint32_t i = 0; i < count; i++) FAKE_WANT(devices[i], UNEXPECTED_NULL, "no device %u", i);
    int status = ANeuralNetworksCompilation_create(model, compilation);
    if (status != ANEURALNETWORKS_NO_ERROR) return status;
    (*compilation)->device = devices[0];
    (*compilation)->device_count = count;
    fake.devices_named = count;
    return status;
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation)
{
    if (!compilation) return;
    if (compilation->users) fake_complain(__func__, 0, "%d executions or bursts still use it", compilation->users);
    fake_program_free(compilation->program);
    compilation->model->users--;
    free(compilation);
    fake.live--;
}

static int check_open(const ANeuralNetworksCompilation *compilation, const char *function)
{
    if (!compilation) return fake_complain(function, ANEURALNETWORKS_UNEXPECTED_NULL, "no compilation");
    if (compilation->finished) return fake_complain(function, ANEURALNETWORKS_BAD_STATE, "it is finished");
    return ANEURALNETWORKS_NO_ERROR;
}
#define WANT_OPEN(compilation)                                   \
    do {                                                         \
        int status_ = check_open(compilation, __func__);         \
        if (status_ != ANEURALNETWORKS_NO_ERROR) return status_; \
    } while (0)

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference)
{
    FAKE_BEGIN();
    WANT_OPEN(compilation);
    FAKE_WANT(preference >= 0 && preference <= 2, BAD_DATA, "preference %d", preference);
    fake.preference = preference;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority)
{
    FAKE_BEGIN();
    WANT_OPEN(compilation);
    FAKE_WANT(fake.level >= NNAPI_LEVEL_4, BAD_STATE, "not of this feature level");
    FAKE_WANT(priority == 90 || priority == 100 || priority == 110, BAD_DATA, "priority %d", priority);
    fake.priority = priority;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation, uint64_t duration)
{
    FAKE_BEGIN();
    WANT_OPEN(compilation);
    FAKE_WANT(fake.level >= NNAPI_LEVEL_4, BAD_STATE, "not of this feature level");
    FAKE_WANT(compilation->device_count == 1, BAD_DATA, "a timeout wants a compilation for one device");
    fake.timeout = (long long)duration;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *folder,
                                          const uint8_t *token)
{
    FAKE_BEGIN();
    WANT_OPEN(compilation);
    FAKE_WANT(folder && token, UNEXPECTED_NULL, "no folder or token");
    FAKE_WANT(access(folder, W_OK) == 0, BAD_DATA, "%s cannot be written to", folder);
    fake.cached++;
    long long *const words[] = {&fake.token_0, &fake.token_1, &fake.token_2, &fake.token_3};
    for (int i = 0; i < 4; i++) memcpy(words[i], token + 8 * i, 8);
    return ANEURALNETWORKS_NO_ERROR;
}

static bool shapes_are_known(const ANeuralNetworksModel *model)
{
    for (uint32_t i = 0; i < model->operand_count; i++)
        if (fake_is_tensor(model->operands[i].type) && !model->operands[i].has_value &&
            fake_bytes(&model->operands[i]) == 0)
            return false;
    return true;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation)
{
    FAKE_BEGIN();
    WANT_OPEN(compilation);
    FAKE_WANT(shapes_are_known(compilation->model), BAD_DATA, "a dimension is unknown");
    compilation->program = fake_build(compilation->model);
    if (!compilation->program) return ANEURALNETWORKS_BAD_DATA; // build.c has said why
    compilation->finished = true;
    fake.operations += compilation->model->operation_count;
    return ANEURALNETWORKS_NO_ERROR;
}

// ---- memory -------------------------------------------------------------------------------------

struct ANeuralNetworksMemory {
    uint8_t *data;
    size_t size;
};

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int descriptor, size_t offset,
                                       ANeuralNetworksMemory **memory)
{
    FAKE_BEGIN();
    FAKE_WANT(memory, UNEXPECTED_NULL, "no memory");
    FAKE_WANT(size > 0 && offset == 0, BAD_DATA, "%zu bytes at %zu", size, offset);
    *memory = NULL;
    void *data = mmap(NULL, size, protect, MAP_SHARED, descriptor, (off_t)offset);
    FAKE_WANT(data != MAP_FAILED, UNMAPPABLE, "descriptor %d cannot be mapped", descriptor);
    ANeuralNetworksMemory *made = malloc(sizeof *made);
    if (!made) return ANEURALNETWORKS_OUT_OF_MEMORY;
    *made = (ANeuralNetworksMemory){data, size};
    *memory = made;
    fake.live++;
    return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory)
{
    if (!memory) return;
    munmap(memory->data, memory->size);
    free(memory);
    fake.live--;
}

// ---- executions ---------------------------------------------------------------------------------

struct binding {
    const ANeuralNetworksMemory *memory;
    size_t offset, size;
};

struct ANeuralNetworksExecution {
    ANeuralNetworksCompilation *compilation;
    struct binding *inputs, *outputs;
    bool reusable, padded, started, computed;
};
struct ANeuralNetworksEvent {
    int status;
};
struct ANeuralNetworksBurst {
    ANeuralNetworksCompilation *compilation;
};

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution)
{
    FAKE_BEGIN();
    FAKE_WANT(compilation && execution, UNEXPECTED_NULL, "no compilation or execution");
    FAKE_WANT(compilation->finished, BAD_STATE, "the compilation is not finished");
    ANeuralNetworksExecution *made = calloc(1, sizeof *made);
    *execution = made;
    if (!made) return ANEURALNETWORKS_OUT_OF_MEMORY;
    made->compilation = compilation;
    made->inputs = calloc(compilation->model->input_count + 1, sizeof *made->inputs);
    made->outputs = calloc(compilation->model->output_count + 1, sizeof *made->outputs);
    compilation->users++;
    fake.live++;
    return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution)
{
    if (!execution) return;
    if (execution->started && !execution->computed) fake_complain(__func__, 0, "it still runs");
    execution->compilation->users--;
    free(execution->inputs);
    free(execution->outputs);
    free(execution);
    fake.live--;
}

static int set_binding(const ANeuralNetworksExecution *execution, const char *function, struct binding *binding,
                       uint32_t count, int32_t index, const uint32_t *list, const ANeuralNetworksMemory *memory,
                       size_t offset, size_t size)
{
    const struct fake_operand *operands = execution->compilation->model->operands;
    if (!memory) return fake_complain(function, ANEURALNETWORKS_UNEXPECTED_NULL, "no memory");
    if (execution->started) return fake_complain(function, ANEURALNETWORKS_BAD_STATE, "it has started");
    if (index < 0 || (uint32_t)index >= count)
        return fake_complain(function, ANEURALNETWORKS_BAD_DATA, "there is no tensor %d", index);
    size_t want = fake_bytes(&operands[list[index]]);
    if (execution->padded ? size < want : size != want)
        return fake_complain(function, ANEURALNETWORKS_BAD_DATA, "tensor %d: %zu bytes of %zu", index, size, want);
    if (offset > memory->size || size > memory->size - offset)
        return fake_complain(function, ANEURALNETWORKS_BAD_DATA, "tensor %d lies outside of the memory", index);
    if (binding[index].memory) return fake_complain(function, ANEURALNETWORKS_BAD_DATA, "tensor %d is set", index);
    binding[index] = (struct binding){memory, offset, size};
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t size)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(!type, BAD_DATA, "a type for a tensor whose shape is known");
    const ANeuralNetworksModel *model = execution->compilation->model;
    return set_binding(execution, __func__, execution->inputs, model->input_count, index, model->inputs, memory, offset,
                       size);
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t size)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(!type, BAD_DATA, "a type for a tensor whose shape is known");
    const ANeuralNetworksModel *model = execution->compilation->model;
    return set_binding(execution, __func__, execution->outputs, model->output_count, index, model->outputs, memory,
                       offset, size);
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(fake.level >= NNAPI_LEVEL_5 && !execution->started, BAD_STATE, "not at this time");
    execution->reusable = reusable;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution, bool enable)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(fake.level >= NNAPI_LEVEL_5 && !execution->started, BAD_STATE, "not at this time");
    execution->padded = enable;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(fake.level >= NNAPI_LEVEL_4 && !execution->started, BAD_STATE, "not at this time");
    FAKE_WANT(execution->compilation->device_count == 1, BAD_DATA, "a timeout wants a compilation for one device");
    fake.run_timeout = (long long)duration;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(fake.level >= NNAPI_LEVEL_4 && !execution->started, BAD_STATE, "not at this time");
    fake.loop_timeout = (long long)duration;
    return ANEURALNETWORKS_NO_ERROR;
}

// ---- runs ---------------------------------------------------------------------------------------

static int check_ready(const ANeuralNetworksExecution *execution)
{
    const ANeuralNetworksModel *model = execution->compilation->model;
    FAKE_WANT(!execution->started || (execution->reusable && execution->computed), BAD_STATE, "it has run");
    for (uint32_t i = 0; i < model->input_count; i++)
        FAKE_WANT(execution->inputs[i].memory, BAD_DATA, "input %u is not set", i);
    for (uint32_t i = 0; i < model->output_count; i++)
        FAKE_WANT(execution->outputs[i].memory, BAD_DATA, "output %u is not set", i);
    return ANEURALNETWORKS_NO_ERROR;
}

static void copy(const struct fake_program *program, const struct fake_operand *operand, void *to, const void *from,
                 size_t size)
{
    memcpy(to, from, size);
    for (size_t i = 0; fake_is_lower(program, operand) && i < size; i++) ((uint8_t *)to)[i] ^= 0x80;
}

static int run(ANeuralNetworksExecution *execution)
{
    int status = check_ready(execution);
    if (status != ANEURALNETWORKS_NO_ERROR) return status;
    const ANeuralNetworksCompilation *compilation = execution->compilation;
    const ANeuralNetworksModel *model = compilation->model;
    TfLiteInterpreter *interpreter = compilation->program->interpreter;
    execution->started = execution->computed = true;
    fake.runs++;
    if (compilation->device && compilation->device->delay_ms)
        nanosleep(&(struct timespec){.tv_nsec = compilation->device->delay_ms * 1000000L}, NULL);
    for (uint32_t i = 0; i < model->input_count; i++) {
        const struct binding *from = &execution->inputs[i];
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, (int32_t)i);
        copy(compilation->program, &model->operands[model->inputs[i]], TfLiteTensorData(tensor),
             from->memory->data + from->offset, TfLiteTensorByteSize(tensor));
    }
    FAKE_WANT(TfLiteInterpreterInvoke(interpreter) == kTfLiteOk, OP_FAILED, "the kernels failed");
    for (uint32_t i = 0; i < model->output_count; i++) {
        const struct binding *to = &execution->outputs[i];
        const TfLiteTensor *tensor = TfLiteInterpreterGetOutputTensor(interpreter, (int32_t)i);
        copy(compilation->program, &model->operands[model->outputs[i]], to->memory->data + to->offset,
             TfLiteTensorData(tensor), TfLiteTensorByteSize(tensor));
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution)
{
    FAKE_BEGIN();
    FAKE_WANT(execution, UNEXPECTED_NULL, "no execution");
    FAKE_WANT(fake.level >= NNAPI_LEVEL_3, BAD_STATE, "not of this feature level");
    return run(execution);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst)
{
    FAKE_BEGIN();
    FAKE_WANT(execution && burst, UNEXPECTED_NULL, "no execution or burst");
    FAKE_WANT(burst->compilation == execution->compilation, BAD_DATA, "the burst is of another compilation");
    fake.burst_runs++;
    return run(execution);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst)
{
    FAKE_BEGIN();
    FAKE_WANT(compilation && burst, UNEXPECTED_NULL, "no compilation or burst");
    FAKE_WANT(compilation->finished, BAD_STATE, "it is not finished");
    *burst = malloc(sizeof **burst);
    if (!*burst) return ANEURALNETWORKS_OUT_OF_MEMORY;
    (*burst)->compilation = compilation;
    compilation->users++;
    fake.live++;
    return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst)
{
    if (!burst) return;
    burst->compilation->users--;
    free(burst);
    fake.live--;
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event)
{
    FAKE_BEGIN();
    FAKE_WANT(execution && event, UNEXPECTED_NULL, "no execution or event");
    *event = NULL;
    FAKE_WANT(!execution->compilation->device, BAD_STATE, "a compilation for devices");
    int status = check_ready(execution);
    if (status != ANEURALNETWORKS_NO_ERROR) return status;
    *event = malloc(sizeof **event);
    if (!*event) return ANEURALNETWORKS_OUT_OF_MEMORY;
    (*event)->status = run(execution);
    fake.live++;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)
{
    FAKE_BEGIN();
    FAKE_WANT(event, UNEXPECTED_NULL, "no event");
    return event->status;
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event)
{
    if (!event) return;
    free(event);
    fake.live--;
}
