// SPDX-License-Identifier: Apache-2.0
// The fake's models: a specification is read, checked as a whole and layer by layer, and run.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

// ---- knobs --------------------------------------------------------------------------------------

FAKE_DEFINE_KNOBS(fakeCoreml, "FAKE_COREML")

// Begins each call that can fail. False: this one is to fail.
static bool begin(char *why, size_t size)
{
    fake_read_environment();
    if (++fake.calls != fake.fail_at) return true;
    snprintf(why, size, "call %lld fails on demand", fake.calls);
    return false;
}

bool fake_complain(const struct fake_place *place, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(place->why, place->size, "%s: %s", place->layer ? place->layer : "model", text);
    fprintf(stderr, "fake Core ML: %s\n", place->why);
    fake.complaints++;
    return false;
}

// ---- the parts of a model -----------------------------------------------------------------------

struct fake_model {
    Coreml__Model *spec;
    struct fake_blob *blobs; // inputs first, then the outputs of layers
    int blob_count;
    struct fake_step *steps;
    int step_count;
};

static const struct fake_kind *const kinds[] = {
    &fake_convolution, &fake_inner_product, &fake_pooling,  &fake_padding, &fake_resize_bilinear, &fake_activation,
    &fake_unary,       &fake_add,           &fake_multiply, &fake_softmax, &fake_concat,          &fake_reshape,
};

static const struct fake_kind *find_kind(const Coreml__NeuralNetworkLayer *layer)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->layer_case == layer->layer_case) return kinds[i];
    return NULL;
}

static struct fake_blob *find_blob(const struct fake_model *model, const char *name)
{
    for (int i = model->blob_count; i-- > 0;)
        if (strcmp(model->blobs[i].name, name) == 0) return &model->blobs[i];
    return NULL;
}

float *fake_weights(const Coreml__WeightParams *weights, uint64_t count, const struct fake_place *place)
{
    if (!weights || (weights->n_floatvalue > 0) == (weights->float16value.len > 0)) {
        fake_complain(place, "weights are of one type");
        return NULL;
    }
    bool half = weights->float16value.len > 0;
    if ((half ? weights->float16value.len / 2 : weights->n_floatvalue) != count || weights->float16value.len % 2) {
        fake_complain(place, "%zu floats and %zu bytes of float16, but %llu weights", weights->n_floatvalue,
                      weights->float16value.len, (unsigned long long)count);
        return NULL;
    }
    float *floats = malloc(count * sizeof *floats);
    for (uint64_t i = 0; floats && i < count; i++) {
        if (!half) {
            floats[i] = weights->floatvalue[i];
            continue;
        }
        const uint8_t *bytes = weights->float16value.data + 2 * i;
        unsigned bits = bytes[0] | (unsigned)bytes[1] << 8, exponent = bits >> 10 & 31, mantissa = bits & 1023;
        float value = exponent ? (float)(1024 + mantissa) / 1024 : (float)mantissa / 512;
        for (unsigned e = exponent; e < 15; e++) value /= 2;
        for (unsigned e = 15; e < exponent; e++) value *= 2;
        floats[i] = bits >> 15 ? -value : value;
    }
    fake.halves += half;
    return floats;
}

// ---- the whole ----------------------------------------------------------------------------------

// Message types have no fields but those of the definition.
static bool has_unknown_fields(const ProtobufCMessage *message)
{
    return message && message->n_unknown_fields > 0;
}

static bool check_feature(const Coreml__FeatureDescription *feature, int rank, const struct fake_place *place)
{
    FAKE_WANT(place, feature->name[0], "a feature has no name");
    FAKE_WANT(place, feature->type && feature->type->multiarraytype, "feature %s is no array", feature->name);
    const Coreml__ArrayFeatureType *array = feature->type->multiarraytype;
    FAKE_WANT(place, array->datatype == COREML__ARRAY_DATA_TYPE__FLOAT32, "feature %s is of type %d", feature->name,
              (int)array->datatype);
    FAKE_WANT(place, array->n_shape == (size_t)rank, "feature %s has rank %zu", feature->name, array->n_shape);
    for (int i = 0; i < rank; i++) FAKE_WANT(place, array->shape[i] > 0, "feature %s: dimension %d", feature->name, i);
    return true;
}

static bool check_features(const Coreml__Model *spec, const struct fake_place *place)
{
    const Coreml__ModelDescription *description = spec->description;
    int rank = spec->specificationversion == 4 ? 4 : 3;
    FAKE_WANT(place, description && description->n_input > 0 && description->n_output > 0, "no inputs or outputs");
    for (size_t i = 0; i < description->n_input; i++)
        if (!check_feature(description->input[i], rank, place)) return false;
    for (size_t i = 0; i < description->n_output; i++)
        if (!check_feature(description->output[i], rank, place)) return false;
    return true;
}

