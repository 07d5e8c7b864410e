// SPDX-License-Identifier: Apache-2.0
// A model: the bytes of a .tflite file, verified. Files are mapped, and memory of the caller is used where it lies, so
// the caller keeps it as long as the model and its interpreters. A model may serve many interpreters on many threads.
#ifndef TENSORFLOW_LITE_CORE_MODEL_BUILDER_H_
#define TENSORFLOW_LITE_CORE_MODEL_BUILDER_H_

#include "halite/cxx.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "halite/halite.h"
#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/core/api/verifier.h"
#include "tensorflow/lite/schema/builtin_operator.h"
#include "tensorflow/lite/stderr_reporter.h"

namespace tflite
{

class FlatBufferModel
{
  public:
    // Each gives a model, or null after a message. The reporter, which must outlive the model and its interpreters,
    // gets this and all later messages. Every model is verified, whichever function makes it.
    static std::unique_ptr<FlatBufferModel> BuildFromFile(const char *filename,
                                                          ErrorReporter *reporter = DefaultErrorReporter())
    {
        reporter = known(reporter);
        TfLiteModel *model = TfLiteModelCreateFromFileWithErrorReporter(filename, report, reporter);
        return wrap_mapped(model, reporter);
    }
    static std::unique_ptr<FlatBufferModel> VerifyAndBuildFromFile(const char *filename,
                                                                   TfLiteVerifier *extra_verifier = nullptr,
                                                                   ErrorReporter *reporter = DefaultErrorReporter())
    {
        return checked(BuildFromFile(filename, reporter), extra_verifier, known(reporter));
    }
    static std::unique_ptr<FlatBufferModel> BuildFromFileDescriptor(int fd,
                                                                    ErrorReporter *reporter = DefaultErrorReporter())
    {
        reporter = known(reporter);
        return BuildFromAllocation(std::make_unique<MMAPAllocation>(fd, reporter), reporter);
    }
    static std::unique_ptr<FlatBufferModel> BuildFromFileDescriptor(int fd, size_t offset, size_t length,
                                                                    ErrorReporter *reporter = DefaultErrorReporter())
    {
        reporter = known(reporter);
        return BuildFromAllocation(std::make_unique<MMAPAllocation>(fd, offset, length, reporter), reporter);
    }
    static std::unique_ptr<FlatBufferModel> VerifyAndBuildFromFileDescriptor(
        int fd, TfLiteVerifier *extra_verifier = nullptr, ErrorReporter *reporter = DefaultErrorReporter())
    {
        return checked(BuildFromFileDescriptor(fd, reporter), extra_verifier, known(reporter));
    }
    static std::unique_ptr<FlatBufferModel> BuildFromBuffer(const char *buffer, size_t size,
                                                            ErrorReporter *reporter = DefaultErrorReporter())
    {
        reporter = known(reporter);
        return BuildFromAllocation(std::make_unique<MemoryAllocation>(buffer, size, reporter), reporter);
    }
    static std::unique_ptr<FlatBufferModel> VerifyAndBuildFromBuffer(const char *buffer, size_t size,
                                                                     TfLiteVerifier *extra_verifier = nullptr,
                                                                     ErrorReporter *reporter = DefaultErrorReporter())
    {
        return checked(BuildFromBuffer(buffer, size, reporter), extra_verifier, known(reporter));
    }
    static std::unique_ptr<FlatBufferModel> BuildFromAllocation(std::unique_ptr<Allocation> allocation,
                                                                ErrorReporter *reporter = DefaultErrorReporter())
    {
        reporter = known(reporter);
        if (!allocation || !allocation->valid() || allocation->bytes() == 0) {
            reporter->Report("The model allocation is null/empty");
            return nullptr;
        }
        TfLiteModel *model =
            TfLiteModelCreateWithErrorReporter(allocation->base(), allocation->bytes(), report, reporter);
        return wrap(model, std::move(allocation), reporter);
    }
    static std::unique_ptr<FlatBufferModel> VerifyAndBuildFromAllocation(
        std::unique_ptr<Allocation> allocation, TfLiteVerifier *extra_verifier = nullptr,
        ErrorReporter *reporter = DefaultErrorReporter())
    {
        return checked(BuildFromAllocation(std::move(allocation), reporter), extra_verifier, known(reporter));
    }
    // Of the root table of a file that lies in memory as a whole and outlives the model. A root does not say where its
    // file ends, so that the caller vouches for this: the file is verified, but an offset that leads beyond its end is
    // not noticed. allocation() is null.
    static std::unique_ptr<FlatBufferModel> BuildFromModel(const Model *model,
                                                           ErrorReporter *reporter = DefaultErrorReporter())
    {
        reporter = known(reporter);
        const char *file = find_file(reinterpret_cast<const char *>(model));
        if (!file) {
            reporter->Report("The model's root is null, or no file with the identifier TFL3 begins before it");
            return nullptr;
        }
        TfLiteModel *made = TfLiteModelCreateWithErrorReporter(file, MAX_FILE_BYTES, report, reporter);
        return wrap(made, nullptr, reporter);
    }

    ~FlatBufferModel() { TfLiteModelDelete(model_); }
    FlatBufferModel(const FlatBufferModel &) = delete;
    FlatBufferModel &operator=(const FlatBufferModel &) = delete;

