// Shader: a plugin's GLSL, compiled and reflected in process by the stages of the build's own shader compiler.
//
// Immutable. SPIR-V is kept for the life of the process, because pipeline caches know it by its address.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend/creator.h"

namespace opkit::vulkan {
struct ShaderCode;
}

namespace opkit::plugin {

class Shader {
 public:
  /// False in a build without Vulkan: plugins run without their GLSL kernels.
  static bool available();
  /// From now on as in a build without Vulkan. For a process that only tries a plugin.
  static void leaveOut();
  /// InvalidArgument carries the compiler's first lines, "name:LINE: error: ...".
  static Result<std::shared_ptr<const Shader>> compile(const std::string& name, const std::string& source);

  struct Push {
    std::string name;
    std::string type;
    uint32_t offset;
  };
  struct Constant {
    std::string name;
    std::string type;
    uint32_t defaultBits;
  };

  /// OK when a STORAGE axis, if there is one, has the outputs' dtypes.
  Status requireStorage(const CreateArgs& args) const;
  /// The variant called so; InvalidArgument lists those there are.
  Result<const vulkan::ShaderCode*> variant(const std::string& text) const;

  const std::string& name() const { return name_; }
  const std::vector<std::string>& bindings() const { return bindings_; }
  const std::vector<Push>& push() const { return push_; }
  uint32_t pushBytes() const { return pushBytes_; }
  const std::vector<Constant>& constants() const { return constants_; }

 private:
  struct Variant;
  std::string name_;
  std::vector<std::string> bindings_;
  std::vector<Push> push_;
  uint32_t pushBytes_ = 0;
  std::vector<Constant> constants_;
  std::vector<std::string> storage_;      // values of the axis STORAGE; empty without one
  std::vector<const Variant*> variants_;  // kept for the life of the process
};

}  // namespace opkit::plugin
