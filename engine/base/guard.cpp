#include "engine/base/guard.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "engine/base/interrupt.h"

namespace opkit {
namespace {

constexpr int kBadInput = 2;

std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::array<char, 80> lackOfMemory = {};  // the line
pid_t guardedProcess = 0;                // a worker that ends thus has crashed, and its parent says so
std::terminate_handler othersHandler = nullptr;

thread_local bool wasRefused = false;

void onRefusedMemory() {
  wasRefused = true;
  throw std::bad_alloc();
}

/// True if refused memory is why the program cannot go on. Within the standard library the exception may have no type
/// here.
bool lacksMemory() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type ? *type == typeid(std::bad_alloc) : wasRefused && std::uncaught_exceptions() > 0;
}

/// Memory may be refused where nothing may throw: in the destructor of a nested JSON value, or in the step of a
/// std::filesystem::directory_iterator.
[[noreturn]] void onTerminate() {
  if (::getpid() == guardedProcess && lacksMemory()) {
    removeTemporaryFiles();
    const ssize_t ignored = ::write(STDERR_FILENO, lackOfMemory.data(), std::strlen(lackOfMemory.data()));
    static_cast<void>(ignored);
    ::_exit(kBadInput);
  }
  if (othersHandler) othersHandler();
  std::abort();
}

/// While one exists, a program that lacks memory ends with a line, wherever it is noticed.
class TerminateGuard {
 public:
  explicit TerminateGuard(const char* name)
      : before_(std::set_terminate(onTerminate)), newBefore_(std::set_new_handler(onRefusedMemory)) {
    std::snprintf(lackOfMemory.data(), lackOfMemory.size(), "%s: the host is out of memory\n", name);
    guardedProcess = ::getpid();
    othersHandler = before_;
  }
  ~TerminateGuard() {
    std::set_terminate(before_);
    std::set_new_handler(newBefore_);
  }
  TerminateGuard(const TerminateGuard&) = delete;
  TerminateGuard& operator=(const TerminateGuard&) = delete;

 private:
  std::terminate_handler before_;
  std::new_handler newBefore_;
};

/// "cannot read '/folder': Permission denied": what() calls it a filesystem error and names a function.
std::string causeOf(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().empty() ? "a folder" : fmt::format("'{}'", error.path1().string());
  return oneLine(fmt::format("{}: {}", path, error.code().message()));
}

/// The text behind "[json.exception.type_error.302] ".
std::string causeOf(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return oneLine(end == std::string::npos ? text : text.substr(end + 2));
}

}  // namespace

Status statusOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::outOfMemory("the host is out of memory; try smaller shapes or fewer of them");
  } catch (const std::length_error&) {  // a container larger than the address space
    return Status::outOfMemory("the host cannot hold that many elements; try smaller shapes or fewer of them");
  } catch (const std::filesystem::filesystem_error& error) {
    return Status::invalidArgument("{}", causeOf(error));
  } catch (const nlohmann::json::exception& error) {
    return Status::corrupt("a value of JSON is not what was expected: {}", causeOf(error));
  } catch (const std::out_of_range&) {  // what() names functions: "basic_string::substr", "stoi"
    return Status::internal("unexpected: a number or a position is out of range");
  } catch (const std::invalid_argument&) {
    return Status::internal("unexpected: a text is no number");
  } catch (const std::system_error& error) {
    return Status::internal("the system refused: {}", oneLine(error.what()));
  } catch (const std::exception& error) {
    return Status::internal("unexpected: {}", oneLine(error.what()));
  } catch (...) {
    return Status::internal("unexpected: something was thrown that is no std::exception");
  }
}

int guardedMain(const char* name, const std::function<int()>& body) {
  const FloatEnvironment environment;
  const TerminateGuard lastResort(name);
  try {
    return body();
  } catch (...) {
    // No fmt and no Status here: both need memory, and there may be none left.
    try {
      std::fprintf(stderr, "%s: %s\n", name, statusOfException().message().c_str());
    } catch (...) {
      std::fputs(lackOfMemory.data(), stderr);
    }
    return kBadInput;
  }
}

}  // namespace opkit
