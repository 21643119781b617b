// BuildFacts: what this build was made of and where, for result lines, capsules and the commands that read the sources.
//
// Values live in one generated source, so that another commit or a copy of the tree elsewhere recompiles that one
// alone. Thread-safe.
#pragma once

namespace opkit::harness {

struct BuildFacts {
  const char* version;
  const char* commit;  // "" outside git
  bool dirty;          // files of the commit were changed when it was configured
  const char* compiler;
  const char* buildType;
  const char* sourceFolder;  // absolute
};

extern const BuildFacts kBuildFacts;

}  // namespace opkit::harness
