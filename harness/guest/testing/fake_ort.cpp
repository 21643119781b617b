// A library that looks like ONNX Runtime and is not: what it does wrong is named by the variable OPKIT_FAKE_ORT.
//   old      has no version 23 of the API
//   shifted  has every function one position later
//   mute     says that all succeeded, and does nothing
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Status {
  int code;
  std::string message;
};

Status* createStatus(int code, const char* message) { return new Status{code, message}; }
int errorCode(const Status* status) { return status->code; }
const char* errorMessage(const Status* status) { return status->message.c_str(); }
void releaseStatus(Status* status) { delete status; }
Status* succeed() { return nullptr; }

constexpr size_t kFunctions = 400;
const void* table[kFunctions + 1];

bool isMode(const char* mode) {
  const char* chosen = std::getenv("OPKIT_FAKE_ORT");
  return chosen && std::strcmp(chosen, mode) == 0;
}

template <class Function>
const void* addressOf(Function* function) {
  return reinterpret_cast<const void*>(function);
}

const void* getApi(uint32_t version) {
  if (isMode("old") && version > 20) return nullptr;
  const size_t shift = isMode("shifted") ? 1 : 0;
  table[0] = nullptr;
  for (size_t i = 0; i < kFunctions; ++i) table[i + shift] = addressOf(&succeed);
  table[0 + shift] = addressOf(&createStatus);
  table[1 + shift] = addressOf(&errorCode);
  table[2 + shift] = addressOf(&errorMessage);
  table[93 + shift] = addressOf(&releaseStatus);
  return table;
}

const char* versionText() { return isMode("old") ? "1.20.1" : "1.99.0"; }

struct Base {
  const void* (*getApi)(uint32_t);
  const char* (*versionText)();
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Base* OrtGetApiBase() {
  static const Base base{&getApi, &versionText};
  return &base;
}
