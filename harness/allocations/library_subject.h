// LibrarySubject: a network as a program uses it that links libopkit (api/opkit.h). On the CPU, with one input of f32.
#pragma once

#include <string>
#include <vector>

#include "harness/allocations/trial.h"

namespace opkit::harness {

struct LibraryUse {
  std::string name;
  std::string file;
  std::string input;
  std::vector<int64_t> shape;
};

/// `use` must outlive the network.
Network networkOf(const LibraryUse& use);

}  // namespace opkit::harness
