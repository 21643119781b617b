#include "engine/runtime/execution_pool.h"

#include <gtest/gtest.h>

#include "engine/backend/backend_registry.h"
#include "engine/op/internal_operators.h"
#include "engine/op/op_registry.h"

namespace opkit::pool {
namespace {

class Nothing final : public Execution {
 public:
  explicit Nothing(int& alive) : alive_(alive) { ++alive_; }
  ~Nothing() override { --alive_; }
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList, TensorList) override { return Status::ok(); }

 private:
  int& alive_;
};

/// What one Execution is made from; a test changes one thing.
struct Origin {
  TensorDesc x = {DType::Float32, {4}};
  std::vector<uint8_t> params = {1, 2};
  Tensor constant = *Tensor::fromValues<int64_t>({DType::Int64, {2}}, {3, 4});
  Layout layout = Layout::NCHW;
  std::optional<RegionList> regions = {};
};

class ExecutionPoolTest : public testing::Test {
 protected:
  ExecutionPoolTest() {
    creator_.create = [this](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
      return std::unique_ptr<Execution>(std::make_unique<Nothing>(alive_));
    };
    other_ = creator_;
  }

  ExecutionPool::Lease take(const Origin& origin, const Creator* creator = nullptr) {
    const TensorDesc* const inputs[] = {&origin.x, &origin.constant.desc};
    const Tensor* const constants[] = {nullptr, &origin.constant};
    const Layout layouts[] = {origin.layout, Layout::NCHW};
    const CreateArgs args{rasterCard(), origin.params,    inputs,  {&origin.x, 1},
                          constants,    backend_->caps(), layouts, origin.regions ? &*origin.regions : nullptr};
    return *pool_.take(creator ? *creator : creator_, args, *backend_);
  }
  /// Whether an Execution of the second origin may be the one of the first.
  bool exchangeable(const Origin& first, const Origin& second) {
    pool_.trim(0);
    const Execution* made = &*take(first);
    return &*take(second) == made;
  }

