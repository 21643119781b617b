// SpirvModule: the declarations of a shader that its memory accesses refer to: types with sizes and strides, constants,
// variables, access chains, source lines.
//
// Of a valid module for Vulkan, logical addressing (SPIR-V specification 1.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

/// One instruction: its opcode and all of its words, the first included.
struct SpirvInstruction {
  uint32_t opcode = 0;
  std::span<const uint32_t> words;
  uint32_t operand(size_t i) const { return words[i]; }
};

constexpr size_t kSpirvHeaderWords = 5;

/// Calls body(instruction) for every instruction. InvalidArgument if the words are not SPIR-V.
template <class Body>
Status forEachInstruction(std::span<const uint32_t> spirv, Body&& body) {
  if (spirv.size() < kSpirvHeaderWords || spirv[0] != 0x07230203) return Status::invalidArgument("not a SPIR-V module");
  for (size_t at = kSpirvHeaderWords; at < spirv.size();) {
    const size_t length = spirv[at] >> 16;
    if (length == 0 || at + length > spirv.size())
      return Status::invalidArgument("SPIR-V: word {}: an instruction of {} words", at, length);
    body(SpirvInstruction{spirv[at] & 0xFFFFu, spirv.subspan(at, length)});
    at += length;
  }
  return Status::ok();
}

/// Bytes of a Workgroup or StorageBuffer variable that an access chain selects: `first`, and per dynamic index its id
/// and the bytes between elements.
struct SpirvAddress {
  struct Term {
    uint32_t index = 0;
    uint32_t stride = 0;
  };
  uint32_t variable = 0;
  uint32_t first = 0;
  std::vector<Term> terms;
  uint32_t type = 0;  // of the selected value
};

class SpirvModule {
 public:
  static Result<SpirvModule> read(std::span<const uint32_t> spirv);

  uint32_t bound() const { return bound_; }
  uint32_t entryFunction() const { return entry_; }
  /// Of a result id; 0 if it has none.
  uint32_t typeOf(uint32_t id) const { return find(typeOf_, id); }
  /// Of a pointer type or of a pointer.
  uint32_t storageClass(uint32_t pointer) const;
  uint32_t pointee(uint32_t pointer) const;
  uint32_t sizeBytes(uint32_t type) const;
  bool isSigned(uint32_t type) const;
  /// Of a vector; of a scalar the type itself.
  uint32_t componentType(uint32_t type) const;
  uint32_t width(uint32_t type) const;
  std::optional<uint32_t> constant(uint32_t id) const;
  uint32_t binding(uint32_t variable) const { return find(bindings_, variable); }
  /// Of the debug information: a variable's name, or that of the first member of a block without one; empty without it.
  std::string name(uint32_t id) const;
  std::string text(uint32_t stringId) const;

  /// Follows the access chains of a pointer; nullopt if it comes from elsewhere.
  std::optional<SpirvAddress> address(uint32_t pointer) const;
  /// The image variable that an image operand was loaded from; 0 if unknown.
  uint32_t imageVariable(uint32_t image) const { return find(images_, image); }
  /// True if the image variable is a texel buffer.
  bool isTexelBuffer(uint32_t variable) const;

  /// The id of a declaration with these operands, or 0: OpTypeVoid, OpTypeBool, OpTypeInt 32 0, a vector.
  uint32_t findType(uint32_t opcode, std::span<const uint32_t> operands) const;
  /// The Input variable decorated with this built-in, or 0.
  uint32_t builtin(uint32_t which) const { return find(builtins_, which); }
  bool usesSubgroups() const { return subgroups_; }

 private:
  struct Type {
    uint32_t opcode = 0;
    std::vector<uint32_t> operands;
  };
  struct Chain {
    uint32_t base = 0;
    std::vector<uint32_t> indices;
  };
  static uint32_t find(const std::map<uint32_t, uint32_t>& map, uint32_t key) {
    const auto at = map.find(key);
    return at == map.end() ? 0 : at->second;
  }
  void read(const SpirvInstruction& i);
  void readDecoration(const SpirvInstruction& i);
  void readResult(const SpirvInstruction& i);
  const Type* type(uint32_t id) const;
  uint32_t alignment(uint32_t type) const;
  uint32_t memberOffset(uint32_t structure, uint32_t member) const;
  uint32_t stride(uint32_t composite) const;
  bool step(uint32_t index, SpirvAddress& address) const;

  uint32_t bound_ = 0;
  uint32_t entry_ = 0;
  bool subgroups_ = false;
  std::map<uint32_t, Type> types_;
  std::map<uint32_t, uint32_t> typeOf_, constants_, bindings_, builtins_, strides_, images_, classes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> offsets_;  // (struct, member)
  std::map<uint32_t, Chain> chains_;
  std::map<uint32_t, std::string> names_, memberNames_, texts_;  // memberNames_: of member 0, by type
};

}  // namespace opkit::harness
