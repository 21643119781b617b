#include "harness/trace/spirv_counts.h"

#include <spirv_cross/spirv.h>

#include "harness/trace/spirv_module.h"

namespace opkit::harness {
namespace {

/// SPIR-V specification 1.5, sections 3.32.11 to 3.32.14.
bool isArithmetic(uint32_t opcode) {
  return (opcode >= SpvOpConvertFToU && opcode <= SpvOpBitcast) ||
         (opcode >= SpvOpSNegate && opcode <= SpvOpBitCount) || opcode == SpvOpExtInst;
}

void add(uint32_t opcode, SpirvCounts& counts) {
  ++counts.instructions;
  counts.loads += opcode == SpvOpLoad || opcode == SpvOpImageFetch || opcode == SpvOpImageRead;
  counts.stores += opcode == SpvOpStore || opcode == SpvOpImageWrite;
  counts.arithmetic += isArithmetic(opcode);
  counts.branches += opcode == SpvOpBranchConditional || opcode == SpvOpSwitch;
  counts.barriers += opcode == SpvOpControlBarrier || opcode == SpvOpMemoryBarrier;
}

}  // namespace

Result<SpirvCounts> countsOf(std::span<const uint32_t> spirv) {
  SpirvCounts counts;
  bool inFunction = false;
  OPKIT_TRY(forEachInstruction(spirv, [&](const SpirvInstruction& instruction) {
    inFunction = inFunction || instruction.opcode == SpvOpFunction;
    if (inFunction) add(instruction.opcode, counts);
    if (instruction.opcode == SpvOpFunctionEnd) inFunction = false;
  }));
  return counts;
}

}  // namespace opkit::harness
