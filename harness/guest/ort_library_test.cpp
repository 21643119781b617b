#include "harness/guest/ort_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

#include "engine/tensor/tensor.h"
#include "harness/guest/ort_session.h"
#include "harness/guest/ort_test_support.h"
#include "harness/guest/ort_values.h"

namespace opkit::harness::ort {
namespace {

Status openFake(const char* mode) {
  ::setenv("OPKIT_FAKE_ORT", mode, 1);
  return OrtLibrary::open(OPKIT_FAKE_ORT_LIBRARY).error();
}

/// The file that a function of the system comes from.
std::string systemLibrary() {
  Dl_info info{};
  return ::dladdr(reinterpret_cast<const void*>(&::getpid), &info) != 0 ? info.dli_fname : "";
}

TEST(OrtLibrary, RefusesWhatIsNoLibrary) {
  const Status missing = OrtLibrary::open("/nowhere/libonnxruntime.so").error();
  EXPECT_EQ(missing.code(), StatusCode::InvalidArgument);
  EXPECT_NE(missing.message().find("/nowhere/libonnxruntime.so"), std::string::npos) << missing.message();
  const std::string path = testing::TempDir() + "text.so";
  std::ofstream(path) << "not a library";
  const Status text = OrtLibrary::open(path).error();
  EXPECT_EQ(text.code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(text.message().starts_with(path + ": no shared library that can be loaded: ")) << text.message();
}

TEST(OrtLibrary, RefusesOtherLibraries) {
  const Status status = OrtLibrary::open(systemLibrary()).error();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(status.message().ends_with(": not ONNX Runtime: it exports no OrtGetApiBase")) << status.message();
}

TEST(OrtLibrary, RefusesOldVersions) {
  const Status status = openFake("old");
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_TRUE(
      status.message().ends_with(": ONNX Runtime must have version 23 of its C API (1.23 or later), this is "
                                 "1.20.1"))
      << status.message();
}

TEST(OrtLibrary, RefusesATableWithOtherFunctions) {
  const Status shifted = openFake("shifted");
  EXPECT_EQ(shifted.code(), StatusCode::Unsupported);
  EXPECT_TRUE(
      shifted.message().ends_with("the functions of ONNX Runtime 1.99.0 are not those that OpKit knows: they "
                                  "end with signal 11 (Segmentation fault)"))
      << shifted.message();
  const Status mute = openFake("mute");
  EXPECT_EQ(mute.code(), StatusCode::Unsupported);
  EXPECT_TRUE(mute.message().ends_with("are not those that OpKit knows: ONNX Runtime: it gave no tensor"))
      << mute.message();
}

TEST(OrtLibrary, TakesTheOneOfThisMachine) {
  OPKIT_SKIP_WITHOUT_ORT();
  EXPECT_EQ(inWorker([] {
              const auto library = OrtLibrary::open(ortForTests());
              return library ? std::string("taken") : library.error().toString();
            }),
            "taken");
}

/// Passes a tensor of every type and says which does not come back.
std::string passedText() {
  const auto library = OrtLibrary::open(ortForTests());
  if (!library) return library.error().toString();
  const auto memory = newCpuMemory(**library);
  if (!memory) return memory.error().toString();
  std::string failed;
  for (int number = 1; isValidDType(number); ++number) {
    const auto dtype = static_cast<DType>(number);
    if (isObject(dtype)) continue;
    for (const Shape& shape : {Shape{7}, Shape{}, Shape{2, 0}}) {
      const auto tensor = Tensor::onHost({dtype, shape});
      if (!tensor) return tensor.error().toString();
      for (std::byte& byte : tensor->bytes()) byte = std::byte{1};
      const auto value = borrowed(**library, memory->get(), *tensor);
      const auto copy = value ? copied(**library, value->get()) : Result<Tensor>(value.error());
      const bool isSame = copy && copy->desc == tensor->desc && std::ranges::equal(copy->bytes(), tensor->bytes());
      if (!isSame) failed += fmt::format("{}: {}. ", tensor->desc.toString(), copy.error().toString());
    }
  }
  return failed;
}

TEST(OrtLibrary, EveryTypeComesBack) {
  OPKIT_SKIP_WITHOUT_ORT();
  EXPECT_EQ(inWorker(passedText), "");
}

}  // namespace
}  // namespace opkit::harness::ort
