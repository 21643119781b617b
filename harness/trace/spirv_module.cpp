#include "harness/trace/spirv_module.h"

#define SPV_ENABLE_UTILITY_CODE
#include <spirv_cross/spirv.h>

#include <algorithm>

namespace opkit::harness {
namespace {

/// The text that begins at a word.
std::string literal(std::span<const uint32_t> words) {
  const char* begin = reinterpret_cast<const char*>(words.data());
  return {begin, std::find(begin, begin + words.size_bytes(), '\0')};
}

uint32_t roundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Result<SpirvModule> SpirvModule::read(std::span<const uint32_t> spirv) {
  SpirvModule module;
  OPKIT_TRY(forEachInstruction(spirv, [&](const SpirvInstruction& i) { module.read(i); }));
  module.bound_ = spirv[3];
  if (module.entry_ == 0) return Status::invalidArgument("SPIR-V: no entry point");
  return module;
}

void SpirvModule::read(const SpirvInstruction& i) {
  const auto& w = i.words;
  switch (i.opcode) {
    case SpvOpEntryPoint: entry_ = w[2]; return;
    case SpvOpCapability:
      subgroups_ = subgroups_ || (w[1] >= SpvCapabilityGroupNonUniform && w[1] <= SpvCapabilityGroupNonUniformQuad);
      return;
    case SpvOpString: texts_[w[1]] = literal(w.subspan(2)); return;
    case SpvOpName: names_[w[1]] = literal(w.subspan(2)); return;
    case SpvOpMemberName:
      if (w[2] == 0) memberNames_[w[1]] = literal(w.subspan(3));
      return;
    case SpvOpDecorate:
    case SpvOpMemberDecorate: readDecoration(i); return;
    default: break;
  }
  if (i.opcode >= SpvOpTypeVoid && i.opcode <= SpvOpTypeForwardPointer)
    types_[w[1]] = {i.opcode, {w.begin() + 2, w.end()}};
  else
    readResult(i);
}

void SpirvModule::readDecoration(const SpirvInstruction& i) {
  const auto& w = i.words;
  if (i.opcode == SpvOpMemberDecorate) {
    if (w[3] == SpvDecorationOffset) offsets_[{w[1], w[2]}] = w[4];
    return;
  }
  switch (w[2]) {
    case SpvDecorationBinding: bindings_[w[1]] = w[3]; break;
    case SpvDecorationArrayStride: strides_[w[1]] = w[3]; break;
    case SpvDecorationBuiltIn: builtins_[w[3]] = w[1]; break;
    default: break;
  }
}

void SpirvModule::readResult(const SpirvInstruction& i) {
  bool hasResult = false, hasType = false;
  SpvHasResultAndType(static_cast<SpvOp>(i.opcode), &hasResult, &hasType);
  if (!hasResult || !hasType) return;
  const auto& w = i.words;
  const uint32_t id = w[2];
  typeOf_[id] = w[1];
  switch (i.opcode) {
    case SpvOpConstant: constants_[id] = w[3]; break;
    case SpvOpConstantNull: constants_[id] = 0; break;
    case SpvOpVariable: classes_[id] = w[3]; break;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain: chains_[id] = {w[3], {w.begin() + 4, w.end()}}; break;
    case SpvOpCopyObject: chains_[id] = {w[3], {}}; break;
    case SpvOpLoad:
      if (find(classes_, w[3]) == SpvStorageClassUniformConstant && classes_.contains(w[3])) images_[id] = w[3];
      break;
    case SpvOpImage: images_[id] = imageVariable(w[3]); break;
    default: break;
  }
}

const SpirvModule::Type* SpirvModule::type(uint32_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

uint32_t SpirvModule::storageClass(uint32_t pointer) const {
  const Type* t = type(types_.contains(pointer) ? pointer : typeOf(pointer));
  return t && t->opcode == SpvOpTypePointer ? t->operands[0] : UINT32_MAX;
}

uint32_t SpirvModule::pointee(uint32_t pointer) const {
  const Type* t = type(types_.contains(pointer) ? pointer : typeOf(pointer));
  return t && t->opcode == SpvOpTypePointer ? t->operands[1] : 0;
}

uint32_t SpirvModule::width(uint32_t id) const {
  const Type* t = type(id);
  return t && (t->opcode == SpvOpTypeInt || t->opcode == SpvOpTypeFloat) ? t->operands[0] : 32;
}

bool SpirvModule::isSigned(uint32_t id) const {
  const Type* t = type(id);
  return t && t->opcode == SpvOpTypeInt && t->operands[1] == 1;
}

uint32_t SpirvModule::componentType(uint32_t id) const {
  const Type* t = type(id);
  return t && t->opcode == SpvOpTypeVector ? t->operands[0] : id;
}

std::optional<uint32_t> SpirvModule::constant(uint32_t id) const {
  const auto found = constants_.find(id);
  return found == constants_.end() ? std::nullopt : std::optional(found->second);
}

std::string SpirvModule::name(uint32_t id) const {
  if (const auto found = names_.find(id); found != names_.end() && !found->second.empty()) return found->second;
  const auto member = memberNames_.find(pointee(id));
  return member == memberNames_.end() ? "" : member->second;
}

std::string SpirvModule::text(uint32_t stringId) const {
  const auto found = texts_.find(stringId);
  return found == texts_.end() ? "" : found->second;
}

/// As std430 lays it out; shared variables have no decorations.
uint32_t SpirvModule::alignment(uint32_t id) const {
  const Type* t = type(id);
  if (!t) return 4;
  switch (t->opcode) {
    case SpvOpTypeVector: return sizeBytes(t->operands[0]) * (t->operands[1] == 2 ? 2 : 4);
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
    case SpvOpTypeMatrix: return alignment(t->operands[0]);
    case SpvOpTypeStruct: {
      uint32_t most = 1;
      for (const uint32_t member : t->operands) most = std::max(most, alignment(member));
      return most;
    }
    default: return sizeBytes(id);
  }
}

uint32_t SpirvModule::sizeBytes(uint32_t id) const {
  const Type* t = type(id);
  if (!t) return 0;
  switch (t->opcode) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat: return t->operands[0] / 8;
    case SpvOpTypeBool: return 4;
    case SpvOpTypeVector: return sizeBytes(t->operands[0]) * t->operands[1];
    case SpvOpTypeMatrix: return stride(id) * t->operands[1];
    case SpvOpTypeArray: return stride(id) * constant(t->operands[1]).value_or(0);
    case SpvOpTypeStruct: {
      const auto last = static_cast<uint32_t>(t->operands.size() - 1);
      return t->operands.empty() ? 0 : memberOffset(id, last) + sizeBytes(t->operands[last]);
    }
    default: return 0;
  }
}

uint32_t SpirvModule::memberOffset(uint32_t structure, uint32_t member) const {
  if (const auto given = offsets_.find({structure, member}); given != offsets_.end()) return given->second;
  const Type* t = type(structure);
  uint32_t offset = 0;
  for (uint32_t i = 0; i <= member; ++i) {
    offset = roundUp(offset, alignment(t->operands[i]));
    if (i < member) offset += sizeBytes(t->operands[i]);
  }
  return offset;
}

/// Bytes between the elements of an array, vector or matrix.
uint32_t SpirvModule::stride(uint32_t composite) const {
  if (const auto given = strides_.find(composite); given != strides_.end()) return given->second;
  const Type* t = type(composite);
  const uint32_t element = t->operands[0];
  return t->opcode == SpvOpTypeVector ? sizeBytes(element) : roundUp(sizeBytes(element), alignment(element));
}

/// Adds the bytes of one index of an access chain.
bool SpirvModule::step(uint32_t index, SpirvAddress& address) const {
  const Type* t = type(address.type);
  if (!t) return false;
  const std::optional<uint32_t> value = constant(index);
  switch (t->opcode) {
    case SpvOpTypeStruct:
      if (!value || *value >= t->operands.size()) return false;
      address.first += memberOffset(address.type, *value);
      address.type = t->operands[*value];
      return true;
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
    case SpvOpTypeMatrix:
    case SpvOpTypeVector:
      if (value)
        address.first += *value * stride(address.type);
      else
        address.terms.push_back({index, stride(address.type)});
      address.type = t->operands[0];
      return true;
    default: return false;
  }
}

std::optional<SpirvAddress> SpirvModule::address(uint32_t pointer) const {
  if (classes_.contains(pointer)) return SpirvAddress{pointer, 0, {}, pointee(pointer)};
  const auto chain = chains_.find(pointer);
  if (chain == chains_.end()) return std::nullopt;
  std::optional<SpirvAddress> found = address(chain->second.base);
  for (const uint32_t index : chain->second.indices)
    if (found && !step(index, *found)) return std::nullopt;
  return found;
}

bool SpirvModule::isTexelBuffer(uint32_t variable) const {
  const Type* t = type(pointee(variable));
  if (t && t->opcode == SpvOpTypeSampledImage) t = type(t->operands[0]);
  return t && t->opcode == SpvOpTypeImage && t->operands[1] == SpvDimBuffer;
}

uint32_t SpirvModule::findType(uint32_t opcode, std::span<const uint32_t> operands) const {
  for (const auto& [id, t] : types_)
    if (t.opcode == opcode && std::ranges::equal(t.operands, operands)) return id;
  return 0;
}

}  // namespace opkit::harness
