// SPDX-License-Identifier: Apache-2.0
// Reading and writing tensors of strings. Such a tensor is a 4-byte count, the offsets of the strings and of their end,
// 4 bytes each, then the strings' bytes. A broken tensor of somebody else's reads as empty strings.
#ifndef TENSORFLOW_LITE_STRING_UTIL_H_
#define TENSORFLOW_LITE_STRING_UTIL_H_

#include "halite/cxx.h"

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

// A string that somebody else holds, not terminated by zero.
struct StringRef {
    const char *str;
    size_t len;
};

// Collects strings, then writes them in the form above.
class DynamicBuffer
{
  public:
    // max_length limits the bytes of all strings together; more is refused.
    explicit DynamicBuffer(size_t max_length = INT_MAX) : max_length_(max_length) {}

    TfLiteStatus AddString(const char *str, size_t length)
    {
        if (length > max_length_ || data_.size() > max_length_ - length) return kTfLiteError;
        data_.insert(data_.end(), str, str + length);
        ends_.push_back(data_.size());
        return kTfLiteOk;
    }
    TfLiteStatus AddString(const StringRef &text) { return AddString(text.str, text.len); }

    // Adds one string: all of them, with a separator between each two.
    void AddJoinedString(const std::vector<StringRef> &strings, char separator)
    {
        AddJoinedString(strings, StringRef{&separator, 1});
    }
    void AddJoinedString(const std::vector<StringRef> &strings, StringRef separator)
    {
        std::vector<char> joined;
        for (size_t i = 0; i < strings.size(); i++) {
            if (i > 0) joined.insert(joined.end(), separator.str, separator.str + separator.len);
            joined.insert(joined.end(), strings[i].str, strings[i].str + strings[i].len);
        }
        AddString(joined.data(), joined.size());
    }

    // Gives memory of malloc, which the caller frees, and returns how many bytes it has; 0 without memory.
    int WriteToBuffer(char **buffer) const
    {
        size_t header = (ends_.size() + 2) * sizeof(int32_t), bytes = header + data_.size();
        *buffer = nullptr;
        if (bytes > INT_MAX) return 0;
        *buffer = static_cast<char *>(std::malloc(bytes));
        if (!*buffer) return 0;
        write_number(*buffer, 0, ends_.size());
        write_number(*buffer, 1, header);
        for (size_t i = 0; i < ends_.size(); i++) write_number(*buffer, i + 2, header + ends_[i]);
        if (!data_.empty()) std::memcpy(*buffer + header, data_.data(), data_.size());
        return static_cast<int>(bytes);
    }

    // Gives the strings to a tensor, which takes the shape new_shape, or keeps its own where that is null.
    void WriteToTensor(TfLiteTensor *tensor, TfLiteIntArray *new_shape) const
    {
        char *buffer = nullptr;
        int bytes = WriteToBuffer(&buffer);
        if (!new_shape && tensor->dims) new_shape = TfLiteIntArrayCopy(tensor->dims);
        TfLiteTensorReset(kTfLiteString, tensor->name, new_shape, tensor->params, buffer, static_cast<size_t>(bytes),
                          kTfLiteDynamic, tensor->allocation, tensor->is_variable, tensor);
    }
    // The same with one dimension, of as many elements as there are strings.
    void WriteToTensorAsVector(TfLiteTensor *tensor) const
    {
        TfLiteIntArray *dims = TfLiteIntArrayCreate(1);
        if (dims) dims->data[0] = static_cast<int>(ends_.size());
        WriteToTensor(tensor, dims);
    }

  private:
    static void write_number(char *buffer, size_t index, size_t value)
    {
        int32_t number = static_cast<int32_t>(value);
        std::memcpy(buffer + index * sizeof number, &number, sizeof number);
    }
    std::vector<char> data_;
    std::vector<size_t> ends_; // of each string in data_
    size_t max_length_;
};

// How many strings there are.
inline int GetStringCount(const void *raw_buffer)
{
    int32_t count = 0;
    if (raw_buffer) std::memcpy(&count, raw_buffer, sizeof count);
    return count;
}
inline int GetStringCount(const TfLiteTensor *tensor)
{
    return tensor->bytes < sizeof(int32_t) ? 0 : GetStringCount(static_cast<const void *>(tensor->data.raw));
}

// Lends a string of the buffer.
inline StringRef GetString(const void *raw_buffer, int index)
{
    const char *bytes = static_cast<const char *>(raw_buffer);
    int32_t offsets[2];
    std::memcpy(offsets, bytes + (static_cast<size_t>(index) + 1) * sizeof(int32_t), sizeof offsets);
    return {bytes + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
}
inline StringRef GetString(const TfLiteTensor *tensor, int index)
{
    StringRef none = {"", 0};
    size_t header = (static_cast<size_t>(index) + 3) * sizeof(int32_t);
    if (index < 0 || index >= GetStringCount(tensor) || tensor->bytes < header) return none;
    StringRef found = GetString(static_cast<const void *>(tensor->data.raw), index);
    size_t offset = static_cast<size_t>(found.str - tensor->data.raw);
    return offset <= tensor->bytes && found.len <= tensor->bytes - offset ? found : none;
}

} // namespace tflite

#endif