  int alive_ = 0;
  OpRegistry registry_;
  std::unique_ptr<Backend> backend_ = std::move(*(*createRuntime("cpu"))->createBackend(registry_, {.threads = 1}));
  Creator creator_, other_;
  ExecutionPool pool_;
};

TEST_F(ExecutionPoolTest, ALeaseReturnsItsExecution) {
  const Execution* first = nullptr;
  {
    const auto one = take({}), two = take({});
    first = &*one;
    EXPECT_NE(first, &*two);  // both are in use
  }
  EXPECT_EQ(pool_.created(), 2u);
  EXPECT_EQ(backend_->counters().executionsCreated, 2u);
  const auto one = take({}), two = take({});
  EXPECT_TRUE(first == &*one || first == &*two);
  EXPECT_EQ(pool_.created(), 2u);
}

TEST_F(ExecutionPoolTest, ShapesPlayNoPart) {
  EXPECT_TRUE(exchangeable({}, {}));
  EXPECT_TRUE(exchangeable({}, {.x = {DType::Float32, {7, 9}}}));
}

TEST_F(ExecutionPoolTest, EverythingElseDoes) {
  EXPECT_FALSE(exchangeable({}, {.x = {DType::Float16, {4}}}));
  EXPECT_FALSE(exchangeable({}, {.params = {1, 3}}));
  EXPECT_FALSE(exchangeable({}, {.layout = Layout::NC4HW4}));
  EXPECT_FALSE(exchangeable({}, {.constant = *Tensor::fromValues<int64_t>({DType::Int64, {2}}, {3, 5})}));
  EXPECT_FALSE(exchangeable({}, {.constant = *Tensor::fromValues<int64_t>({DType::Int64, {2, 1}}, {3, 4})}));
  EXPECT_FALSE(exchangeable({}, {.constant = *Tensor::fromValues<double>({DType::Float64, {2}}, {3, 4})}));
  const Origin moves{.regions = RegionList{{contiguousRegion(0, 0, 0, 4)}}};
  EXPECT_TRUE(exchangeable(moves, moves));
  EXPECT_FALSE(exchangeable({}, moves));
  EXPECT_FALSE(exchangeable(moves, {.regions = RegionList{{contiguousRegion(0, 1, 0, 4)}}}));
  EXPECT_FALSE(exchangeable(moves, {.regions = RegionList{{contiguousRegion(0, 0, 0, 4)}, RegionList::Fill::Zero}}));
}

TEST_F(ExecutionPoolTest, SaysWhyItMadeAnExecution) {
  const auto why = [&](const Origin& first, const Origin& second) {
    pool_.trim(0);
    static_cast<void>(take(first));
    static_cast<void>(take(second));
    return pool_.lastMade();
  };
  const auto expectPart = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expectPart(why({}, {.params = {1, 3}}), "Raster: its parameters differ");
  expectPart(why({}, {.layout = Layout::NC4HW4}), "types, layouts or small constants of inputs differ");
  const Origin moves{.regions = RegionList{{contiguousRegion(0, 0, 0, 4)}}};
  expectPart(why(moves, {.regions = RegionList{{contiguousRegion(0, 1, 0, 4)}}}), "regions differ");
  const TensorDesc desc{DType::Float32, {1000}};
  expectPart(why({.constant = *Tensor::onHost(desc)}, {.constant = *Tensor::onHost(desc)}),
             "memory of constants differ");
  pool_.trim(0);
  static_cast<void>(take({}));
  expectPart(pool_.lastMade(), "none was kept");
}

TEST_F(ExecutionPoolTest, CreatorsDoNotShare) {
  const Execution* made = &*take({});
  EXPECT_NE(&*take({}, &other_), made);
}

TEST_F(ExecutionPoolTest, LargeConstantsAreKnownByTheirMemory) {
  const TensorDesc desc{DType::Float32, {1000}};
  Origin origin{.constant = *Tensor::onHost(desc)}, same = origin, other{.constant = *Tensor::onHost(desc)};
  EXPECT_TRUE(exchangeable(origin, same));
  EXPECT_FALSE(exchangeable(origin, other));
  same.constant.offsetBytes = 4;
  EXPECT_FALSE(exchangeable(origin, same));
}

/// A buffer in the same place, the object and its bytes, each time.
std::shared_ptr<Buffer> bufferInOnePlace() {
  struct InOnePlace final : Buffer {
    InOnePlace() : Buffer(4000) {}
    std::byte* hostData() override { return bytes; }
    alignas(64) std::byte bytes[4000] = {};
  };
  alignas(InOnePlace) static std::byte place[sizeof(InOnePlace)];
  return {new (place) InOnePlace, [](InOnePlace* buffer) { buffer->~InOnePlace(); }};
}

TEST_F(ExecutionPoolTest, MemoryThatIsUsedAgainIsAnotherConstant) {
  const TensorDesc desc{DType::Float32, {1000}};
  static_cast<void>(take({.constant = {desc, bufferInOnePlace()}}));
  static_cast<void>(take({.constant = {desc, bufferInOnePlace()}}));
  EXPECT_EQ(pool_.created(), 2u);
}

TEST_F(ExecutionPoolTest, TrimDestroysTheOldestAndDiscardTheOnlyOne) {
  for (uint8_t i = 0; i < 4; ++i) static_cast<void>(take({.params = {i}}));
  EXPECT_EQ(alive_, 4);
  pool_.trim(2);
  EXPECT_EQ(alive_, 2);
  static_cast<void>(take({.params = {3}}));
  EXPECT_EQ(pool_.created(), 4u);
  static_cast<void>(take({.params = {0}}));
  EXPECT_EQ(pool_.created(), 5u);
  auto lease = take({.params = {3}});
  lease.discard();
  EXPECT_FALSE(lease);
  EXPECT_EQ(alive_, 2);
  pool_.trim(0);
  EXPECT_EQ(alive_, 0);
}

}  // namespace
}  // namespace opkit::pool
