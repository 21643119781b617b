// Contents: what a plugin announced, copied out of its C structs and checked piece by piece.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/op/op_def.h"
#include "engine/plugin/attributes.h"
#include "engine/plugin/opkit_plugin.h"

namespace opkit::plugin {

class Shader;

struct KernelSpec {
  std::string provider;
  opkit_kernel functions{};
};

struct GlslSpec {
  std::string provider;
  opkit_glsl_kernel functions{};
  std::shared_ptr<const Shader> shader;  // shared: by the snapshots of a PluginSet
};

struct OperatorSpec {
  std::string type;
  std::string summary;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::shared_ptr<const AttributeSchema> schema;  // shared: by cards and calls
  NumericClass numeric = NumericClass::Exact;
  Domain domain;
  opkit_operator functions{};
  std::optional<KernelSpec> cpu;
  std::optional<GlslSpec> vulkan;
};

/// A kernel of an operator that exists: one of `cpu` and `vulkan`, or neither in a build without Vulkan.
struct AddedKernelSpec {
  std::string type;
  std::string backend;
  std::string name;
  DTypeSet dtypes;
  void* user = nullptr;
  std::optional<KernelSpec> cpu;
  std::optional<GlslSpec> vulkan;
};

struct BackendSpec {
  std::string name;
  std::string summary;
  std::string deviceName;
  opkit_backend functions{};
  KernelSpec kernel;
};

struct PassSpec {
  std::string name;
  std::string summary;
  opkit_pass functions{};
};

struct Contents {
  std::string name;
  std::string version;
  std::string path;
  std::vector<OperatorSpec> operators;
  std::vector<AddedKernelSpec> kernels;
  std::vector<BackendSpec> backends;
  std::vector<PassSpec> passes;
};

}  // namespace opkit::plugin