static bool check_spec(const Coreml__Model *spec, const struct fake_place *place)
{
    FAKE_WANT(place, spec->specificationversion == 3 || spec->specificationversion == 4,
              "Only Core ML models with specification version 3 or 4 are supported");
    FAKE_WANT(place, spec->specificationversion <= fake.version + 1, "version %d is too new",
              spec->specificationversion);
    FAKE_WANT(place, spec->neuralnetwork && spec->neuralnetwork->n_layers > 0, "no neural network");
    FAKE_WANT(place, !has_unknown_fields(&spec->base) && !has_unknown_fields(&spec->neuralnetwork->base),
              "unknown fields");
    bool exact = spec->neuralnetwork->arrayinputshapemapping == COREML__ARRAY_INPUT_SHAPE_MAPPING__EXACT_ARRAY_MAPPING;
    FAKE_WANT(place, exact == (spec->specificationversion == 4), "inputs of another rank than the version has");
    return check_features(spec, place);
}

static void set_shape(struct fake_blob *blob, const Coreml__FeatureDescription *feature)
{
    const Coreml__ArrayFeatureType *array = feature->type->multiarraytype;
    const int64_t *from = array->shape + (array->n_shape == 4);
    *blob =
        (struct fake_blob){feature->name, array->n_shape == 4 ? array->shape[0] : 1, from[0], from[1], from[2], NULL};
}

static bool add_inputs(struct fake_model *model, const struct fake_place *place)
{
    const Coreml__ModelDescription *description = model->spec->description;
    for (size_t i = 0; i < description->n_input; i++) {
        const Coreml__FeatureDescription *feature = description->input[i];
        FAKE_WANT(place, !find_blob(model, feature->name), "two features are %s", feature->name);
        set_shape(&model->blobs[model->blob_count++], feature);
    }
    return true;
}

// ---- layers -------------------------------------------------------------------------------------

static bool add_layer(struct fake_model *model, const Coreml__NeuralNetworkLayer *layer, struct fake_place *place)
{
    const struct fake_kind *kind = find_kind(layer);
    struct fake_step *step = &model->steps[model->step_count++];
    place->layer = layer->name;
    FAKE_WANT(place, layer->name[0], "a layer has no name");
    FAKE_WANT(place, kind && !has_unknown_fields(&layer->base), "a layer of another kind");
    for (int i = 0; i < model->step_count - 1; i++)
        FAKE_WANT(place, strcmp(model->steps[i].layer->name, layer->name) != 0, "two layers have this name");
    FAKE_WANT(place, layer->n_input >= (size_t)kind->inputs[0] && layer->n_input <= (size_t)kind->inputs[1],
              "%zu inputs", layer->n_input);
    FAKE_WANT(place, layer->n_output == 1 && !find_blob(model, layer->output[0]), "its output is another's");
    step->layer = layer;
    step->input_count = (int)layer->n_input;
    step->inputs = calloc(layer->n_input, sizeof *step->inputs);
    for (int i = 0; i < step->input_count; i++) {
        step->inputs[i] = find_blob(model, layer->input[i]);
        FAKE_WANT(place, step->inputs[i], "nothing computes %s", layer->input[i]);
    }
    step->output = &model->blobs[model->blob_count];
    *step->output = *step->inputs[0];
    step->output->name = layer->output[0];
    if (!kind->check(step, place)) return false;
    model->blob_count++;
    return true;
}

static bool check_outputs(const struct fake_model *model, const struct fake_place *place)
{
    const Coreml__ModelDescription *description = model->spec->description;
    for (size_t i = 0; i < description->n_output; i++) {
        struct fake_blob want;
        set_shape(&want, description->output[i]);
        const struct fake_blob *have = find_blob(model, want.name);
        FAKE_WANT(place, have, "nothing computes the output %s", want.name);
        FAKE_WANT(place, have->b == want.b && have->c == want.c && have->h == want.h && have->w == want.w,
                  "output %s is computed with another shape", want.name);
    }
    return true;
}

