// A library for LD_PRELOAD that fails one chosen call of a program (fail_target.h says which). The test fail_calls.py
// runs a command once for each of its calls. The functions stand before those of the C library; calls count from the
// start of main.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "harness/testing/fail_target.h"

namespace fail = opkit::fail;
using fail::countsDescriptor, fail::countsPath, fail::fails, fail::limitOfWrite, fail::Move, fail::remember;

namespace {

using Main = int(int, char**, char**);
Main* programsMain = nullptr;

int mainAfterBegin(int count, char** arguments, char** environment) {
  fail::begin();
  return programsMain(count, arguments, environment);
}

mode_t modeOf(int flags, va_list rest) {
  const bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return creates ? static_cast<mode_t>(va_arg(rest, int)) : 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int __libc_start_main(Main* main, int count, char** arguments, void (*init)(),
                                                             void (*fini)(), void (*loaderFini)(), void* stackEnd) {
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* const real = reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  programsMain = main;
  return real(mainAfterBegin, count, arguments, init, fini, loaderFini, stackEnd);
}

int open(const char* path, int flags, ...) {
  OPKIT_NEXT(open);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = modeOf(flags, rest);
  va_end(rest);
  if (!countsPath(AT_FDCWD, path)) return real(path, flags, mode);
  return fails(fail::Open, path) ? -1 : remember(real(path, flags, mode));
}
int openat(int folder, const char* path, int flags, ...) {
  OPKIT_NEXT(openat);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = modeOf(flags, rest);
  va_end(rest);
  if (!countsPath(folder, path)) return real(folder, path, flags, mode);
  return fails(fail::Open, path) ? -1 : remember(real(folder, path, flags, mode));
}
int creat(const char* path, mode_t mode) { return ::open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
FILE* fopen(const char* path, const char* mode) {
  OPKIT_NEXT(fopen);
  if (!countsPath(AT_FDCWD, path)) return real(path, mode);
  if (fails(fail::Open, path)) return nullptr;
  FILE* const file = real(path, mode);
  if (file) remember(::fileno(file));
  return file;
}
int open64(const char*, int, ...) __attribute__((alias("open")));
int openat64(int, const char*, int, ...) __attribute__((alias("openat")));
int creat64(const char*, mode_t) __attribute__((alias("creat")));
FILE* fopen64(const char*, const char*) __attribute__((alias("fopen")));
// Of sources that are compiled with _FORTIFY_SOURCE.
int __open_2(const char* path, int flags) { return ::open(path, flags); }
int __open64_2(const char* path, int flags) { return ::open(path, flags); }
int __openat_2(int folder, const char* path, int flags) { return ::openat(folder, path, flags); }
int __openat64_2(int folder, const char* path, int flags) { return ::openat(folder, path, flags); }

ssize_t read(int file, void* bytes, size_t size) {
  OPKIT_NEXT(read);
  return countsDescriptor(file) && fails(fail::Read, nullptr, file) ? -1 : real(file, bytes, size);
}
ssize_t pread(int file, void* bytes, size_t size, off_t offset) {
  OPKIT_NEXT(pread);
  return countsDescriptor(file) && fails(fail::Read, nullptr, file) ? -1 : real(file, bytes, size, offset);
}
ssize_t readv(int file, const iovec* parts, int count) {
  OPKIT_NEXT(readv);
  return countsDescriptor(file) && fails(fail::Read, nullptr, file) ? -1 : real(file, parts, count);
}
ssize_t pread64(int, void*, size_t, off64_t) __attribute__((alias("pread")));
ssize_t __read_chk(int file, void* bytes, size_t size, size_t) { return ::read(file, bytes, size); }
ssize_t __pread_chk(int file, void* bytes, size_t size, off_t offset, size_t) {
  return ::pread(file, bytes, size, offset);
}
ssize_t __pread64_chk(int file, void* bytes, size_t size, off_t offset, size_t) {
  return ::pread(file, bytes, size, offset);
}

ssize_t write(int file, const void* bytes, size_t size) {
  OPKIT_NEXT(write);
  const ssize_t limit = limitOfWrite(file, size);
  return limit < 0 ? -1 : real(file, bytes, limit > 0 ? static_cast<size_t>(limit) : size);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  OPKIT_NEXT(pwrite);
  const ssize_t limit = limitOfWrite(file, size);
  return limit < 0 ? -1 : real(file, bytes, limit > 0 ? static_cast<size_t>(limit) : size, offset);
}
ssize_t writev(int file, const iovec* parts, int count) {
  OPKIT_NEXT(writev);
  const ssize_t limit = limitOfWrite(file, count > 0 ? parts->iov_len : 0);
  if (limit <= 0) return limit < 0 ? -1 : real(file, parts, count);
  const iovec part = {parts->iov_base, static_cast<size_t>(limit)};
  return real(file, &part, 1);
}
ssize_t pwrite64(int, const void*, size_t, off64_t) __attribute__((alias("pwrite")));

int fsync(int file) {
  OPKIT_NEXT(fsync);
  return countsDescriptor(file) && fails(fail::Sync, nullptr, file) ? -1 : real(file);
}
int fdatasync(int file) {
  OPKIT_NEXT(fdatasync);
  return countsDescriptor(file) && fails(fail::Sync, nullptr, file) ? -1 : real(file);
}
int ftruncate(int file, off_t size) noexcept {
  OPKIT_NEXT(ftruncate);
  return countsDescriptor(file) && fails(fail::Truncate, nullptr, file) ? -1 : real(file, size);
}
int ftruncate64(int, off64_t) noexcept __attribute__((alias("ftruncate")));
int close(int file) {
  OPKIT_NEXT(close);
  const bool isFailing = countsDescriptor(file) && fails(fail::Close, nullptr, file);
  fail::forget(file);
  const int result = real(file);
  if (isFailing) fail::setError();
  return isFailing ? -1 : result;
}
int fclose(FILE* stream) {
  OPKIT_NEXT(fclose);
  const int file = ::fileno(stream);
  const bool isFailing = countsDescriptor(file) && fails(fail::Close, nullptr, file);
  fail::forget(file);
  const int result = real(stream);
  if (isFailing) fail::setError();
  return isFailing ? EOF : result;
}

int rename(const char* from, const char* to) noexcept {
  OPKIT_NEXT(rename);
  const bool isCounted = countsPath(AT_FDCWD, to);
  const Move move(isCounted);
  return isCounted && fails(fail::Rename, to) ? -1 : real(from, to);
}
int renameat(int fromFolder, const char* from, int toFolder, const char* to) noexcept {
  OPKIT_NEXT(renameat);
  const bool isCounted = countsPath(toFolder, to);
  const Move move(isCounted);
  return isCounted && fails(fail::Rename, to) ? -1 : real(fromFolder, from, toFolder, to);
}
int link(const char* from, const char* to) noexcept {
  OPKIT_NEXT(link);
  const bool isCounted = countsPath(AT_FDCWD, to);
  const Move move(isCounted);
  return isCounted && fails(fail::Rename, to) ? -1 : real(from, to);
}
int unlink(const char* path) noexcept {
  OPKIT_NEXT(unlink);
  const bool isCounted = countsPath(AT_FDCWD, path);
  const Move move(isCounted);
  return isCounted && fails(fail::Unlink, path) ? -1 : real(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  OPKIT_NEXT(unlinkat);
  const bool isCounted = countsPath(folder, path);
  const Move move(isCounted);
  return isCounted && fails(fail::Unlink, path) ? -1 : real(folder, path, flags);
}
int remove(const char* path) noexcept {
  OPKIT_NEXT(remove);
  const bool isCounted = countsPath(AT_FDCWD, path);
  const Move move(isCounted);
  return isCounted && fails(fail::Unlink, path) ? -1 : real(path);
}
int rmdir(const char* path) noexcept {
  OPKIT_NEXT(rmdir);
  const bool isCounted = countsPath(AT_FDCWD, path);
  const Move move(isCounted);
  return isCounted && fails(fail::Unlink, path) ? -1 : real(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  OPKIT_NEXT(mkdir);
  const bool isCounted = countsPath(AT_FDCWD, path);
  const Move move(isCounted);
  return isCounted && fails(fail::Mkdir, path) ? -1 : real(path, mode);
}

// Folders that are listed.
DIR* opendir(const char* path) {
  OPKIT_NEXT(opendir);
  return countsPath(AT_FDCWD, path) && fails(fail::List, path) ? nullptr : real(path);
}
DIR* fdopendir(int folder) {
  OPKIT_NEXT(fdopendir);
  return countsDescriptor(folder) && fails(fail::List, nullptr, folder) ? nullptr : real(folder);
}
dirent* readdir(DIR* folder) {
  OPKIT_NEXT(readdir);
  return countsDescriptor(::dirfd(folder)) && fails(fail::List, nullptr, ::dirfd(folder)) ? nullptr : real(folder);
}
dirent64* readdir64(DIR*) __attribute__((alias("readdir")));

int stat(const char* path, struct stat* facts) noexcept {
  OPKIT_NEXT(stat);
  return countsPath(AT_FDCWD, path) && fails(fail::Stat, path) ? -1 : real(path, facts);
}
int lstat(const char* path, struct stat* facts) noexcept {
  OPKIT_NEXT(lstat);
  return countsPath(AT_FDCWD, path) && fails(fail::Stat, path) ? -1 : real(path, facts);
}
int fstat(int file, struct stat* facts) noexcept {
  OPKIT_NEXT(fstat);
  return countsDescriptor(file) && fails(fail::Stat, nullptr, file) ? -1 : real(file, facts);
}
int stat64(const char*, struct stat64*) noexcept __attribute__((alias("stat")));
int lstat64(const char*, struct stat64*) noexcept __attribute__((alias("lstat")));
int fstat64(int, struct stat64*) noexcept __attribute__((alias("fstat")));

// The allocator of the C library, under its own names: a look-up by name may allocate.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) noexcept { return fails(fail::Alloc) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) noexcept { return fails(fail::Alloc) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) noexcept { return fails(fail::Alloc) ? nullptr : __libc_realloc(block, size); }
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails(fail::Alloc) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  *block = fails(fail::Alloc) ? nullptr : __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

}  // extern "C"
