// OperatorBuild: the C++ of one operator's folder as a shared object, for `watch`.
//
// The objects are made for this machine's instruction set with little optimisation, which takes seconds where the build
// takes minutes. Ninja decides which sources changed. The library finds the rest of the engine in this program, so it
// fits only the build of this program: flags, generated headers and symbols come from there. Used by one thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/op/op_registry.h"

namespace opkit::harness {

/// Rules of ONNX and graph passes, which a library does not replace: they need a build.
inline bool isOutsideLibrary(const std::string& path) {
  return path.ends_with("_onnx.cpp") || path.ends_with("_rules.cpp") || path.ends_with("_passes.cpp");
}

class OperatorBuild {
 public:
  /// The C++ of root/ops/<folder> for each folder. Unsupported if this program lies in no build folder with
  /// compile_commands.json, or was built without symbols for libraries.
  static Result<OperatorBuild> create(const std::string& root, const std::set<std::string>& folders);

  /// Compiles what changed and links; returns the path of the library. InvalidArgument holds the compiler's messages.
  Result<std::string> run() const;

 private:
  OperatorBuild(std::string root, std::set<std::string> folders)
      : root_(std::move(root)), folders_(std::move(folders)) {}
  Status writeFiles(const std::string& build) const;

  std::string root_;
  std::set<std::string> folders_;
  std::string work_;  // where objects are kept between runs of watch
};

/// A copy of the registry in which the cards and Creators of these folders are those of the library; passes stay those
/// of the program. The library is never unloaded: call it in a process that ends. InvalidArgument if it cannot be
/// loaded.
Result<OpRegistry> withLibrary(const OpRegistry& registry, const std::set<std::string>& folders,
                               const std::string& library);

}  // namespace opkit::harness
