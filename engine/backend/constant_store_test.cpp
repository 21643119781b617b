#include "engine/backend/constant_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace opkit {
namespace {

Tensor oneFloat(float value) { return *Tensor::fromValues<float>({DType::Float32, {1}}, {value}); }

TEST(ConstantStore, MakesEachFormOfEachSourceOnce) {
  ConstantStore store;
  const Tensor a = oneFloat(1), b = oneFloat(1);
  int made = 0;
  const auto make = [&]() -> Result<Tensor> {
    ++made;
    return oneFloat(static_cast<float>(made));
  };
  const auto first = *store.get<Tensor>(a, "packed", make);
  EXPECT_EQ(*store.get<Tensor>(a, "packed", make), first);
  EXPECT_EQ(made, 1);
  EXPECT_NE(*store.get<Tensor>(a, "packed by rows", make), first);
  EXPECT_NE(*store.get<Tensor>(b, "packed", make), first);  // equal values are not the same constant
  EXPECT_EQ(made, 3);
  EXPECT_EQ(store.bytes(), 3 * sizeof(float));
}

TEST(ConstantStore, AFailureIsNotKept) {
  ConstantStore store;
  const Tensor source = oneFloat(1);
  EXPECT_EQ(
      store.get<Tensor>(source, "f", []() -> Result<Tensor> { return Status::outOfMemory("full"); }).error().code(),
      StatusCode::OutOfMemory);
  EXPECT_EQ(store.bytes(), 0u);
  EXPECT_TRUE(store.get<Tensor>(source, "f", []() -> Result<Tensor> { return oneFloat(2); }));
}

TEST(ConstantStore, KeepsSourcesSoThatAnAddressNeverNamesTwo) {
  ConstantStore store;
  std::weak_ptr<Buffer> source;
  {
    const Tensor tensor = oneFloat(1);
    source = tensor.buffer;
    ASSERT_TRUE(store.get<Tensor>(tensor, "f", []() -> Result<Tensor> { return oneFloat(2); }));
  }
  EXPECT_FALSE(source.expired());
}

TEST(ConstantStore, DropsWhatNobodyCanAskForAgain) {
  ConstantStore store;
  const Tensor kept = oneFloat(1);
  const auto make = []() -> Result<Tensor> { return oneFloat(2); };
  std::shared_ptr<const Tensor> used;
  {
    const Tensor gone = oneFloat(1), goneButUsed = oneFloat(1);
    ASSERT_TRUE(store.get<Tensor>(gone, "f", make) && store.get<Tensor>(gone, "g", make));
    ASSERT_TRUE(store.get<Tensor>(kept, "f", make));
    used = *store.get<Tensor>(goneButUsed, "f", make);
  }
  EXPECT_EQ(store.bytes(), 4 * sizeof(float));
  store.dropUnreachable();
  EXPECT_EQ(store.bytes(), 2 * sizeof(float));
  used.reset();
  store.dropUnreachable();
  EXPECT_EQ(store.bytes(), sizeof(float));
}

TEST(ConstantStore, ThreadsThatWantOneEntryMakeItOnce) {
  ConstantStore store;
  const Tensor source = oneFloat(1);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const auto packed = store.get<Tensor>(source, "f", [&]() -> Result<Tensor> {
        ++made;
        return oneFloat(2);
      });
      EXPECT_EQ((*packed)->data<float>()[0], 2);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(ConstantStore, KeepsATensorAsLongAsAnybodyHoldsItsBuffer) {
  ConstantStore store;
  const Tensor source = oneFloat(1);
  std::shared_ptr<Buffer> bound =
      (*store.get<Tensor>(source, "f", []() -> Result<Tensor> { return oneFloat(2); }))->buffer;
  store.dropUnused();
  EXPECT_EQ(store.bytes(), sizeof(float));
  bound.reset();
  store.dropUnused();
  EXPECT_EQ(store.bytes(), 0u);
  ASSERT_TRUE(store.get<Tensor>(source, "the source's own", [&]() -> Result<Tensor> { return source; }));
  store.dropUnused();
  EXPECT_EQ(store.bytes(), 0u) << "the source holds this buffer in any case";
}

}  // namespace
}  // namespace opkit