static bool build(struct fake_model *model, const uint8_t *bytes, size_t byte_count, struct fake_place *place)
{
    model->spec = coreml__model__unpack(NULL, byte_count, bytes);
    FAKE_WANT(place, model->spec, "%zu bytes that are no model", byte_count);
    if (!check_spec(model->spec, place)) return false;
    const Coreml__NeuralNetwork *network = model->spec->neuralnetwork;
    model->blobs = calloc(model->spec->description->n_input + network->n_layers, sizeof *model->blobs);
    model->steps = calloc(network->n_layers, sizeof *model->steps);
    if (!add_inputs(model, place)) return false;
    for (size_t i = 0; i < network->n_layers; i++)
        if (!add_layer(model, network->layers[i], place)) return false;
    place->layer = NULL;
    if (!check_outputs(model, place)) return false;
    for (int i = 0; i < model->blob_count; i++)
        model->blobs[i].data = calloc((size_t)fake_count(&model->blobs[i]), sizeof(float));
    fake.layers += model->step_count;
    fake.specification = model->spec->specificationversion;
    return true;
}

static void free_model(struct fake_model *model)
{
    for (int i = 0; i < model->step_count; i++) {
        free(model->steps[i].inputs);
        free(model->steps[i].weights);
        free(model->steps[i].bias);
    }
    for (int i = 0; i < model->blob_count; i++) free(model->blobs[i].data);
    free(model->steps);
    free(model->blobs);
    if (model->spec) coreml__model__free_unpacked(model->spec, NULL);
    free(model);
}

// ---- the runner ---------------------------------------------------------------------------------

static bool open_fake(bool neural_engine, int *version, char *why, size_t size)
{
    if (!begin(why, size)) return false;
    *version = (int)fake.version;
    if (fake.version >= 2 && (!neural_engine || fake.neural_engine)) return true;
    snprintf(why, size, "%s", fake.version < 2 ? "this system is too old" : "this device has no Neural Engine");
    return false;
}

// For a test that reads specifications with Apple's own tools.
static void save(const uint8_t *bytes, size_t byte_count)
{
    const char *folder = getenv("FAKE_COREML_SAVE");
    char path[4096];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%lld.mlmodel", folder, fake.models);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, byte_count, file) != byte_count) abort();
    fclose(file);
}

static void *compile_fake(const uint8_t *bytes, size_t byte_count, char *why, size_t size)
{
    if (!begin(why, size)) return NULL;
    struct fake_place place = {NULL, why, size};
    struct fake_model *model = calloc(1, sizeof *model);
    if (!build(model, bytes, byte_count, &place)) {
        free_model(model);
        return NULL;
    }
    save(bytes, byte_count);
    fake.models++;
    fake.live++;
    return model;
}

// The array of a feature, or NULL after a complaint.
static const struct coreml_array *find_array(const Coreml__FeatureDescription *feature,
                                             const struct coreml_array *arrays, int count,
                                             const struct fake_place *place)
{
    const Coreml__ArrayFeatureType *type = feature->type->multiarraytype;
    for (int i = 0; i < count; i++) {
        if (strcmp(arrays[i].name, feature->name) != 0) continue;
        size_t elements = 1;
        for (int k = 0; k < arrays[i].rank; k++) elements *= (size_t)arrays[i].shape[k];
        if (arrays[i].rank == (int)type->n_shape && elements == arrays[i].count && arrays[i].data &&
            memcmp(arrays[i].shape, type->shape, type->n_shape * sizeof *type->shape) == 0)
            return &arrays[i];
        fake_complain(place, "array %s has another shape than the feature", feature->name);
        return NULL;
    }
    fake_complain(place, "there is no array %s", feature->name);
    return NULL;
}

static bool run_fake(void *data, const struct coreml_array *inputs, int input_count, const struct coreml_array *outputs,
                     int output_count, char *why, size_t size)
{
    const struct fake_model *model = data;
    const Coreml__ModelDescription *description = model->spec->description;
    const struct fake_place place = {NULL, why, size};
    if (!begin(why, size)) return false;
    FAKE_WANT(&place, (size_t)input_count == description->n_input && (size_t)output_count == description->n_output,
              "%d inputs, %d outputs", input_count, output_count);
    for (size_t i = 0; i < description->n_input; i++) {
        const struct coreml_array *from = find_array(description->input[i], inputs, input_count, &place);
        if (!from) return false;
        memcpy(model->blobs[i].data, from->data, from->count * sizeof(float));
    }
    for (int i = 0; i < model->step_count; i++) find_kind(model->steps[i].layer)->compute(&model->steps[i]);
    for (size_t i = 0; i < description->n_output; i++) {
        const struct coreml_array *to = find_array(description->output[i], outputs, output_count, &place);
        if (!to) return false;
        memcpy(to->data, find_blob(model, to->name)->data, to->count * sizeof(float));
    }
    fake.runs++;
    return true;
}

static void free_fake(void *model)
{
    free_model(model);
    fake.live--;
}

const struct coreml_runner halite_coreml_runner = {
    .interface = COREML_RUNNER_INTERFACE,
    .open = open_fake,
    .compile = compile_fake,
    .run = run_fake,
    .free = free_fake,
};
