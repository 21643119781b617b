// SpirvRewriter: copies a compute shader and adds instructions that write to a trace.
//
// The trace is a storage buffer of 32-bit words at set 1, binding 0. What the shader computes stays the same. A class
// that derives from it says which instructions are added.
#pragma once

#include <spirv_cross/spirv.h>

#include <functional>
#include <initializer_list>
#include <map>

#include "harness/trace/spirv_module.h"

namespace opkit::harness {

class SpirvRewriter {
 protected:
  using Words = std::vector<uint32_t>;

  SpirvRewriter(SpirvModule module, std::span<const uint32_t> spirv);
  virtual ~SpirvRewriter() = default;
  SpirvRewriter(const SpirvRewriter&) = delete;
  SpirvRewriter& operator=(const SpirvRewriter&) = delete;

  /// The new module; `functions` are added behind its own. Once.
  Result<std::vector<uint32_t>> rewrite(const std::function<void(Words& functions)>& writeFunctions = nullptr);

  /// Adds to body(): at the beginning of the entry function; before an instruction of a function; behind it.
  virtual void begin() = 0;
  virtual void before(const SpirvInstruction& i) = 0;
  virtual void behind(const SpirvInstruction&) {}

  static void emit(Words& to, SpvOp op, std::initializer_list<uint32_t> operands);
  uint32_t fresh() { return next_++; }
  /// Ids of declarations, made where the module has none.
  uint32_t typeId(SpvOp op, std::initializer_list<uint32_t> operands);
  uint32_t constant(uint32_t value);
  uint32_t pointerType(SpvStorageClass storage, uint32_t to);
  uint32_t variable(SpvStorageClass storage, uint32_t type);
  uint32_t input(SpvBuiltIn which, uint32_t type);
  /// A word of the trace: the id of a pointer to it, or of its value.
  uint32_t pointerToWord(Words& to, uint32_t index);
  uint32_t loadWord(Words& to, uint32_t index);
  /// Adds one to a Private variable.
  void increment(Words& to, uint32_t variable);

  const SpirvModule& module() const { return module_; }
  Words& body() { return body_; }
  Words& declarations() { return added_; }
  uint32_t voidType() const { return void_; }
  uint32_t boolType() const { return bool_; }
  uint32_t uintType() const { return uint_; }
  bool isInEntry() const { return inEntry_; }
  /// The number of the instruction in the module.
  uint32_t instruction() const { return instruction_; }

 private:
  void declareTrace();
  void place(const SpirvInstruction& i);
  bool isGlobal(uint32_t op);
  void placeEntryPoint(const SpirvInstruction& i);
  void placeInFunction(const SpirvInstruction& i);

  SpirvModule module_;
  std::span<const uint32_t> spirv_;
  uint32_t next_;
  Words preamble_, annotations_, globals_, added_, body_, interface_;
  std::map<uint32_t, uint32_t> constants_;
  uint32_t void_ = 0, bool_ = 0, uint_ = 0, word_ = 0, trace_ = 0, instruction_ = 0;
  bool inGlobals_ = false, inFunctions_ = false, inEntry_ = false, needsBeginning_ = false;
};

}  // namespace opkit::harness
