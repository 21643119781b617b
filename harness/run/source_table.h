// SourceTable: the sources of a program, with a hash of each file, and those that have changed since. A program's
// results hold for the sources of its build; after a failed or missing build the tree differs.
//
// The table is written by a small program of the build whenever a source changes, so it is as old as the code linked
// with it. Thread-safe.
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
/// The sources that op-harness is made of, sorted by path: C++, schemas, shaders and cases, not tests. Empty if `root`
/// has none.
std::vector<SourceFile> sourcesOf(const std::string& root);

/// Paths in the tree that changed, appeared or vanished since `built`, in this order. A tree without CMakeLists.txt is
/// a copy of a part, in which nothing vanished. None if `root` has no sources, as for an installed program.
std::vector<std::string> changedSources(std::span<const SourceHash> built, const std::string& root);

/// Those of this program's build, without the operators that a partial build leaves out.
std::vector<std::string> changedSinceBuild(const std::string& root);

/// "ops/relu/relu_cpu.cpp and 3 more"
std::string listOf(const std::vector<std::string>& paths);

/// Warns in one line on stderr if sources of this program have changed since the build: its output holds for the old
/// ones. Sources below `unused` are not of this program. True if it warned.
bool noteOldBuild(std::string_view program, std::string_view unused = {});

}  // namespace opkit::harness
