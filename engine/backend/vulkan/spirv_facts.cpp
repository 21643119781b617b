#include "engine/backend/vulkan/spirv_facts.h"

#include <algorithm>
#include <vector>

namespace opkit::vulkan {
namespace {

// SPIR-V specification 1.5, sections 3.32 (opcodes), 3.6, 3.7, 3.20, 3.21.
enum Opcode : uint32_t {
  kExecutionMode = 16,
  kTypeBool = 20,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeVector = 23,
  kTypeMatrix = 24,
  kTypeArray = 28,
  kTypeStruct = 30,
  kTypePointer = 32,
  kConstant = 43,
  kConstantComposite = 44,
  kSpecConstant = 50,
  kSpecConstantComposite = 51,
  kSpecConstantOp = 52,
  kFunction = 54,
  kVariable = 59,
  kDecorate = 71,
  kCompositeExtract = 81,
  kExecutionModeId = 331,
};
constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kLocalSize = 17, kLocalSizeId = 38;
constexpr uint32_t kSpecId = 1, kBuiltIn = 11, kWorkgroupSize = 25;
constexpr uint32_t kWorkgroupStorage = 4;

uint32_t fold(uint32_t opcode, uint32_t a, uint32_t b) {
  switch (opcode) {
    case 128: return a + b;
    case 130: return a - b;
    case 132: return a * b;
    case 134: return b == 0 ? 0 : a / b;
    case 137: return b == 0 ? 0 : a % b;
    case 194: return b < 32 ? a >> b : 0;
    case 196: return b < 32 ? a << b : 0;
    case 199: return a & b;
    default: return a;
  }
}

class Reader {
 public:
  Reader(std::span<const uint32_t> spirv, std::span<const uint32_t> constants) : spirv_(spirv), constants_(constants) {}

  SpirvFacts read() {
    if (spirv_.size() < kHeaderWords || spirv_[0] != kMagic) return {};
    for (size_t at = kHeaderWords; at < spirv_.size();) {
      const uint32_t length = spirv_[at] >> 16;
      const uint32_t opcode = spirv_[at] & 0xFFFFu;
      if (length == 0 || at + length > spirv_.size() || opcode == kFunction) break;  // declarations come first
      declare(opcode, spirv_.subspan(at + 1, length - 1));
      at += length;
    }
    if (localSizeIds_[0] != 0)
      for (size_t i = 0; i < 3; ++i) facts_.localSize[i] = values_[localSizeIds_[i]];
    if (const auto size = composites_.find(workgroupSize_); size != composites_.end() && size->second.size() == 3)
      for (size_t i = 0; i < 3; ++i) facts_.localSize[i] = values_[size->second[i]];
    return facts_;
  }

 private:
  void declare(uint32_t opcode, std::span<const uint32_t> w) {
    if (w.size() < 2) {
      if (opcode == kTypeBool && w.size() == 1) bytes_[w[0]] = alignments_[w[0]] = 4;
      return;
    }
    switch (opcode) {
      case kExecutionMode:
      case kExecutionModeId:
        if (w.size() == 5 && w[1] == kLocalSize) facts_.localSize = {w[2], w[3], w[4]};
        if (w.size() == 5 && w[1] == kLocalSizeId) localSizeIds_ = {w[2], w[3], w[4]};
        break;
      case kDecorate:
        if (w.size() == 3 && w[1] == kSpecId) specIds_[w[0]] = w[2];
        if (w.size() == 3 && w[1] == kBuiltIn && w[2] == kWorkgroupSize) workgroupSize_ = w[0];
        break;
      case kTypeInt:
      case kTypeFloat: bytes_[w[0]] = alignments_[w[0]] = w[1] / 8; break;
      case kTypeVector:
        bytes_[w[0]] = bytes_[w[1]] * w[2];
        alignments_[w[0]] = bytes_[w[1]] * (w[2] == 2 ? 2 : 4);
        break;
      case kTypeMatrix:
      case kTypeArray:
        bytes_[w[0]] = padded(bytes_[w[1]], w[1]) * (opcode == kTypeArray ? values_[w[2]] : w[2]);
        alignments_[w[0]] = alignments_[w[1]];
        break;
      case kTypeStruct:
        for (const uint32_t member : w.subspan(1)) {
          bytes_[w[0]] = padded(bytes_[w[0]], member) + bytes_[member];
          alignments_[w[0]] = std::max(alignments_[w[0]], alignments_[member]);
        }
        break;
      case kTypePointer:
        if (w.size() == 3) pointee_[w[0]] = w[2];
        break;
      case kVariable:
        if (w.size() >= 3 && w[2] == kWorkgroupStorage)
          facts_.sharedBytes += facts_.shared[w[1]] = bytes_[pointee_[w[0]]];
        break;
      default: constant(opcode, w);
    }
  }

  /// The next multiple of the type's alignment: shared memory is laid out as std430.
  size_t padded(size_t bytes, uint32_t type) {
    const size_t unit = std::max<size_t>(alignments_[type], 1);
    return (bytes + unit - 1) / unit * unit;
  }

  void constant(uint32_t opcode, std::span<const uint32_t> w) {
    if (w.size() < 3) return;
    if (opcode == kConstant || opcode == kSpecConstant) {
      const auto id = specIds_.find(w[1]);
      const bool given = id != specIds_.end() && id->second < constants_.size();
      values_[w[1]] = given ? constants_[id->second] : w[2];
    } else if (opcode == kConstantComposite || opcode == kSpecConstantComposite) {
      composites_[w[1]].assign(w.begin() + 2, w.end());
    } else if (opcode == kSpecConstantOp && w.size() == 5 && w[2] == kCompositeExtract) {  // gl_WorkGroupSize.x
      const std::vector<uint32_t>& parts = composites_[w[3]];
      values_[w[1]] = w[4] < parts.size() ? values_[parts[w[4]]] : 0;
    } else if (opcode == kSpecConstantOp && w.size() == 5) {
      values_[w[1]] = fold(w[2], values_[w[3]], values_[w[4]]);
    }
  }

  std::span<const uint32_t> spirv_;
  std::span<const uint32_t> constants_;
  SpirvFacts facts_;
  uint32_t workgroupSize_ = 0;
  std::array<uint32_t, 3> localSizeIds_{};
  std::map<uint32_t, uint32_t> specIds_;  // result id -> SpecId
  std::map<uint32_t, uint32_t> values_;   // of integer constants
  std::map<uint32_t, std::vector<uint32_t>> composites_;
  std::map<uint32_t, uint32_t> pointee_;
  std::map<uint32_t, size_t> bytes_, alignments_;  // of types
};

}  // namespace

SpirvFacts factsOf(std::span<const uint32_t> spirv, std::span<const uint32_t> constants) {
  return Reader(spirv, constants).read();
}

}  // namespace opkit::vulkan
