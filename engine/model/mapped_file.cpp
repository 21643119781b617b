#include "engine/model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "engine/base/checked_file.h"
#include "engine/tensor/lazy_buffer.h"

namespace opkit {
namespace {

/// Below this a copy is made at once: pages and mappings of its own would cost more.
constexpr size_t kLeastLazyBytes = size_t{1} << 16;

/// A part of a file, and the pages for a copy of it.
class LazyCopy final : public LazyBuffer {
 public:
  LazyCopy(std::shared_ptr<MappedFile> file, size_t offsetBytes, std::shared_ptr<PageBuffer> copy)
      : LazyBuffer(copy->sizeBytes()), file_(std::move(file)), offsetBytes_(offsetBytes), copy_(std::move(copy)) {}

  std::byte* hostData() override {
    std::call_once(copying_, [this] {
      std::memcpy(copy_->hostData(), file_->hostData() + offsetBytes_, sizeBytes());
      discard(0, sizeBytes());
    });
    return copy_->hostData();
  }
  Tensor stored(const TensorDesc& desc, size_t offsetBytes) const override {
    return {desc, file_, offsetBytes_ + offsetBytes};
  }
  void discard(size_t offsetBytes, size_t sizeBytes) const override {
    file_->discard(offsetBytes_ + offsetBytes, sizeBytes);
  }

 private:
  std::shared_ptr<MappedFile> file_;  // shared with the other constants in it
  size_t offsetBytes_;
  std::shared_ptr<PageBuffer> copy_;  // shared with nobody
  std::once_flag copying_;
};

}  // namespace

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  OPKIT_ASSIGN(const Descriptor file, openToRead(path));
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0)
    return Status::invalidArgument("cannot read '{}': {}", path, std::strerror(errno));
  const auto size = static_cast<size_t>(facts.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (data == MAP_FAILED) return Status::invalidArgument("cannot map '{}': {}", path, std::strerror(errno));
  }
  return std::shared_ptr<MappedFile>(new MappedFile(size, static_cast<std::byte*>(data)));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, sizeBytes());
}

void MappedFile::discard(size_t offsetBytes, size_t sizeBytes) const {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = offsetBytes / page * page;
  if (data_ && sizeBytes > 0) ::madvise(data_ + begin, offsetBytes - begin + sizeBytes, MADV_DONTNEED);
}

Result<Tensor> constantFrom(std::span<const uint8_t> bytes, const TensorDesc& desc) {
  OPKIT_CHECK(bytes.size() == desc.sizeBytes());
  OPKIT_ASSIGN(Tensor copy, Tensor::onHost(desc, Fill::None));
  if (!bytes.empty()) std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
  if (desc.dtype == DType::Bool)
    for (uint8_t& element : copy.data<uint8_t>()) element = element != 0;
  return copy;
}

Result<Tensor> constantIn(const std::shared_ptr<MappedFile>& file, size_t offsetBytes, const TensorDesc& desc) {
  OPKIT_CHECK(offsetBytes <= file->sizeBytes() && desc.sizeBytes() <= file->sizeBytes() - offsetBytes);
  const size_t size = desc.sizeBytes();
  const bool aligned = offsetBytes % bytesOf(desc.dtype, 1) == 0;
  if (size == 0 || desc.dtype == DType::Bool || (!aligned && size < kLeastLazyBytes))
    return constantFrom(file->contents().subspan(offsetBytes, size), desc);
  if (aligned) return Tensor{desc, file, offsetBytes};
  OPKIT_ASSIGN(auto copy, PageBuffer::create(size));
  return Tensor{desc, std::make_shared<LazyCopy>(file, offsetBytes, std::move(copy))};
}

}  // namespace opkit
