#include "engine/base/status.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "engine/base/guard.h"

namespace opkit {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Status::invalidArgument("half: expected an even number, got {}", value);
  return value / 2;
}

Status quarter(int value, int* result) {
  OPKIT_ASSIGN(const int once, half(value));
  OPKIT_ASSIGN(*result, half(once));
  return Status::ok();
}

TEST(Status, OkCostsNothingAndSaysOk) {
  EXPECT_TRUE(Status::ok().isOk());
  EXPECT_EQ(Status::ok().toString(), "OK");
  EXPECT_EQ(Status::ok().code(), StatusCode::Ok);
}

TEST(Status, CarriesCodeAndMessage) {
  const Status status = Status::unsupported("softmax: axis must be {}", "innermost");
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.toString(), "Unsupported: softmax: axis must be innermost");
  EXPECT_EQ(status.withContext("node 3").message(), "node 3: softmax: axis must be innermost");
  EXPECT_TRUE(Status::ok().withContext("node 3").isOk());
}

TEST(Status, ALimitOfTheDeviceIsToldFromOtherRefusals) {
  const Status status = Status::unsupportedByDevice("softmax: the device allows {} bytes", 16);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_TRUE(status.isByDevice());
  EXPECT_TRUE(status.withContext("node 3").isByDevice());
  EXPECT_EQ(status.withContext("node 3").message(), "node 3: softmax: the device allows 16 bytes");
  EXPECT_FALSE(Status::unsupported("softmax: no f64").isByDevice());
  EXPECT_FALSE(Status::ok().isByDevice());
}

TEST(Status, CopiesAreIndependent) {
  Status first = Status::corrupt("a");
  const Status second = first;
  first = Status::ok();
  EXPECT_EQ(second.message(), "a");
}

TEST(Result, MacrosReturnTheFirstFailure) {
  int result = 0;
  EXPECT_TRUE(quarter(12, &result).isOk());
  EXPECT_EQ(result, 3);
  EXPECT_EQ(quarter(6, &result).message(), "half: expected an even number, got 3");
}

TEST(Result, TheValueOfAFailureIsNeverRead) {
  Result<std::string> failed = Status::invalidArgument("a name is missing");
  const Result<std::string>& same = failed;
  EXPECT_THROW(failed.value(), std::logic_error);
  EXPECT_THROW(same.value(), std::logic_error);
  EXPECT_THROW(*failed, std::logic_error);
  EXPECT_THROW(*same, std::logic_error);
  EXPECT_THROW(failed->size(), std::logic_error);
  EXPECT_THROW(same->size(), std::logic_error);
  EXPECT_THROW(*std::move(failed), std::logic_error);
  const Status status = guarded([&] { return Status::invalidArgument("{}", same->size()); });
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_NE(status.message().find("InvalidArgument: a name is missing"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace opkit