    // Objects exist only where a model was loaded.
    bool initialized() const { return true; }
    bool CheckModelIdentifier() const { return true; }

    // The file's root table, for programs that have the schema's own classes.
    const Model *operator->() const { return GetModel(); }
    const Model *GetModel() const
    {
        size_t bytes = 0;
        const char *file = static_cast<const char *>(HaliteModelGetData(model_, &bytes));
        return reinterpret_cast<const Model *>(file + root_offset(file));
    }

    ErrorReporter *error_reporter() const { return reporter_; }
    // The file's bytes; null where the model was made from its root.
    const Allocation *allocation() const { return allocation_.get(); }

    // The oldest release that can run the model, as the converter wrote it; "" where it did not.
    std::string GetMinimumRuntime() const
    {
        std::string version = read_metadata("min_runtime_version");
        return version.substr(0, version.find('\0'));
    }
    // All metadata of the file, bytes by name.
    std::map<std::string, std::string> ReadAllMetadata() const
    {
        std::map<std::string, std::string> all;
        for (int32_t i = 0; i < HaliteModelGetMetadataCount(model_); i++) {
            std::string name;
            std::string bytes = metadata_at(i, &name);
            all[name] = bytes;
        }
        return all;
    }
    // The same of the root of a file, as BuildFromModel takes it.
    static std::map<std::string, std::string> ReadAllMetadata(const Model *model)
    {
        std::unique_ptr<FlatBufferModel> built = BuildFromModel(model);
        return built ? built->ReadAllMetadata() : std::map<std::string, std::string>();
    }

    // What the functions of halite/halite.h take. It is this object's.
    const TfLiteModel *c_model() const { return model_; }

  private:
    FlatBufferModel(TfLiteModel *model, std::unique_ptr<Allocation> allocation, ErrorReporter *reporter)
        : model_(model), allocation_(std::move(allocation)), reporter_(reporter)
    {
    }
    static ErrorReporter *known(ErrorReporter *reporter) { return reporter ? reporter : DefaultErrorReporter(); }
    static void report(void *reporter, const char *format, va_list args)
    {
        static_cast<ErrorReporter *>(reporter)->Report(format, args);
    }
    // A FlatBuffers file begins with the distance to its root, 4 bytes, the lowest first, and an identifier.
    static size_t root_offset(const char *file)
    {
        const unsigned char *offset = reinterpret_cast<const unsigned char *>(file);
        return offset[0] | static_cast<size_t>(offset[1]) << 8 | static_cast<size_t>(offset[2]) << 16 |
               static_cast<size_t>(offset[3]) << 24;
    }
    // Files are written from their end to their beginning and the root last, so that their beginning is near.
    static const char *find_file(const char *root)
    {
        for (size_t distance = 8; root && distance <= 1024; distance += 4) {
            const char *file = root - distance;
            if (root_offset(file) == distance && std::memcmp(file + 4, "TFL3", 4) == 0) return file;
        }
        return nullptr;
    }
    static std::unique_ptr<FlatBufferModel> wrap_mapped(TfLiteModel *model, ErrorReporter *reporter)
    {
        if (!model) return nullptr;
        size_t bytes = 0;
        const void *data = HaliteModelGetData(model, &bytes);
        return wrap(model, std::make_unique<MemoryAllocation>(data, bytes, reporter), reporter);
    }
    static std::unique_ptr<FlatBufferModel> wrap(TfLiteModel *model, std::unique_ptr<Allocation> allocation,
                                                 ErrorReporter *reporter)
    {
        if (!model) return nullptr;
        return std::unique_ptr<FlatBufferModel>(new FlatBufferModel(model, std::move(allocation), reporter));
    }
    static std::unique_ptr<FlatBufferModel> checked(std::unique_ptr<FlatBufferModel> model, TfLiteVerifier *extra,
                                                    ErrorReporter *reporter)
    {
        if (!model || !extra) return model;
        const Allocation *bytes = model->allocation();
        bool right =
            extra->Verify(static_cast<const char *>(bytes->base()), static_cast<int>(bytes->bytes()), reporter);
        return right ? std::move(model) : nullptr;
    }
    std::string metadata_at(int32_t index, std::string *name) const
    {
        const char *text = nullptr;
        const void *data = nullptr;
        size_t bytes = 0;
        if (HaliteModelGetMetadata(model_, index, &text, &data, &bytes) != kTfLiteOk) return {};
        *name = text ? text : "";
        return data ? std::string(static_cast<const char *>(data), bytes) : std::string();
    }
    std::string read_metadata(const char *wanted) const
    {
        for (int32_t i = 0; i < HaliteModelGetMetadataCount(model_); i++) {
            std::string name;
            std::string bytes = metadata_at(i, &name);
            if (name == wanted) return bytes;
        }
        return {};
    }
    static constexpr size_t MAX_FILE_BYTES = INT32_MAX; // offsets of the format are of 32 bits
    TfLiteModel *model_;
    std::unique_ptr<Allocation> allocation_;
    ErrorReporter *reporter_;
};

namespace impl
{
using tflite::FlatBufferModel;
}

} // namespace tflite

#endif
