// The functions of the C library by which OpKit, or the standard library for it, asks for threads and files. They stand
// before those of the library, do the same, and can be refused (refusals.h).
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "harness/allocations/refusals.h"

using opkit::harness::refuses;
using opkit::harness::Request;

namespace {

/// The C library's function of that name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t modeOf(int flags, va_list rest) {
  const bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return creates ? static_cast<mode_t>(va_arg(rest, int)) : 0;
}

}  // namespace

#define OPKIT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))
/// A refused call sets errno and returns `result`.
#define OPKIT_REFUSE(kind, error, result)     \
  if (refuses(Request::kind, OPKIT_CALLER)) { \
    errno = error;                            \
    return result;                            \
  }

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  static auto* const real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (refuses(Request::Thread, OPKIT_CALLER)) return EAGAIN;
  return real(thread, attributes, body, argument);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = modeOf(flags, rest);
  va_end(rest);
  OPKIT_REFUSE(File, EMFILE, -1)
  return real(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  OPKIT_REFUSE(File, EMFILE, nullptr)
  return real(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen64");
  OPKIT_REFUSE(File, EMFILE, nullptr)
  return real(path, mode);
}

ssize_t read(int file, void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  OPKIT_REFUSE(File, EIO, -1)
  return real(file, bytes, size);
}

ssize_t write(int file, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  OPKIT_REFUSE(File, ENOSPC, -1)
  return real(file, bytes, size);
}

ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
  OPKIT_REFUSE(File, ENOSPC, -1)
  return real(file, parts, count);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (file >= 0) OPKIT_REFUSE(File, ENFILE, MAP_FAILED)
  return real(address, size, protection, flags, file, offset);
}

}  // extern "C"
