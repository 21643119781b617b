// Damaged models are refused or run; they never crash, hang, or take more memory than the file justifies.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>

#include "fuzz/memory_limit.h"
#include "fuzz/mutate.h"
#include "fuzz/seed_models.h"
#include "fuzz/try_model.h"

namespace opkit::fuzz {
namespace {

constexpr size_t kMutants = 30000;  // of each run of the suite; two thirds are damaged anywhere, the others in values
constexpr unsigned kLongestSeconds = 20;  // for one mutant; a second would do

using Try = Outcome (*)(std::span<const uint8_t>);

void expectSurvives(const std::vector<uint8_t>& original, const std::vector<Stretch>& constants, size_t count,
                    uint64_t seed, Try tryBytes) {
  const MemoryLimit limit;
  std::mt19937_64 random(seed);
  std::map<Outcome, size_t> outcomes;
  for (size_t i = 0; i < count; ++i) {
    const Mutant mutant = i % 3 == 2 ? mutatePayload(original, constants, random) : mutate(original, random);
    // A crash or a hang ends the process: the output then shows how to repeat the mutant.
    SCOPED_TRACE(fmt::format("seed {}, mutant {}: {}", seed, i, mutant.what));
    alarm(kLongestSeconds);
    try {
      ++outcomes[tryBytes(mutant.bytes)];
    } catch (const std::exception& error) {
      ADD_FAILURE() << "an exception left the library: " << error.what();
    }
    alarm(0);
  }
  // Some damage must be refused and some must be accepted, or the test shows nothing.
  EXPECT_GT(outcomes[Outcome::Refused], count / 20);
  EXPECT_GT(outcomes[Outcome::Finished], count / 20);
}

TEST(Mutation, SeedsAreWhole) {
  for (const SeedModel& seed : seedModels()) {
    EXPECT_EQ(tryOnnx(seed.onnx), Outcome::Finished) << seed.name;
    EXPECT_EQ(tryOpk(seed.opk), Outcome::Finished) << seed.name;
  }
}

TEST(Mutation, EveryTruncationIsRefusedOrRuns) {
  for (const SeedModel& seed : seedModels())
    for (size_t size = 0; size < seed.opk.size(); ++size)
      EXPECT_EQ(tryOpk(std::span(seed.opk).first(size)), Outcome::Refused) << seed.name << " cut to " << size;
}

class MutationOf : public testing::TestWithParam<size_t> {};

TEST_P(MutationOf, Opk) {
  const std::vector<SeedModel> seeds = seedModels();
  const SeedModel& seed = seeds[GetParam()];
  expectSurvives(seed.opk, seed.opkConstants, kMutants / 2 / seeds.size(), 100 + GetParam(), tryOpk);
}

TEST_P(MutationOf, Onnx) {
  const std::vector<SeedModel> seeds = seedModels();
  const SeedModel& seed = seeds[GetParam()];
  expectSurvives(seed.onnx, seed.onnxConstants, kMutants / 2 / seeds.size(), 200 + GetParam(), tryOnnx);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MutationOf, testing::Range(size_t{0}, size_t{3}));

}  // namespace
}  // namespace opkit::fuzz
