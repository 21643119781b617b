#include "engine/backend/vulkan/shader_build/generator.h"

#include <algorithm>
#include <map>

#include "engine/tensor/dtype.h"

namespace opkit::shader_build {
namespace {

std::string structName(const Shader& shader) { return upperCamel(shader.name.substr(shader.name.rfind('/') + 1)); }

std::string label(const Shader& shader, const Variant& variant) {
  const std::string text = describe(shader.axes, variant.choice);
  return text.empty() ? shader.name : shader.name + " " + text;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The name declared first in the shader's text; declarations in includes come later.
std::string firstDeclared(std::vector<std::string> names, const std::string& source) {
  std::sort(names.begin(), names.end());
  return *std::min_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return source.find(" " + a + "[") < source.find(" " + b + "[");
  });
}

Status mergeBindings(const Shader& shader, const std::string& source, Interface& into) {
  std::map<uint32_t, BindingInfo> bindings;
  for (const Variant& variant : shader.variants)
    for (const auto& [number, info] : variant.reflection.bindings) mergeBinding(info, bindings[number]);
  for (const auto& [number, info] : bindings) {
    into.bindingNames.push_back(firstDeclared(info.names, source));
    into.access.push_back(info.access);
    if (number != into.access.size() - 1)
      return Status::invalidArgument("{}: bindings must be numbered 0, 1, 2 ...: '{}' has {}, expected {}", shader.name,
                                     into.bindingNames.back(), number, into.access.size() - 1);
  }
  return Status::ok();
}

Status mergeConstants(const Reflection& from, const std::string& who, std::vector<SpecConstant>& into) {
  for (const SpecConstant& constant : from.constants) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const auto& c) { return c.id == constant.id; });
    if (same == into.end())
      into.push_back(constant);
    else if (!(*same == constant))
      return Status::invalidArgument("{}: specialisation constant {} is '{}' but '{}' in another variant", who,
                                     constant.id, constant.name, same->name);
  }
  return Status::ok();
}

const char* dtypeEnumerator(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "Float32";
    case DType::Float16: return "Float16";
    case DType::Float64: return "Float64";
    case DType::Int8: return "Int8";
    case DType::UInt8: return "UInt8";
    case DType::Int16: return "Int16";
    case DType::UInt16: return "UInt16";
    case DType::Int32: return "Int32";
    case DType::UInt32: return "UInt32";
    case DType::Int64: return "Int64";
    case DType::UInt64: return "UInt64";
    case DType::Bool: return "Bool";
    case DType::BFloat16: return "BFloat16";
    case DType::Float8E4M3FN: return "Float8E4M3FN";
    case DType::Float8E4M3FNUZ: return "Float8E4M3FNUZ";
    case DType::Float8E5M2: return "Float8E5M2";
    case DType::Float8E5M2FNUZ: return "Float8E5M2FNUZ";
    case DType::Float8E8M0: return "Float8E8M0";
    case DType::Float4E2M1: return "Float4E2M1";
    case DType::Int4: return "Int4";
    case DType::UInt4: return "UInt4";
    case DType::Int2: return "Int2";
    case DType::UInt2: return "UInt2";
    case DType::String: return "String";
    case DType::Sequence: return "Sequence";
    case DType::Optional: return "Optional";
  }
  return "";
}

/// The enum of an axis and the functions that pick its values.
std::string axisText(const Axis& axis) {
  const std::string type = upperCamel(axis.name);
  std::string text = fmt::format("  enum class {} : size_t {{ ", type);
  for (size_t v = 0; v < axis.values.size(); ++v) text += (v == 0 ? "" : ", ") + upperCamel(axis.values[v]);
  text += " };\n";
  if (axis.isDType()) {
    text += fmt::format(
        "  /// Nothing where no variant was compiled for `dtype`.\n"
        "  static std::optional<{0}> {1}Of(DType dtype) {{\n    switch (dtype) {{\n",
        type, lowerCamel(axis.name));
    for (const std::string& value : axis.values)
      text += fmt::format("      case DType::{}: return {}::{};\n", dtypeEnumerator(*dtypeFromName(value)), type,
                          upperCamel(value));
    text += "      default: return std::nullopt;\n    }\n  }\n";
  }
  if (axis.isWord()) {
    text += fmt::format(
        "  /// The variant that moves words of `sizeBytes` bytes.\n"
        "  static std::optional<{0}> {1}OfBytes(size_t sizeBytes) {{\n    switch (sizeBytes) {{\n",
        type, lowerCamel(axis.name));
    std::vector<size_t> seen;
    for (const std::string& value : axis.values) {
      const size_t bytes = wordBytes(value);
      if (std::find(seen.begin(), seen.end(), bytes) != seen.end()) continue;
      seen.push_back(bytes);
      text += fmt::format("      case {}: return {}::{};\n", bytes, type, upperCamel(value));
    }
    text += "      default: return std::nullopt;\n    }\n  }\n";
  }
  return text;
}

