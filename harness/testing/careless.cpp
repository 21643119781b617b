// A program with one fault of each kind that the test fail_calls must find: careless FAULT FROM TO copies a file.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

int refuse(const std::string& path) {
  std::fprintf(stderr, "careless: cannot copy '%s': %s\n", path.c_str(), std::strerror(errno));
  return 2;
}

std::string textOf(const char* path, bool isChecked) {
  const int file = ::open(path, O_RDONLY);
  if (isChecked && file < 0) std::exit(refuse(path));
  std::string text;
  char bytes[64];
  ssize_t count = 0;
  while ((count = ::read(file, bytes, sizeof bytes)) > 0) text.append(bytes, static_cast<size_t>(count));
  if (isChecked && count < 0) std::exit(refuse(path));
  ::close(file);
  return text;
}

/// Through a file beside `path`.
int replace(const std::string& path, const std::string& text, const std::string& fault) {
  const std::string beside = path + ".tmp";
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const bool isWritten = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) ::close(file);
  if (isWritten && ::rename(beside.c_str(), path.c_str()) == 0) return 0;
  const int result = fault == "silent" ? 2 : refuse(path);
  if (fault != "leftover") ::unlink(beside.c_str());
  return fault == "lines" ? refuse(path) : result;
}

}  // namespace

int main(int, char** arguments) {
  const std::string fault = arguments[1], to = arguments[3];
  const std::string text = textOf(arguments[2], fault != "read");
  if (fault == "write") {
    std::ofstream(to) << text;
    return 0;
  }
  if (fault == "in-place") {
    const int file = ::open(to.c_str(), O_WRONLY | O_TRUNC);
    return ::write(file, text.data(), text.size()) < 0 ? refuse(to) : 0;
  }
  if (fault == "hang")
    while (::access(to.c_str(), F_OK) == 0 && replace(to, text, "silent") != 0) ::pause();
  return replace(to, text, fault);
}
