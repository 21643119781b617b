// SourceTable: which sources a program was built of, by a hash of each file, and which of them are others by now. What
// a program says about an operator is true of the sources that it was built of; after a build that failed, or none,
// those in the tree are not the same.
//
// The table is written by a small program of the build whenever a source changes, so it is as old as what is linked
// beside it. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opkit::harness {

struct SourceHash {
  std::string_view path;  // below the source tree
  uint64_t hash;
};

/// As built. Generated; linked into op-harness.
std::span<const SourceHash> builtSources();

struct SourceFile {
  std::string path;
  uint64_t hash;
};
/// The sources that op-harness is made of, sorted by path: C++, schemas, shaders and cases, not tests. Empty where
/// `root` is no source tree.
std::vector<SourceFile> sourcesOf(const std::string& root);

/// Paths in the tree that changed, appeared or vanished since `built`, in this order. None where `root` is no source
/// tree, as where a program was installed.
std::vector<std::string> changedSources(std::span<const SourceHash> built, const std::string& root);

/// "ops/relu/relu_cpu.cpp and 3 more"
std::string listOf(const std::vector<std::string>& paths);

}  // namespace opkit::harness
