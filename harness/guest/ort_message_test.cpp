#include "harness/guest/ort_message.h"

#include <gtest/gtest.h>

namespace opkit::harness::ort {
namespace {

TEST(OrtMessage, LosesPlacesInTheLibrarysSources) {
  EXPECT_EQ(meaningOf("/src/core/graph/load.h:46 void onnxruntime::Check(const std::map<int, int>&, bool) Opset 99 is "
                      "not known.\n"),
            "Opset 99 is not known.");
  EXPECT_EQ(meaningOf("Exception during initialization: /src/ep.cc:12 onnxruntime::Ep::Ep(int) status == 0 was false. "
                      "No adapter"),
            "Exception during initialization: status == 0 was false. No adapter");
  EXPECT_EQ(meaningOf("a: /src/b.cc:1 virtual T ns::Kernel<T>::operator()(const X&) const [with T = float] axis is 3"),
            "a: axis is 3");
}

TEST(OrtMessage, KeepsOthersOnOneLine) {
  EXPECT_EQ(meaningOf("Could not find an implementation for Relu(14)\n\tnode with name 'node'"),
            "Could not find an implementation for Relu(14) node with name 'node'");
  EXPECT_EQ(meaningOf("/src/b.cc:1 Sizes differ, see (a) and (b)"), "Sizes differ, see (a) and (b)");
  EXPECT_EQ(meaningOf(" \n"), "no reason given");
  EXPECT_EQ(meaningOf("a\x1b[1m"), "a\\x1b[1m");
}

}  // namespace
}  // namespace opkit::harness::ort
