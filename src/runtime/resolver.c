// SPDX-License-Identifier: Apache-2.0
// See resolver.h.
#include "runtime/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/builtin_kernels.h"
#include "runtime/operator.h"

static bool is_custom(const struct hl_model_code *code)
{
    return code->builtin == kTfLiteBuiltinCustom;
}

// What every registration that leaves here carries, whatever the caller's struct said.
static void stamp(TfLiteRegistration *registration, const struct hl_model_code *code)
{
    registration->builtin_code = code->builtin;
    registration->custom_name = is_custom(code) ? code->custom_name : NULL;
    registration->version = code->version;
}

static bool find_added(const struct hl_resolver *resolver, const struct hl_model_code *code,
                       TfLiteRegistration *registration)
{
    for (int i = resolver->added_count - 1; i >= 0; i--) { // what was added last wins
        const struct hl_added_operator *added = &resolver->added[i];
        if (code->version < added->min_version || code->version > added->max_version) continue;
        bool match = is_custom(code) ? added->custom_name && strcmp(added->custom_name, code->custom_name) == 0
                                     : !added->custom_name && added->registration.builtin_code == code->builtin;
        if (!match) continue;
        *registration = added->registration;
        return true;
    }
    return false;
}

// One lookup form: copies as much of the found registration as that form has. Both lookups may be missing.
#define ASK(find_builtin, find_custom)                                                         \
    do {                                                                                       \
        if (is_custom(code) ? !!(find_custom) : !!(find_builtin)) {                            \
            const void *found = NULL;                                                          \
            size_t found_size = 0;                                                             \
            if (is_custom(code)) {                                                             \
                found = (find_custom)(callbacks->user_data, code->custom_name, code->version); \
                found_size = sizeof *(find_custom)(NULL, NULL, 0);                             \
            } else {                                                                           \
                found = (find_builtin)(callbacks->user_data, code->builtin, code->version);    \
                found_size = sizeof *(find_builtin)(NULL, 0, 0);                               \
            }                                                                                  \
            if (found) {                                                                       \
                *registration = (TfLiteRegistration){0};                                       \
                memcpy(registration, found, found_size);                                       \
                return true;                                                                   \
            }                                                                                  \
        }                                                                                      \
    } while (0)

static bool ask_callbacks(const struct hl_resolver_callbacks *callbacks, const struct hl_model_code *code,
                          TfLiteRegistration *registration)
{
    const TfLiteOperator *op = NULL;
    if (is_custom(code) ? !!callbacks->operator_custom : !!callbacks->operator_builtin)
        op = is_custom(code) ? callbacks->operator_custom(callbacks->user_data, code->custom_name, code->version)
                             : callbacks->operator_builtin(callbacks->user_data, code->builtin, code->version);
    if (op) {
        *registration = (TfLiteRegistration){
            .registration_external = (TfLiteOperator *)op,
            .inplace_operator = op->inplace,
        };
        return true;
    }
    ASK(callbacks->builtin, callbacks->custom);
    ASK(callbacks->builtin_v3, callbacks->custom_v3);
    ASK(callbacks->builtin_v2, callbacks->custom_v2);
    ASK(callbacks->builtin_v1, callbacks->custom_v1);
    return false;
}

static bool has_callbacks(const struct hl_resolver_callbacks *c)
{
    return c->operator_builtin || c->operator_custom || c->builtin || c->custom || c->builtin_v3 || c->custom_v3 ||
           c->builtin_v2 || c->custom_v2 || c->builtin_v1 || c->custom_v1;
}

bool hl_resolve(const struct hl_resolver *resolver, const struct hl_model_code *code, TfLiteRegistration *registration)
{
    bool found;
    if (has_callbacks(&resolver->callbacks))
        found = ask_callbacks(&resolver->callbacks, code, registration);
    else
        found = find_added(resolver, code, registration) ||
                (!resolver->without_builtins && hl_builtin_kernels.find(code, registration));
    if (found) stamp(registration, code);
    return found;
}

static struct hl_added_operator *grow(struct hl_resolver *resolver, const char *custom_name)
{
    struct hl_added_operator *list = realloc(resolver->added, (size_t)(resolver->added_count + 1) * sizeof *list);
    if (!list) return NULL;
    resolver->added = list;
    char *name = NULL;
    if (custom_name) {
        size_t size = strlen(custom_name) + 1;
        name = malloc(size);
        if (!name) return NULL;
        memcpy(name, custom_name, size);
    }
    struct hl_added_operator *added = &list[resolver->added_count++];
    *added = (struct hl_added_operator){.custom_name = name};
    return added;
}

bool hl_resolver_add(struct hl_resolver *resolver, int builtin, const char *custom_name,
                     const TfLiteRegistration *registration, int min_version, int max_version)
{
    struct hl_added_operator *added = grow(resolver, custom_name);
    if (!added) return false;
    added->min_version = min_version;
    added->max_version = max_version;
    added->registration = (TfLiteRegistration){
        .init = registration->init,
        .free = registration->free,
        .prepare = registration->prepare,
        .invoke = registration->invoke,
        .profiling_string = registration->profiling_string,
        .builtin_code = builtin,
    };
    return true;
}

bool hl_resolver_add_operator(struct hl_resolver *resolver, TfLiteOperator *op)
{
    bool custom = op->builtin_code == kTfLiteBuiltinCustom;
    struct hl_added_operator *added = grow(resolver, custom ? op->custom_name : NULL);
    if (!added) return false;
    added->min_version = added->max_version = op->version;
    added->registration = (TfLiteRegistration){
        .builtin_code = op->builtin_code,
        .registration_external = op,
        .inplace_operator = op->inplace,
    };
    return true;
}

bool hl_resolver_copy(struct hl_resolver *to, const struct hl_resolver *from)
{
    *to = (struct hl_resolver){.callbacks = from->callbacks, .without_builtins = from->without_builtins};
    for (int i = 0; i < from->added_count; i++) {
        struct hl_added_operator *added = grow(to, from->added[i].custom_name);
        if (!added) {
            hl_resolver_free(to);
            return false;
        }
        char *name = added->custom_name;
        *added = from->added[i];
        added->custom_name = name;
    }
    return true;
}

void hl_resolver_free(struct hl_resolver *resolver)
{
    for (int i = 0; i < resolver->added_count; i++) free(resolver->added[i].custom_name);
    free(resolver->added);
    *resolver = (struct hl_resolver){0};
}
