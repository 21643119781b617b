#include "engine/model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/checked_file.h"

namespace opkit {

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

Result<Tensor> constantIn(const std::shared_ptr<MappedFile>& file, size_t offsetBytes, const TensorDesc& desc) {
  OPKIT_CHECK(offsetBytes <= file->sizeBytes() && desc.sizeBytes() <= file->sizeBytes() - offsetBytes);
  const std::span<const uint8_t> bytes = file->contents().subspan(offsetBytes, desc.sizeBytes());
  const bool aligned = offsetBytes % bytesOf(desc.dtype, 1) == 0;
  const bool isBool = desc.dtype == DType::Bool;
  if (aligned && !bytes.empty() && !isBool) return Tensor{desc, file, offsetBytes};
  OPKIT_ASSIGN(Tensor copy, Tensor::onHost(desc));
  if (!bytes.empty()) std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
  if (isBool)
    for (uint8_t& element : copy.data<uint8_t>()) element = element != 0;
  return copy;
}

}  // namespace opkit
