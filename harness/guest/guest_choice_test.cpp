#include <gtest/gtest.h>

#include "harness/guest/guest.h"

namespace opkit::harness {
namespace {

TEST(GuestChoice, NamesTheProviderInSmallLetters) {
  const auto nameOf = [](const char* provider) {
    GuestChoice choice;
    choice.provider = provider;
    return choice.name();
  };
  EXPECT_EQ(nameOf("cpu"), "onnxruntime-cpu");
  EXPECT_EQ(nameOf("WebGPU"), "onnxruntime-webgpu");
  EXPECT_EQ(nameOf("WebGpuExecutionProvider"), "onnxruntime-webgpu");
  EXPECT_EQ(nameOf("My_Own  v2."), "onnxruntime-my-own-v2");
  EXPECT_EQ(nameOf("ExecutionProvider"), "onnxruntime-executionprovider");
}

}  // namespace
}  // namespace opkit::harness
