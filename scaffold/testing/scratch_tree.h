// ScratchTree: a folder that looks like a source tree of OpKit, for tests: the real families and a few operators.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "engine/base/where.h"
#include "scaffold/generate.h"
#include "scaffold/plan.h"
#include "scaffold/record.h"

namespace opkit::scaffold {

class ScratchTree {
 public:
  ScratchTree() {
    namespace fs = std::filesystem;
    std::string name = (fs::temp_directory_path() / "opkit-scaffold-XXXXXX").string();
    root_ = mkdtemp(name.data());
    const fs::path source = sourceTreeAround(OPKIT_SOURCE_DIR);
    for (const char* path : {"ops/unary", "ops/binary", "ops/softmax", "shaders/softmax", "engine/backend/null"}) {
      fs::create_directories(root_ / path);
      fs::copy(source / path, root_ / path, fs::copy_options::recursive);
    }
    for (const char* path : {"engine/op/op_def.h", ".clang-format", "engine/backend/CMakeLists.txt",
                             "engine/backend/backend_registry.cpp", "engine/backend/backend_registry.h"}) {
      fs::create_directories((root_ / path).parent_path());
      fs::copy_file(source / path, root_ / path);
    }
  }
  ~ScratchTree() { std::filesystem::remove_all(root_); }
  ScratchTree(const ScratchTree&) = delete;
  ScratchTree& operator=(const ScratchTree&) = delete;

  Tree tree() const { return Tree(root_.string()); }
  std::string root() const { return root_.string(); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  /// Every file's text, by path.
  std::map<std::string, std::string> snapshot() const {
    std::map<std::string, std::string> files;
    const Tree whole(root_.string());
    for (const std::string& path : whole.filesBelow(".")) files[path] = *whole.read(path);
    return files;
  }

 private:
  std::filesystem::path root_;
};

/// Does the work of `op-scaffold new`.
inline Status scaffold(const ScratchTree& scratch, const Spec& spec, bool force = false) {
  OPKIT_ASSIGN(Plan plan, planNew(scratch.tree(), Templates(), spec, force));
  plan.push_back(recordChange(scratch.tree(), spec.name, recordOf(plan, specToJson(spec))));
  return scratch.tree().apply(plan);
}

}  // namespace opkit::scaffold
