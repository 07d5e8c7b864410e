// SPDX-License-Identifier: Apache-2.0
// The parts of the headers that only C++ sees, used by a program in C++: variant objects, which the library copies and
// deletes, and calls that C++ overloads. Prints what is wrong and ends with 1.
#include <cstdio>
#include <cstdlib>

#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

static int failures;

static void check(bool holds, const char *what, int line)
{
    if (holds) return;
    std::printf("line %d: %s does not hold\n", line, what);
    failures++;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

// ---- variant objects --------------------------------------------------------------------------------------------

// VariantData is not the first base, so that the pointer in a tensor is not the object's own.
struct Named {
    virtual ~Named() = default;
    long name = 11;
};

class Number : public Named, public AbstractVariantData<Number>
{
  public:
    explicit Number(int value) : value(value) { alive++; }
    Number(const Number &other) : Named(other), AbstractVariantData(other), value(other.value)
    {
        alive++;
        copies++;
    }
    ~Number() override { alive--; }
    int value;
    static int alive, copies;
};
int Number::alive, Number::copies;

static Number *number(const TfLiteTensor &tensor)
{
    return static_cast<Number *>(static_cast<VariantData *>(tensor.data.data));
}

static TfLiteTensor variant_tensor()
{
    TfLiteTensor tensor = TfLiteTensor();
    tensor.type = kTfLiteVariant;
    tensor.allocation_type = kTfLiteDynamic;
    tensor.bytes = sizeof(void *);
    return tensor;
}

static void variants_are_made_copied_and_deleted()
{
    TfLiteTensor a = variant_tensor(), b = variant_tensor();
    CHECK(TfLiteTensorVariantRealloc<Number>(&a, 3) == kTfLiteOk);
    CHECK(a.allocation_type == kTfLiteVariantObject && number(a)->value == 3);
    Number *place = number(a);
    CHECK(TfLiteTensorVariantRealloc<Number>(&a, 4) == kTfLiteOk);
    CHECK(number(a) == place && number(a)->value == 4 && Number::alive == 1);

    CHECK(TfLiteTensorCopy(&a, &b) == kTfLiteOk); // makes a new object
    CHECK(b.allocation_type == kTfLiteVariantObject && number(b) != number(a) && number(b)->value == 4);
    number(a)->value = 5;
    place = number(b);
    CHECK(TfLiteTensorCopy(&a, &b) == kTfLiteOk); // uses the memory of the old one
    CHECK(number(b) == place && number(b)->value == 5 && number(b)->name == 11 && Number::alive == 2);

    TfLiteTensor clone = TfLiteTensorClone(a);
    CHECK(number(clone) != number(a) && number(clone)->value == 5 && Number::alive == 3 && Number::copies == 3);
    TfLiteTensorFree(&clone);
    CHECK(!clone.data.data && Number::alive == 2);
    TfLiteTensorDataFree(&b);
    CHECK(!b.data.data && Number::alive == 1);
    CHECK(TfLiteTensorCopy(&a, &b) == kTfLiteOk && Number::alive == 2); // after it was freed
    TfLiteTensorFree(&a);
    TfLiteTensorFree(&b);
    TfLiteTensorFree(&b);
    CHECK(Number::alive == 0);
}

static void variants_meet_other_tensors()
{
    TfLiteTensor variant = variant_tensor(), plain = variant_tensor();
    plain.type = kTfLiteInt64;
    CHECK(TfLiteTensorVariantRealloc<Number>(&plain, 1) == kTfLiteError);
    TfLiteTensor empty = variant_tensor();
    empty.allocation_type = kTfLiteVariantObject;
    CHECK(TfLiteTensorCopy(&empty, &plain) == kTfLiteError);

    CHECK(TfLiteTensorVariantRealloc<Number>(&variant, 6) == kTfLiteOk);
    CHECK(TfLiteTensorRealloc(sizeof(void *), &plain) == kTfLiteOk);
    CHECK(TfLiteTensorCopy(&variant, &plain) == kTfLiteOk); // its own memory is freed
    CHECK(plain.allocation_type == kTfLiteVariantObject && number(plain)->value == 6);
    CHECK(plain.type == kTfLiteVariant);

    TfLiteTensor elements = variant_tensor();
    CHECK(TfLiteTensorRealloc(sizeof(void *), &elements) == kTfLiteOk);
    CHECK(TfLiteTensorCopy(&elements, &plain) == kTfLiteError); // which has no memory after its object is gone
    CHECK(!plain.data.data && plain.allocation_type == kTfLiteDynamic && Number::alive == 1);
    TfLiteTensorFree(&elements);
    TfLiteTensorFree(&plain);
    TfLiteTensorFree(&variant);
    CHECK(Number::alive == 0);
}

// ---- former names ------------------------------------------------------------------------------------------------

static void *init(TfLiteOpaqueContext *, const char *, size_t)
{
    return nullptr;
}

static void former_names_take_three_or_four_arguments()
{
    int data = 0;
    TfLiteRegistrationExternal *three = TfLiteRegistrationExternalCreate(kTfLiteBuiltinDelegate, "Three", 1);
    TfLiteRegistrationExternal *four = TfLiteRegistrationExternalCreate(kTfLiteBuiltinCustom, "Four", 2, &data);
    CHECK(three && TfLiteOperatorGetUserData(three) == nullptr);
    CHECK(four && TfLiteOperatorGetUserData(four) == &data && TfLiteRegistrationExternalGetVersion(four) == 2);
    TfLiteRegistrationExternalSetInit(three, init);
    TfLiteRegistrationExternalSetInit(three,
                                      [](TfLiteOpaqueContext *, const char *, size_t) -> void * { return nullptr; });
    TfLiteRegistrationExternalDelete(three);
    TfLiteRegistrationExternalDelete(four);
}

static void xnnpack_defaults_are_whole()
{
    const TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    CHECK(options.flags != 0 && options.weight_cache_file_descriptor == -1);
}

int main()
{
    variants_are_made_copied_and_deleted();
    variants_meet_other_tensors();
    former_names_take_three_or_four_arguments();
    xnnpack_defaults_are_whole();
    return failures ? 1 : 0;
}
