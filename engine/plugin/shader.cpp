#include "engine/plugin/shader.h"

#ifdef OPKIT_HAS_VULKAN
#include <set>

#include "engine/backend/vulkan/shader_build/compiler.h"
#include "engine/backend/vulkan/shader_build/generator.h"
#include "engine/backend/vulkan/shader_code.h"
#include "engine/plugin/builtin_includes.h"
#include "engine/plugin/call.h"

namespace opkit::plugin {

namespace build = shader_build;

struct Shader::Variant {
  std::string choice;  // "STORAGE=f16"
  std::string label;
  std::vector<uint32_t> spirv;
  std::vector<vulkan::Access> access;
  vulkan::ShaderCode code;
};

static bool isLeftOut = false;

bool Shader::available() { return !isLeftOut; }
void Shader::leaveOut() { isLeftOut = true; }

Result<std::shared_ptr<const Shader>> Shader::compile(const std::string& name, const std::string& source) {
  static const std::vector<std::string> kNoFolders;
  build::Shader made{name, {}, {}};
  OPKIT_ASSIGN(made.axes, build::parseAxes(name, source));
  std::set<std::string> read;
  for (const build::Choice& choice : build::allChoices(made.axes)) {
    auto compiled =
        build::compile(name, source, build::definesOf(made.axes, choice), kNoFolders, read, builtinIncludes());
    if (!compiled) return Status::invalidArgument("{}", oneLine(compiled.error().message()));
    auto reflection = build::reflect(compiled->plain);
    if (!reflection) return reflection.error().withContext(name);
    made.variants.push_back({choice, std::move(compiled->optimized), *std::move(reflection)});
  }
  OPKIT_ASSIGN(const build::Interface interface, build::commonInterface(made, source));

  auto shader = std::make_shared<Shader>();
  shader->name_ = name;
  shader->bindings_ = interface.bindingNames;
  shader->pushBytes_ = interface.pushBytes;
  for (const build::PushField& field : interface.push) {
    if (field.count > 0)
      return Status::invalidArgument("{}: push constant '{}' is a vector or an array; expected scalars", name,
                                     field.name);
    shader->push_.push_back({field.name, field.type, field.offset});
  }
  for (const build::SpecConstant& constant : interface.constants)
    shader->constants_.push_back({constant.name, constant.type, constant.defaultBits});
  for (const build::Axis& axis : made.axes)
    if (axis.name == "STORAGE" && axis.isDType()) shader->storage_ = axis.values;
  for (build::Variant& variant : made.variants) {
    auto* kept = new Variant;  // never freed: see the header
    kept->choice = build::describe(made.axes, variant.choice);
    kept->label = name + (kept->choice.empty() ? "" : " ") + kept->choice;
    kept->spirv = std::move(variant.spirv);
    kept->access = interface.access;
    for (const auto& [number, binding] : variant.reflection.bindings)
      if (binding.access == vulkan::Access::Texel) kept->access[number] = vulkan::Access::Texel;
    kept->code = {kept->label.c_str(),
                  kept->spirv,
                  kept->access,
                  interface.pushBytes,
                  static_cast<uint32_t>(interface.constants.size()),
                  variant.reflection.localSize};
    shader->variants_.push_back(kept);
  }
  return std::shared_ptr<const Shader>(std::move(shader));
}

Status Shader::requireStorage(const CreateArgs& args) const {
  if (storage_.empty()) return Status::ok();
  for (const TensorDesc& output : args.outputs)
    if (std::find(storage_.begin(), storage_.end(), nameOf(output.dtype)) == storage_.end())
      return Status::unsupported("{}: {} has no {} variant", args.def.type, name_, nameOf(output.dtype));
  return Status::ok();
}

Result<const vulkan::ShaderCode*> Shader::variant(const std::string& text) const {
  std::string known;
  for (const Variant* variant : variants_) {
    if (variant->choice == text) return &variant->code;
    known += (known.empty() ? "'" : ", '") + variant->choice + "'";
  }
  return Status::invalidArgument("{}: expected a variant among {}, got '{}'", name_, known, text);
}

}  // namespace opkit::plugin

#else

namespace opkit::plugin {

bool Shader::available() { return false; }
void Shader::leaveOut() {}
Result<std::shared_ptr<const Shader>> Shader::compile(const std::string& name, const std::string&) {
  return Status::unsupported("{}: this build has no Vulkan", name);
}

}  // namespace opkit::plugin
#endif
