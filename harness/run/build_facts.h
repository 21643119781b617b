// BuildFacts: commit and location of this build, for result lines, capsules and the commands that read the sources.
//
// Values live in one generated source, so that another commit or location recompiles only that one. Thread-safe.
#pragma once

#include <string>

namespace opkit::harness {

struct BuildFacts {
  const char* version;
  const char* commit;  // "" outside git
  bool dirty;          // files differed from the commit at configure time
  const char* compiler;
  const char* buildType;
  const char* simdAlone;     // "AVX3" in a build for one instruction set (OPKIT_SIMD=native), else ""
  const char* operators;     // "Softmax,Add" in a partial build (OPKIT_OPS), else ""
  const char* folders;       // those of ops/ and shaders/ in a partial build: ";softmax;binary;"
  int allOperators;          // in a partial build: those of the whole tree
  const char* sourceFolder;  // absolute, at configure time
};

extern const BuildFacts kBuildFacts;

/// The source tree that contains this program's build folder, else the configured one. So a tree moved or copied with
/// its build folder is found.
std::string sourceFolder();

}  // namespace opkit::harness
