// libFuzzer target over .onnx bytes; see fuzz/README.md.
#include <cstddef>

#include "fuzz/try_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static_cast<void>(opkit::fuzz::tryOnnx({data, size}));
  return 0;
}