std::string variantText(const Shader& shader) {
  std::string text = "  struct Variant {\n";
  for (const Axis& axis : shader.axes)
    text += fmt::format("    {} {} = {{}};\n", upperCamel(axis.name), lowerCamel(axis.name));
  return text + "  };\n";
}

/// The C++ type of a push constant: integers are narrowed, with a check, when they are packed.
std::string statedType(const PushField& field) {
  const bool narrowed = field.type == "uint32_t" || field.type == "int32_t";
  const std::string scalar = narrowed ? "int64_t" : field.type;
  return field.count > 0 ? fmt::format("std::array<{}, {}>", scalar, field.count) : scalar;
}

std::string pushText(const std::string& shader, const Interface& interface) {
  std::string text = fmt::format("  static constexpr size_t kPushConstantBytes = {};\n  struct PushConstants {{\n",
                                 interface.pushBytes);
  for (const PushField& field : interface.push) text += fmt::format("    {} {}{{}};\n", statedType(field), field.name);
  text +=
      "    /// Writes what the shader reads. Unsupported names a member whose value does not fit.\n"
      "    Status pack(std::span<std::byte, kPushConstantBytes> bytes) const {\n";
  text += fmt::format("      vulkan::PushWriter writer(\"{}\", bytes);\n", shader);
  for (const PushField& field : interface.push)
    text += fmt::format("      writer.put<{0}>({1}, \"{2}\", {2});\n", field.type, field.offset, field.name);
  return text + "      return writer.status();\n    }\n  };\n";
}

std::string bindingsText(const Interface& interface) {
  std::string text = "  struct Bindings {\n";
  for (const std::string& name : interface.bindingNames) text += fmt::format("    const Tensor* {} = nullptr;\n", name);
  return text + fmt::format("    std::array<const Tensor*, {}> list() const {{ return {{{}}}; }}\n  }};\n",
                            interface.bindingNames.size(), join(interface.bindingNames));
}

std::string defaultOf(const SpecConstant& constant) {
  if (constant.type == "float") return fmt::format("std::bit_cast<float>(uint32_t{{0x{:08x}u}})", constant.defaultBits);
  if (constant.type == "bool") return constant.defaultBits != 0 ? "true" : "false";
  if (constant.type == "int32_t") return fmt::format("{}", static_cast<int32_t>(constant.defaultBits));
  return fmt::format("{}u", constant.defaultBits);
}

/// A struct with default member initialisers cannot be a default argument of its own class's members, but the
/// Encoder's template sees it complete.
std::string constantsText(const Interface& interface) {
  std::string text = "  struct Constants {\n";
  std::string list;
  for (const SpecConstant& constant : interface.constants) {
    text += fmt::format("    {} {} = {};\n", constant.type, constant.name, defaultOf(constant));
    list += list.empty() ? "" : ", ";
    list += constant.type == "bool" ? fmt::format("{} ? 1u : 0u", constant.name)
                                    : fmt::format("std::bit_cast<uint32_t>({})", constant.name);
  }
  return text + fmt::format("    std::array<uint32_t, {}> list() const {{ return {{{}}}; }}\n  }};\n",
                            interface.constants.size(), list);
}

std::string wordsText(const std::vector<uint32_t>& words) {
  std::string text;
  text.reserve(words.size() * 11);
  for (size_t i = 0; i < words.size(); ++i) text += fmt::format("{}{:#x},", i % 12 == 0 ? "\n    " : "", words[i]);
  return text;
}

const char* accessName(vulkan::Access access) {
  switch (access) {
    case vulkan::Access::Read: return "Read";
    case vulkan::Access::Write: return "Write";
    case vulkan::Access::ReadWrite: return "ReadWrite";
    case vulkan::Access::Texel: return "Texel";
    case vulkan::Access::Image: return "Image";
    case vulkan::Access::ImageWrite: return "ImageWrite";
  }
  return "";
}

