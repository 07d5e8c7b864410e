// SPDX-License-Identifier: Apache-2.0
// How a capsule's model was run: options of the command line and variables of the environment.
#include <stdlib.h>
#include <string.h>

#include "capsule/capsule.h"
#include "json.h"

enum kind { SWITCH, NUMBER, TEXT, CHOICE };

// By the names of their flags.
static const struct setting {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *const *choices;
    bool library; // names a file whose code is run
} settings[] = {
    {"kernels", CHOICE, offsetof(struct hl_model_options, kernels), hl_model_kernels, false},
    {"threads", NUMBER, offsetof(struct hl_model_options, threads), NULL, false},
    {"delegate", TEXT, offsetof(struct hl_model_options, delegate), NULL, true},
    {"gpu", SWITCH, offsetof(struct hl_model_options, gpu), NULL, false},
    {"device", TEXT, offsetof(struct hl_model_options, device), NULL, false},
    {"precision", CHOICE, offsetof(struct hl_model_options, precision), hl_model_precisions, false},
    {"quantized", CHOICE, offsetof(struct hl_model_options, quantized), hl_model_quantized, false},
    {"partitions", NUMBER, offsetof(struct hl_model_options, partitions), NULL, false},
    {"custom-ops", TEXT, offsetof(struct hl_model_options, custom_ops), NULL, true},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

cJSON *hl_capsule_settings(const struct hl_model_options *options)
{
    const struct hl_model_options defaults = HL_MODEL_DEFAULTS;
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *setting = &settings[i];
        const void *at = (const char *)options + setting->offset, *usual = (const char *)&defaults + setting->offset;
        switch (setting->kind) {
        case SWITCH:
            if (*(const bool *)at) cJSON_AddTrueToObject(json, setting->name);
            break;
        case NUMBER:
            if (*(const int *)at != *(const int *)usual) cJSON_AddNumberToObject(json, setting->name, *(const int *)at);
            break;
        case CHOICE:
            if (*(const int *)at != *(const int *)usual)
                cJSON_AddStringToObject(json, setting->name, setting->choices[*(const int *)at]);
            break;
        case TEXT:
            if (*(const char *const *)at != NULL) hl_json_add_string(json, setting->name, *(const char *const *)at);
        }
    }
    return json;
}

static void set_choice(int *value, const char *const *choices, const char *name)
{
    for (int i = 0; choices[i] != NULL; i++)
        if (strcmp(choices[i], name) == 0) *value = i;
}

void hl_capsule_set(struct hl_model_options *options, const cJSON *json)
{
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *setting = &settings[i];
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, setting->name);
        void *at = (char *)options + setting->offset;
        if (setting->kind == SWITCH && cJSON_IsTrue(item)) *(bool *)at = true;
        if (setting->kind == NUMBER && cJSON_IsNumber(item) && item->valuedouble >= 1 &&
            item->valuedouble <= HL_MODEL_MAX_THREADS)
            *(int *)at = (int)item->valuedouble;
        if (setting->kind == CHOICE && cJSON_IsString(item)) set_choice(at, setting->choices, item->valuestring);
        if (setting->kind == TEXT && !setting->library && cJSON_IsString(item)) *(const char **)at = item->valuestring;
    }
}

void hl_capsule_override(struct hl_model_options *options, const struct hl_model_options *given,
                         bool (*is_given)(const void *user_data, const char *flag), const void *user_data)
{
    static const size_t sizes[] = {sizeof(bool), sizeof(int), sizeof(const char *), sizeof(int)}; // by enum kind
    for (int i = 0; i < SETTINGS; i++) {
        size_t offset = settings[i].offset;
        if (is_given(user_data, settings[i].name))
            memcpy((char *)options + offset, (const char *)given + offset, sizes[settings[i].kind]);
    }
    options->cache = given->cache;
    options->weights_cache = given->weights_cache;
}

const char *hl_capsule_library(const cJSON *json)
{
    for (int i = 0; i < SETTINGS; i++)
        if (settings[i].library && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(json, settings[i].name)))
            return settings[i].name;
    return NULL;
}

void hl_capsule_add_settings(struct hl_text *text, const cJSON *json)
{
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, json)
    {
        hl_text_add(text, "%s", count++ > 0 ? ", " : "");
        hl_text_add_escaped(text, item->string, strlen(item->string));
        if (cJSON_IsNumber(item)) hl_text_add(text, " %g", item->valuedouble);
        if (!cJSON_IsString(item)) continue;
        hl_text_add(text, " ");
        hl_text_add_escaped(text, item->valuestring, strlen(item->valuestring));
    }
    if (count == 0) hl_text_add(text, "the defaults");
}

cJSON *hl_capsule_environment(void)
{
    static const char *const names[] = {
#define ENVIRONMENT(group, name, meaning) name,
#include "environment.def"
#undef ENVIRONMENT
    };
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = strncmp(names[i], "HALITE_", 7) == 0 ? getenv(names[i]) : NULL;
        if (value != NULL) hl_json_add_string(json, names[i], value);
    }
    return json;
}
