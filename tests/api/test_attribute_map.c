// SPDX-License-Identifier: Apache-2.0
// Attribute maps: keys by number and by name, values of four types, and what belongs to maps of the other kind.
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tensorflow/lite/core/async/interop/c/attribute_map.h"

static void maps_know_their_kind(void **state)
{
    (void)state;
    TfLiteAttributeMap *buffer = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMap *sync = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    assert_true(TfLiteAttributeMapIsBufferAttributeMap(buffer) && !TfLiteAttributeMapIsSyncAttributeMap(buffer));
    assert_true(TfLiteAttributeMapIsSyncAttributeMap(sync) && !TfLiteAttributeMapIsBufferAttributeMap(sync));
    assert_false(TfLiteAttributeMapIsBufferAttributeMap(NULL) || TfLiteAttributeMapIsSyncAttributeMap(NULL));

    const char *text;
    size_t size;
    assert_true(TfLiteAttributeMapSetSizeTBufferAttr(buffer, kTfLiteBufferAttrKeyAlignment, 8));
    assert_false(TfLiteAttributeMapSetSizeTBufferAttr(sync, kTfLiteBufferAttrKeyAlignment, 8));
    assert_false(TfLiteAttributeMapGetSizeTBufferAttr(sync, kTfLiteBufferAttrKeyAlignment, &size));
    assert_false(TfLiteAttributeMapSetStringSyncAttr(buffer, kTfLiteSynchronizationAttrKeyObjectTypeName, "fence"));
    assert_true(TfLiteAttributeMapSetStringSyncAttr(sync, kTfLiteSynchronizationAttrKeyObjectTypeName, "fence"));
    assert_true(TfLiteAttributeMapGetStringSyncAttr(sync, kTfLiteSynchronizationAttrKeyObjectTypeName, &text));
    assert_string_equal(text, "fence");
    TfLiteAttributeMapDelete(buffer);
    TfLiteAttributeMapDelete(sync);
    TfLiteAttributeMapDelete(NULL);
}

static void values_have_a_type(void **state)
{
    (void)state;
    TfLiteAttributeMap *map = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    size_t size = 0;
    bool flag = false;
    const char *text = NULL;
    assert_false(TfLiteAttributeMapGetSizeTBufferAttr(map, kTfLiteBufferAttrKeySize, &size)); // not there
    assert_true(TfLiteAttributeMapSetSizeTBufferAttr(map, kTfLiteBufferAttrKeySize, 100));
    assert_true(TfLiteAttributeMapGetSizeTBufferAttr(map, kTfLiteBufferAttrKeySize, &size));
    assert_int_equal(size, 100);
    assert_false(TfLiteAttributeMapGetBoolBufferAttr(map, kTfLiteBufferAttrKeySize, &flag));
    assert_false(TfLiteAttributeMapGetStringBufferAttr(map, kTfLiteBufferAttrKeySize, &text));
    assert_true(TfLiteAttributeMapSetBoolBufferAttr(map, kTfLiteBufferAttrKeyCurrentHostCacheState, true));
    assert_true(TfLiteAttributeMapGetBoolBufferAttr(map, kTfLiteBufferAttrKeyCurrentHostCacheState, &flag));
    assert_true(flag);
    assert_true(TfLiteAttributeMapSetStringBufferAttr(map, kTfLiteBufferAttrKeySize, "large")); // in its place
    assert_false(TfLiteAttributeMapGetSizeTBufferAttr(map, kTfLiteBufferAttrKeySize, &size));
    assert_true(TfLiteAttributeMapGetStringBufferAttr(map, kTfLiteBufferAttrKeySize, &text));
    assert_string_equal(text, "large");
    assert_false(TfLiteAttributeMapSetStringBufferAttr(map, kTfLiteBufferAttrKeySize, NULL));
    assert_false(TfLiteAttributeMapSetBoolBufferAttr(NULL, kTfLiteBufferAttrKeySize, true));
    TfLiteAttributeMapDelete(map);
}

static void keys_may_be_names(void **state)
{
    (void)state;
    TfLiteAttributeMap *map = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    char name[] = "vendor.cache", value[] = "write back";
    int number = 0;
    size_t size = 0;
    bool flag = false;
    const char *text = NULL;
    TfLiteAttributeMapSetCustomStringAttr(map, name, value);
    memset(name, 'x', 3); // both are copied
    memset(value, 'x', 3);
    assert_true(TfLiteAttributeMapGetCustomStringAttr(map, "vendor.cache", &text));
    assert_string_equal(text, "write back");
    TfLiteAttributeMapSetCustomIntAttr(map, "vendor.level", -3);
    TfLiteAttributeMapSetCustomSizeTAttr(map, "vendor.size", 7);
    TfLiteAttributeMapSetCustomBoolAttr(map, "vendor.flag", true);
    TfLiteAttributeMapSetIntAttr(map, 0, 5); // no name, and the number that names have inside
    assert_true(TfLiteAttributeMapGetCustomIntAttr(map, "vendor.level", &number) && number == -3);
    assert_true(TfLiteAttributeMapGetCustomSizeTAttr(map, "vendor.size", &size) && size == 7);
    assert_true(TfLiteAttributeMapGetCustomBoolAttr(map, "vendor.flag", &flag) && flag);
    assert_true(TfLiteAttributeMapGetIntAttr(map, 0, &number) && number == 5);
    assert_false(TfLiteAttributeMapGetCustomIntAttr(map, "vendor", &number));
    assert_false(TfLiteAttributeMapGetCustomIntAttr(map, "vendor.size", &number));
    assert_false(TfLiteAttributeMapGetCustomIntAttr(map, NULL, &number));
    TfLiteAttributeMapSetCustomIntAttr(map, NULL, 1);
    TfLiteAttributeMapDelete(map);
}

static void copies_stand_alone(void **state)
{
    (void)state;
    TfLiteAttributeMap *from = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMap *to = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    const char *text = NULL;
    int number = 0;
    assert_true(TfLiteAttributeMapSetStringBufferAttr(from, kTfLiteBufferAttrKeyResourceTypeName, "memory"));
    TfLiteAttributeMapSetCustomIntAttr(from, "rank", 2);
    TfLiteAttributeMapSetCustomIntAttr(to, "gone", 1);
    TfLiteAttributeMapCopy(from, to);
    TfLiteAttributeMapDelete(from);
    assert_true(TfLiteAttributeMapIsBufferAttributeMap(to));
    assert_true(TfLiteAttributeMapGetStringBufferAttr(to, kTfLiteBufferAttrKeyResourceTypeName, &text));
    assert_string_equal(text, "memory");
    assert_true(TfLiteAttributeMapGetCustomIntAttr(to, "rank", &number) && number == 2);
    assert_false(TfLiteAttributeMapGetCustomIntAttr(to, "gone", &number));
    TfLiteAttributeMapCopy(to, to);
    TfLiteAttributeMapCopy(NULL, to);
    assert_true(TfLiteAttributeMapGetCustomIntAttr(to, "rank", &number));
    TfLiteAttributeMapDelete(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_know_their_kind),
        cmocka_unit_test(values_have_a_type),
        cmocka_unit_test(keys_may_be_names),
        cmocka_unit_test(copies_stand_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