/// How one variant uses each binding: as in the interface, except bindings that it reads through texels.
std::string accessText(const Variant& variant, const Interface& interface) {
  std::string text;
  for (size_t i = 0; i < interface.access.size(); ++i) {
    const auto own = variant.reflection.bindings.find(static_cast<uint32_t>(i));
    const bool texels = own != variant.reflection.bindings.end() && own->second.access == vulkan::Access::Texel;
    text += fmt::format("vulkan::Access::{}, ", accessName(texels ? vulkan::Access::Texel : interface.access[i]));
  }
  return text;
}

}  // namespace

Result<Interface> commonInterface(const Shader& shader, const std::string& source) {
  Interface interface;
  OPKIT_TRY(mergeBindings(shader, source, interface));
  for (const Variant& variant : shader.variants) {
    const std::string who = label(shader, variant);
    const Reflection& reflection = variant.reflection;
    if (interface.push.empty()) {
      interface.push = reflection.push;
      interface.pushBytes = reflection.pushBytes;
    } else if (!reflection.push.empty() && reflection.push != interface.push) {
      return Status::invalidArgument("{}: push constants differ from those of another variant", who);
    }
    OPKIT_TRY(mergeConstants(reflection, who, interface.constants));
  }
  std::sort(interface.constants.begin(), interface.constants.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  for (size_t i = 0; i < interface.constants.size(); ++i)
    if (interface.constants[i].id != i)
      return Status::invalidArgument("{}: specialisation constants must have ids 0, 1, 2 ...: '{}' has {}, expected {}",
                                     shader.name, interface.constants[i].name, interface.constants[i].id, i);
  if (interface.pushBytes > 128)
    return Status::invalidArgument("{}: {} bytes of push constants; devices promise only 128", shader.name,
                                   interface.pushBytes);
  return interface;
}

std::string headerText(const Shader& shader, const Interface& interface) {
  const std::string name = structName(shader);
  std::string text = fmt::format(
      "// Generated from shaders/{}.comp.\n#pragma once\n\n#include <array>\n#include <bit>\n#include <cstddef>\n"
      "#include <cstdint>\n#include <optional>\n\n#include \"engine/backend/vulkan/push_writer.h\"\n#include "
      "\"engine/backend/vulkan/shader_code.h\"\n"
      "#include \"engine/tensor/dtype.h\"\n\nnamespace opkit::shaders {{\n\nstruct {} {{\n",
      shader.name, name);
  for (const Axis& axis : shader.axes) text += axisText(axis);
  text += variantText(shader) + pushText(shader.name, interface) + bindingsText(interface) + constantsText(interface);
  return text +
         "  static const vulkan::ShaderCode& code(const Variant& variant);\n};\n\n}  // namespace opkit::shaders\n";
}

/// The tables are local to the one function, so that many sources can be compiled as one.
std::string sourceText(const Shader& shader, const Interface& interface) {
  std::string text = fmt::format(
      "// Generated from shaders/{0}.comp.\n#include \"shaders/{0}.h\"\n\n"
      "namespace opkit::shaders {{\n\nconst vulkan::ShaderCode& {1}::code({2}const Variant& variant) {{\n",
      shader.name, structName(shader), shader.axes.empty() ? "[[maybe_unused]] " : "");
  for (size_t v = 0; v < shader.variants.size(); ++v)
    text += fmt::format("  static constexpr uint32_t kSpirv{}[] = {{{}}};\n", v, wordsText(shader.variants[v].spirv));
  for (size_t v = 0; v < shader.variants.size(); ++v)
    text += fmt::format("  static constexpr std::array<vulkan::Access, {}> kAccess{}{{{}}};\n", interface.access.size(),
                        v, accessText(shader.variants[v], interface));
  text += "  static constexpr vulkan::ShaderCode kCodes[] = {\n";
  for (size_t v = 0; v < shader.variants.size(); ++v) {
    const Reflection& reflection = shader.variants[v].reflection;
    text += fmt::format("      {{\"{}\", kSpirv{}, kAccess{}, {}, {}, {{{}}}, {{{}}}}},\n",
                        label(shader, shader.variants[v]), v, v, interface.pushBytes, interface.constants.size(),
                        fmt::join(reflection.localSize, ", "), fmt::join(reflection.localSizeConstants, ", "));
  }
  text += "  };\n  size_t index = 0;\n";
  for (const Axis& axis : shader.axes)
    text += fmt::format("  index = index * {} + static_cast<size_t>(variant.{});\n", axis.values.size(),
                        lowerCamel(axis.name));
  return text + "  return kCodes[index];\n}\n\n}  // namespace opkit::shaders\n";
}

}  // namespace opkit::shader_build
