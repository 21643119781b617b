// BuildFacts: what this build was made of and where, for result lines, capsules and the commands that read the sources.
//
// Values live in one generated source, so that another commit or a copy of the tree elsewhere recompiles that one
// alone. Thread-safe.
#pragma once

#include <string>

namespace opkit::harness {

struct BuildFacts {
  const char* version;
  const char* commit;  // "" outside git
  bool dirty;          // files of the commit were changed when it was configured
  const char* compiler;
  const char* buildType;
  const char* sourceFolder;  // absolute, where it was configured
};

extern const BuildFacts kBuildFacts;

/// The source tree that this program's build folder lies in, else the one that it was configured for. A tree that was
/// moved or copied with its build folder is its own.
std::string sourceFolder();

}  // namespace opkit::harness
