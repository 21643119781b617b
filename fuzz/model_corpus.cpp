#include "fuzz/run_corpus.h"
#include "fuzz/seed_models.h"

namespace opkit::fuzz {

/// Of both targets over models.
std::vector<CorpusSeed> corpusSeeds() {
  std::vector<CorpusSeed> seeds;
  for (const SeedModel& seed : seedModels()) {
    seeds.push_back({seed.name + ".onnx", seed.onnx});
    seeds.push_back({seed.name + ".opk", seed.opk});
  }
  return seeds;
}

}  // namespace opkit::fuzz
