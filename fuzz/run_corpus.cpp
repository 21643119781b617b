// Drives a libFuzzer target without libFuzzer: over the files named, or over the seeds and mutants of them. Keeps the
// targets compiling and working without clang. Writes the seeds with --write-seeds FOLDER.
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "engine/model/model.h"
#include "fuzz/mutate.h"
#include "fuzz/run_corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace opkit::fuzz {
namespace {

constexpr int kMutantsPerSeed = 200;

int writeSeeds(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const CorpusSeed& seed : corpusSeeds())
    if (const Status status = writeFile(folder + "/" + seed.name, seed.bytes); !status.isOk()) {
      fmt::print(stderr, "run_corpus: {}\n", status.message());
      return 2;
    }
  return 0;
}

int runSeeds() {
  std::mt19937_64 random(7);
  int inputs = 0;
  for (const CorpusSeed& seed : corpusSeeds())
    for (int i = 0; i < kMutantsPerSeed; ++i, ++inputs) {
      const std::vector<uint8_t> input = i == 0 ? seed.bytes : mutate(seed.bytes, random).bytes;
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  fmt::print("{} inputs\n", inputs);
  return inputs > 0 ? 0 : 3;
}

int runFiles(std::span<char*> files) {
  for (const char* file : files) {
    const auto bytes = readFile(file);
    if (!bytes) {
      fmt::print(stderr, "run_corpus: {}\n", bytes.error().message());
      return 2;
    }
    LLVMFuzzerTestOneInput(bytes->data(), bytes->size());
  }
  fmt::print("{} inputs\n", files.size());
  return 0;
}

}  // namespace
}  // namespace opkit::fuzz

int main(int argc, char** argv) {
  using namespace opkit::fuzz;
  if (argc == 3 && std::string_view(argv[1]) == "--write-seeds") return writeSeeds(argv[2]);
  return argc > 1 ? runFiles({argv + 1, static_cast<size_t>(argc - 1)}) : runSeeds();
}
