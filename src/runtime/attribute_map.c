// SPDX-License-Identifier: Apache-2.0
// The functions of core/async/interop/c/attribute_map.h: lists of keys, numbered or with names of the caller's own, and
// values of four types. An application and a delegate describe buffers and synchronization objects to each other so.
#include "tensorflow/lite/core/async/interop/c/attribute_map.h"

#include <stdlib.h>
#include <string.h>

enum value_type { NONE, INT, SIZE_T, STRING, BOOL };

struct value {
    enum value_type type;
    union {
        int as_int;
        size_t as_size;
        char *as_text; // owned
        bool as_bool;
    };
};

struct attribute {
    char *name; // of a key of the caller's own, owned; NULL: the key is a number
    uint32_t key;
    struct value value;
};

struct TfLiteAttributeMap {
    TfLiteAttrMapType type;
    struct attribute *attributes;
    int count;
};

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

static void free_value(struct value *value)
{
    if (value->type == STRING) free(value->as_text);
    value->type = NONE;
}

static void clear(TfLiteAttributeMap *attrs)
{
    for (int i = 0; i < attrs->count; i++) {
        free(attrs->attributes[i].name);
        free_value(&attrs->attributes[i].value);
    }
    free(attrs->attributes);
    attrs->attributes = NULL;
    attrs->count = 0;
}

// ---- finding and setting ----------------------------------------------------------------------------------------

static struct attribute *find(const TfLiteAttributeMap *attrs, const char *name, uint32_t key)
{
    for (int i = 0; attrs && i < attrs->count; i++) {
        struct attribute *attribute = &attrs->attributes[i];
        bool found =
            name ? attribute->name && strcmp(attribute->name, name) == 0 : !attribute->name && attribute->key == key;
        if (found) return attribute;
    }
    return NULL;
}

static const struct value *get(const TfLiteAttributeMap *attrs, const char *name, uint32_t key, enum value_type type)
{
    const struct attribute *attribute = find(attrs, name, key);
    return attribute && attribute->value.type == type ? &attribute->value : NULL;
}

static struct attribute *append(TfLiteAttributeMap *attrs, const char *name, uint32_t key)
{
    struct attribute *list = realloc(attrs->attributes, ((size_t)attrs->count + 1) * sizeof *list);
    if (!list) return NULL;
    attrs->attributes = list;
    char *own_name = name ? copy_text(name) : NULL;
    if (name && !own_name) return NULL;
    list[attrs->count] = (struct attribute){.name = own_name, .key = key};
    return &list[attrs->count++];
}

// Takes a copy of the value's text. False without memory, or for a text that is NULL: the value stays as it was.
static bool set(TfLiteAttributeMap *attrs, const char *name, uint32_t key, struct value value)
{
    if (!attrs) return false;
    if (value.type == STRING && !(value.as_text && (value.as_text = copy_text(value.as_text)))) return false;
    struct attribute *attribute = find(attrs, name, key);
    if (!attribute) attribute = append(attrs, name, key);
    if (!attribute) {
        free_value(&value);
        return false;
    }
    free_value(&attribute->value);
    attribute->value = value;
    return true;
}

// ---- maps -------------------------------------------------------------------------------------------------------

TfLiteAttributeMap *TfLiteAttributeMapCreate(TfLiteAttrMapType type)
{
    TfLiteAttributeMap *attrs = calloc(1, sizeof *attrs);
    if (attrs) attrs->type = type;
    return attrs;
}

void TfLiteAttributeMapDelete(TfLiteAttributeMap *attrs)
{
    if (attrs) clear(attrs);
    free(attrs);
}

bool TfLiteAttributeMapIsBufferAttributeMap(const TfLiteAttributeMap *attrs)
{
    return attrs && attrs->type == kTfLiteAttrMapTypeBuffer;
}

bool TfLiteAttributeMapIsSyncAttributeMap(const TfLiteAttributeMap *attrs)
{
    return attrs && attrs->type == kTfLiteAttrMapTypeSync;
}

void TfLiteAttributeMapCopy(const TfLiteAttributeMap *src, TfLiteAttributeMap *dst)
{
    if (!src || !dst || src == dst) return;
    clear(dst);
    dst->type = src->type;
    for (int i = 0; i < src->count; i++)
        set(dst, src->attributes[i].name, src->attributes[i].key, src->attributes[i].value);
}

// ---- accessors: by number or name whatever the map is about, and by a key of the kind that it is about -------------

#define ACCESSORS(Type, c_type, TAG, member, cast)                                                              \
    bool TfLiteAttributeMapGet##Type##Attr(const TfLiteAttributeMap *attrs, uint32_t key, c_type *val)          \
    {                                                                                                           \
        const struct value *found = val ? get(attrs, NULL, key, TAG) : NULL;                                    \
        if (found) *val = found->member;                                                                        \
        return found != NULL;                                                                                   \
    }                                                                                                           \
    void TfLiteAttributeMapSet##Type##Attr(TfLiteAttributeMap *attrs, uint32_t key, c_type val)                 \
    {                                                                                                           \
        set(attrs, NULL, key, (struct value){.type = TAG, .member = cast val});                                 \
    }                                                                                                           \
    bool TfLiteAttributeMapGetCustom##Type##Attr(const TfLiteAttributeMap *attrs, const char *key, c_type *val) \
    {                                                                                                           \
        const struct value *found = key && val ? get(attrs, key, 0, TAG) : NULL;                                \
        if (found) *val = found->member;                                                                        \
        return found != NULL;                                                                                   \
    }                                                                                                           \
    void TfLiteAttributeMapSetCustom##Type##Attr(TfLiteAttributeMap *attrs, const char *key, c_type val)        \
    {                                                                                                           \
        if (key) set(attrs, key, 0, (struct value){.type = TAG, .member = cast val});                           \
    }

#define CHECKED_ACCESSORS(Type, Kind, KeyType, is_kind, c_type, TAG, member, cast)                                 \
    bool TfLiteAttributeMapGet##Type##Kind##Attr(const TfLiteAttributeMap *attrs, KeyType key, c_type *val)        \
    {                                                                                                              \
        return is_kind(attrs) && TfLiteAttributeMapGet##Type##Attr(attrs, (uint32_t)key, val);                     \
    }                                                                                                              \
    bool TfLiteAttributeMapSet##Type##Kind##Attr(TfLiteAttributeMap *attrs, KeyType key, c_type val)               \
    {                                                                                                              \
        return is_kind(attrs) && set(attrs, NULL, (uint32_t)key, (struct value){.type = TAG, .member = cast val}); \
    }

ACCESSORS(Int, int, INT, as_int, )
ACCESSORS(SizeT, size_t, SIZE_T, as_size, )
ACCESSORS(String, const char *, STRING, as_text, (char *))
ACCESSORS(Bool, bool, BOOL, as_bool, )

CHECKED_ACCESSORS(SizeT, Buffer, TfLiteBufferAttrKey, TfLiteAttributeMapIsBufferAttributeMap, size_t, SIZE_T, as_size, )
CHECKED_ACCESSORS(String, Buffer, TfLiteBufferAttrKey, TfLiteAttributeMapIsBufferAttributeMap, const char *, STRING,
                  as_text, (char *))
CHECKED_ACCESSORS(Bool, Buffer, TfLiteBufferAttrKey, TfLiteAttributeMapIsBufferAttributeMap, bool, BOOL, as_bool, )
CHECKED_ACCESSORS(String, Sync, TfLiteSynchronizationAttrKey, TfLiteAttributeMapIsSyncAttributeMap, const char *,
                  STRING, as_text, (char *))
