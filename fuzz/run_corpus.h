// The seeds of a libFuzzer target, for run_corpus.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opkit::fuzz {

struct CorpusSeed {
  std::string name;  // of its file
  std::vector<uint8_t> bytes;
};

/// Each target defines its own; none is empty.
std::vector<CorpusSeed> corpusSeeds();

}  // namespace opkit::fuzz
