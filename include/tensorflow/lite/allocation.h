// SPDX-License-Identifier: Apache-2.0
// Bytes of a file or of memory, as a model keeps them. An object that failed to open is there all the same: valid()
// tells, and the reporter has been told why.
#ifndef TENSORFLOW_LITE_ALLOCATION_H_
#define TENSORFLOW_LITE_ALLOCATION_H_

#include "halite/cxx.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#if defined(__unix__) || defined(__APPLE__)
#define HALITE_CXX_HAS_MMAP 1
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#define HALITE_CXX_HAS_MMAP 0
#endif

#include "tensorflow/lite/stderr_reporter.h"

namespace tflite
{

class Allocation
{
  public:
    enum class Type { kMMap, kFileCopy, kMemory };

    virtual ~Allocation() = default;
    Allocation(const Allocation &) = delete;
    Allocation &operator=(const Allocation &) = delete;

    virtual const void *base() const = 0;
    virtual size_t bytes() const = 0;
    virtual bool valid() const = 0;
    Type type() const { return type_; }

  protected:
    Allocation(ErrorReporter *reporter, Type type) : error_reporter_(reporter), type_(type) {}
    ErrorReporter *error_reporter_;

  private:
    const Type type_;
};

// Memory of the caller, which keeps it as long as this object and every model made from it.
class MemoryAllocation : public Allocation
{
  public:
    MemoryAllocation(const void *data, size_t bytes, ErrorReporter *reporter)
        : Allocation(reporter, Type::kMemory), data_(data), bytes_(data ? bytes : 0)
    {
    }
    const void *base() const override { return data_; }
    size_t bytes() const override { return bytes_; }
    bool valid() const override { return data_ != nullptr; }

  private:
    const void *data_;
    size_t bytes_;
};

// A copy of a file.
class FileCopyAllocation : public Allocation
{
  public:
    FileCopyAllocation(const char *path, ErrorReporter *reporter) : Allocation(reporter, Type::kFileCopy)
    {
        std::FILE *file = std::fopen(path, "rb");
        if (!file) {
            error_reporter_->Report("Could not open '%s'.", path);
            return;
        }
        if (std::fseek(file, 0, SEEK_END) == 0) {
            long size = std::ftell(file);
            if (size > 0 && std::fseek(file, 0, SEEK_SET) == 0) read(file, static_cast<size_t>(size));
        }
        std::fclose(file);
        if (!data_) error_reporter_->Report("Could not read '%s'.", path);
    }
    const void *base() const override { return data_.get(); }
    size_t bytes() const override { return bytes_; }
    bool valid() const override { return data_ != nullptr; }

  private:
    void read(std::FILE *file, size_t size)
    {
        std::unique_ptr<char[]> data(new (std::nothrow) char[size]);
        if (!data || std::fread(data.get(), 1, size, file) != size) return;
        data_ = std::move(data);
        bytes_ = size;
    }
    std::unique_ptr<char[]> data_;
    size_t bytes_ = 0;
};

// A file, or length bytes of it from an offset, mapped for reading. A descriptor that is given stays the caller's: this
// has one of its own.
class MMAPAllocation : public Allocation
{
  public:
    MMAPAllocation(const char *path, ErrorReporter *reporter) : Allocation(reporter, Type::kMMap)
    {
#if HALITE_CXX_HAS_MMAP
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) {
            error_reporter_->Report("Could not open '%s'.", path);
            return;
        }
        map(descriptor, 0, 0);
#else
        error_reporter_->Report("Cannot map '%s': this system has no mmap.", path);
#endif
    }
    MMAPAllocation(int descriptor, ErrorReporter *reporter) : Allocation(reporter, Type::kMMap)
    {
        map(duplicate(descriptor), 0, 0);
    }
    MMAPAllocation(int descriptor, size_t offset, size_t length, ErrorReporter *reporter)
        : Allocation(reporter, Type::kMMap)
    {
        if (length == 0)
            error_reporter_->Report("Cannot map 0 bytes of descriptor %d.", descriptor);
        else
            map(duplicate(descriptor), offset, length);
    }
    ~MMAPAllocation() override
    {
#if HALITE_CXX_HAS_MMAP
        if (mapped_) munmap(mapped_, mapped_bytes_);
        if (descriptor_ >= 0) close(descriptor_);
#endif
    }
    const void *base() const override
    {
        return static_cast<const char *>(mapped_) + skipped_;
    }
    size_t bytes() const override
    {
        return mapped_bytes_ - skipped_;
    }
    bool valid() const override
    {
        return mapped_ != nullptr;
    }
    // The descriptor of the file, open as long as this object; -1 where none could be opened.
    int fd() const
    {
        return descriptor_;
    }
    // What was mapped: from the beginning of the page in which base() lies, to the end of the bytes.
    const void *mmapped_buffer() const
    {
        return mapped_;
    }
    size_t mmapped_buffer_size() const
    {
        return mapped_bytes_;
    }
    size_t mmapped_buffer_offset_in_file() const
    {
        return mapped_offset_;
    }
    static bool IsSupported()
    {
        return HALITE_CXX_HAS_MMAP != 0;
    }

  private:
    static int duplicate(int descriptor)
    {
#if HALITE_CXX_HAS_MMAP
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
#else
        return descriptor;
#endif
    }
    // Takes the descriptor. length 0: to the file's end. A mapping begins at a page, so it may hold bytes before the
    // offset.
    void map(int descriptor, size_t offset, size_t length)
    {
#if HALITE_CXX_HAS_MMAP
        descriptor_ = descriptor;
        struct stat status;
        if (fstat(descriptor, &status) != 0 || status.st_size <= 0) {
            error_reporter_->Report("Cannot map descriptor %d: it is not readable or empty.", descriptor);
            return;
        }
        size_t size = static_cast<size_t>(status.st_size);
        if (offset >= size || length > size - offset) {
            error_reporter_->Report("Cannot map %zu bytes at %zu: the file has %zu.", length, offset, size);
            return;
        }
        if (length == 0) length = size - offset;
        size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        skipped_ = offset % page;
        void *mapped =
            mmap(nullptr, length + skipped_, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset - skipped_));
        if (mapped == MAP_FAILED) {
            error_reporter_->Report("Mapping descriptor %d failed.", descriptor);
            skipped_ = 0;
            return;
        }
        mapped_ = mapped;
        mapped_bytes_ = length + skipped_;
        mapped_offset_ = offset - skipped_;
#else
        (void)offset;
        (void)length;
        error_reporter_->Report("Cannot map descriptor %d: this system has no mmap.", descriptor);
#endif
    }
    int descriptor_ = -1;
    void *mapped_ = nullptr;
    size_t mapped_bytes_ = 0, mapped_offset_ = 0;
    size_t skipped_ = 0;
};

} // namespace tflite

#endif
