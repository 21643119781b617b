// The instrument itself: what counts as OpKit's request, and that a trial and a sweep find each kind of fault.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "engine/base/guard.h"
#include "engine/base/host_memory.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/model/model.h"
#include "harness/allocations/sweep.h"

namespace opkit::harness {
namespace {

/// Requests of `kind` that `body` makes.
uint64_t requestsOf(Request kind, const std::function<void()>& body) {
  const RefusalWindow window(kind, UINT64_MAX);
  body();
  return window.requests(kind);
}

TEST(Refusals, OfMemoryAreThoseOfThisProgramAndOfTheStandardLibraryForIt) {
  std::unique_ptr<int> kept;  // or the compiler leaves the request out
  EXPECT_EQ(requestsOf(Request::Memory, [&] { kept = std::make_unique<int>(1); }), 1u);
  std::string text;
  const auto grow = [&text] { text.append(1000, 'x'); };  // in the library
  EXPECT_EQ(requestsOf(Request::Memory, grow), 1u);
  EXPECT_GE(requestsOf(Request::Memory, [&] { text = fmt::format("{:>2000}", 1); }), 2u);  // fmt's buffer, the string
}

TEST(Refusals, OfMemorySpareOtherLibraries) {
  onnx::ModelProto proto;
  EXPECT_EQ(requestsOf(Request::Memory, [&] { proto.ParseFromArray("\x12\x03xyz", 5); }), 0u);
  EXPECT_EQ(proto.producer_name(), "xyz");
  std::unique_ptr<int> kept;
  const auto pausing = [&] {
    const RefusalPause pause;
    kept = std::make_unique<int>(1);
  };
  EXPECT_EQ(requestsOf(Request::Memory, pausing), 0u);
}

TEST(Refusals, ComeOnceAfterTheGrantedRequests) {
  RefusalWindow window(Request::Memory, 2);
  std::vector<bool> given;
  {
    const RefusalPause pause;
    given.reserve(10);
  }
  for (int i = 0; i < 5; ++i) given.push_back(std::unique_ptr<int>(new (std::nothrow) int(1)) != nullptr);
  EXPECT_TRUE(window.struck());
  window.disarm();
  const RefusalPause pause;
  EXPECT_EQ(given, (std::vector<bool>{true, true, false, true, true}));
}

TEST(Refusals, OfThreadsAndFilesAreErrors) {
  {
    RefusalWindow window(Request::Thread, 0);
    const Status status = guarded([] {
      std::thread([] {}).join();
      return Status::ok();
    });
    EXPECT_TRUE(window.disarm());
    EXPECT_FALSE(status.isOk());
  }
  const std::string path = testing::TempDir() + "refused";
  const std::vector<uint8_t> bytes(10);
  for (uint64_t i = 0; i < 2; ++i) {  // open, write
    RefusalWindow window(Request::File, i);
    EXPECT_EQ(writeFile(path, bytes).code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(window.disarm());
  }
  EXPECT_EQ(requestsOf(Request::File, [&] { static_cast<void>(readFile(path)); }), 1u);  // there is none
}

/// Allocates in its only step; `fault` happens there when it gets no memory.
class Example final : public Subject {
 public:
  enum class Fault {
    None,
    Leaks,
    LeaksHostBytes,
    Throws,
    Aborts,
    Internal,
    TwoLines,
    FailsAgain,
    OtherValues,
    FailsAlways
  };
  explicit Example(Fault fault) : fault_(fault) {}
  size_t stepCount() const override { return 1; }
  const char* nameOf(size_t) const override { return "run"; }
  std::string valuesAfter(size_t) override { return value_; }

  Status step(size_t) override {
    if (fault_ == Fault::FailsAlways || (failed_ && fault_ == Fault::FailsAgain)) return Status::unsupported("again");
    const std::unique_ptr<int> first(new (std::nothrow) int(1)), second(new (std::nothrow) int(2));
    if (first && second) return Status::ok();
    failed_ = true;
    if (fault_ == Fault::Leaks) static_cast<void>(std::make_unique<int>(3).release());
    if (fault_ == Fault::LeaksHostBytes) static_cast<void>(takeHostMemory(5));
    if (fault_ == Fault::Throws) throw std::bad_alloc();
    if (fault_ == Fault::Aborts) std::abort();
    if (fault_ == Fault::Internal) return Status::internal("no value");
    if (fault_ == Fault::OtherValues) value_ = "2";
    return Status::outOfMemory("{}", fault_ == Fault::TwoLines ? "one\ntwo" : "no memory");
  }

 private:
  const Fault fault_;
  bool failed_ = false;
  std::string value_ = "1";
};

Network networkWith(Example::Fault fault) {
  return {"example", [fault] { return std::make_unique<Example>(fault); }};
}

TEST(Trial, FindsEachKindOfFault) {
  using Fault = Example::Fault;
  const std::map<Fault, std::string> faults{{Fault::None, ""},
                                            {Fault::Leaks, "blocks of memory before, "},
                                            {Fault::LeaksHostBytes, "bytes of host tensors before, "},
                                            {Fault::Throws, "run: threw std::bad_alloc"},
                                            {Fault::Internal, "run: expected OutOfMemory, got Internal: no value"},
                                            {Fault::TwoLines, "run: expected an error of one line, got 'one\ntwo'"},
                                            {Fault::FailsAgain, "run: failed again with nothing refused"},
                                            {Fault::OtherValues, "run: gave other values after the refusal"}};
  const std::vector<std::string> expected = runUndisturbed(networkWith(Fault::None)).values;
  for (const auto& [fault, text] : faults) {
    const Network network = networkWith(fault);
    for (uint64_t grants = 0; grants < 2; ++grants) {
      const TrialResult result = runTrial(network, {Refused::Kind::Memory, grants}, &expected);
      EXPECT_TRUE(result.reached) << text;
      EXPECT_FALSE(result.tolerated) << text;
      EXPECT_NE(result.fault.find(text), std::string::npos) << result.fault << "\nexpected " << text;
      EXPECT_EQ(result.fault.empty(), text.empty()) << result.fault;
    }
    const TrialResult beyond = runTrial(network, {Refused::Kind::Memory, 2}, &expected);
    EXPECT_FALSE(beyond.reached);
    EXPECT_EQ(beyond.fault, "");
  }
  EXPECT_NE(runUndisturbed(networkWith(Fault::FailsAlways)).fault.find("failed with nothing refused"),
            std::string::npos);
}

TEST(Sweep, CountsEveryRequestAndGoesOnAfterACrash) {
  using Fault = Example::Fault;
  const auto subject = [](const char* name, Fault fault) {
    return SweepSubject{name, [fault] { return networkWith(fault); }};
  };
  const auto result = sweep({subject("good", Fault::None), subject("aborts", Fault::Aborts)}, {});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->all().requests, 4u);
  EXPECT_EQ(result->all().refused, 4u);
  EXPECT_EQ(result->all().tolerated, 0u);
  ASSERT_EQ(result->faults.size(), 2u);
  for (uint64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(result->faults[i].subject, "aborts");
    EXPECT_EQ(result->faults[i].refused.grants, i);
    EXPECT_NE(result->faults[i].what.find("signal 6"), std::string::npos) << result->faults[i].what;
  }
}

TEST(Sweep, ANetworkThatFailsUndisturbedIsAFault) {
  const auto result = sweep({{"never", [] { return networkWith(Example::Fault::FailsAlways); }}}, {});
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_FALSE(result->faults.empty());
  EXPECT_NE(result->faults[0].what.find("undisturbed: "), std::string::npos) << result->faults[0].what;
}

}  // namespace
}  // namespace opkit::harness
