#include "engine/base/guard.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace opkit {
namespace {

constexpr int kBadInput = 2;

std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
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
    return Status::invalidArgument("{}", oneLine(error.what()));
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
  try {
    return body();
  } catch (...) {
    // No fmt and no Status here: both need memory, and there may be none left.
    try {
      std::fprintf(stderr, "%s: %s\n", name, statusOfException().message().c_str());
    } catch (...) {
      std::fprintf(stderr, "%s: the host is out of memory\n", name);
    }
    return kBadInput;
  }
}

}  // namespace opkit
