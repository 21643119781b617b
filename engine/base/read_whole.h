// readWhole: the bytes of a file in a container of one's own. Use readFile (engine/model/model.h) or readText.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "engine/base/checked_file.h"

namespace opkit {

/// The whole of a regular file; errors name the path and the cause.
template <class Bytes>
Result<Bytes> readWhole(const std::string& path) {
  OPKIT_ASSIGN(const Descriptor file, openToRead(path));
  struct stat facts {};
  const auto failed = [&] { return Status::invalidArgument("cannot read '{}': {}", path, std::strerror(errno)); };
  if (::fstat(file.get(), &facts) != 0) return failed();
  Bytes bytes(static_cast<size_t>(std::max<off_t>(facts.st_size, 0)) + 1, 0);
  size_t size = 0;
  while (true) {  // files of /proc report size 0: read until the end whatever the reported size
    if (size == bytes.size()) bytes.resize(std::max<size_t>(size + 1, size + (size_t{1} << 16)));
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed();
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace opkit
