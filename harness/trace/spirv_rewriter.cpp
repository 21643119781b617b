#include "harness/trace/spirv_rewriter.h"

namespace opkit::harness {
namespace {

void append(std::vector<uint32_t>& to, std::span<const uint32_t> words) {
  to.insert(to.end(), words.begin(), words.end());
}

}  // namespace

SpirvRewriter::SpirvRewriter(SpirvModule module, std::span<const uint32_t> spirv)
    : module_(std::move(module)), spirv_(spirv), next_(module_.bound()) {
  void_ = typeId(SpvOpTypeVoid, {});
  bool_ = typeId(SpvOpTypeBool, {});
  uint_ = typeId(SpvOpTypeInt, {32, 0});
  declareTrace();
}

Result<std::vector<uint32_t>> SpirvRewriter::rewrite(const std::function<void(Words& functions)>& writeFunctions) {
  OPKIT_TRY(forEachInstruction(spirv_, [&](const SpirvInstruction& i) { place(i); }));
  Words functions;
  if (writeFunctions) writeFunctions(functions);
  Words out;
  append(out, spirv_.first(kSpirvHeaderWords));
  for (const Words* part : {&preamble_, &annotations_, &globals_, &added_, &body_, &functions}) append(out, *part);
  out[3] = next_;
  return out;
}

void SpirvRewriter::emit(Words& to, SpvOp op, std::initializer_list<uint32_t> operands) {
  to.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  to.insert(to.end(), operands);
}

uint32_t SpirvRewriter::typeId(SpvOp op, std::initializer_list<uint32_t> operands) {
  const uint32_t known = module_.findType(op, std::vector<uint32_t>(operands));
  if (known != 0) return known;
  const uint32_t id = fresh();
  added_.push_back(static_cast<uint32_t>(operands.size() + 2) << 16 | op);
  added_.push_back(id);
  added_.insert(added_.end(), operands);
  return id;
}

uint32_t SpirvRewriter::constant(uint32_t value) {
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const uint32_t id = fresh();
  emit(added_, SpvOpConstant, {uint_, id, value});
  return constants_[value] = id;
}

uint32_t SpirvRewriter::pointerType(SpvStorageClass storage, uint32_t to) {
  const uint32_t id = fresh();
  emit(added_, SpvOpTypePointer, {id, storage, to});
  return id;
}

uint32_t SpirvRewriter::variable(SpvStorageClass storage, uint32_t type) {
  const uint32_t id = fresh();
  emit(added_, SpvOpVariable, {pointerType(storage, type), id, storage});
  interface_.push_back(id);
  return id;
}

uint32_t SpirvRewriter::input(SpvBuiltIn which, uint32_t type) {
  const uint32_t known = module_.builtin(which);
  if (known != 0) return known;
  const uint32_t id = variable(SpvStorageClassInput, type);
  emit(annotations_, SpvOpDecorate, {id, SpvDecorationBuiltIn, static_cast<uint32_t>(which)});
  return id;
}

uint32_t SpirvRewriter::pointerToWord(Words& to, uint32_t index) {
  const uint32_t id = fresh();
  emit(to, SpvOpAccessChain, {word_, id, trace_, constant(0), index});
  return id;
}

uint32_t SpirvRewriter::loadWord(Words& to, uint32_t index) {
  const uint32_t pointer = pointerToWord(to, index), id = fresh();
  emit(to, SpvOpLoad, {uint_, id, pointer});
  return id;
}

void SpirvRewriter::increment(Words& to, uint32_t variable) {
  const uint32_t old = fresh(), next = fresh();
  emit(to, SpvOpLoad, {uint_, old, variable});
  emit(to, SpvOpIAdd, {uint_, next, old, constant(1)});
  emit(to, SpvOpStore, {variable, next});
}

void SpirvRewriter::declareTrace() {
  const uint32_t array = fresh(), block = fresh();
  emit(added_, SpvOpTypeRuntimeArray, {array, uint_});
  emit(added_, SpvOpTypeStruct, {block, array});
  trace_ = variable(SpvStorageClassStorageBuffer, block);
  word_ = pointerType(SpvStorageClassStorageBuffer, uint_);
  emit(annotations_, SpvOpDecorate, {array, SpvDecorationArrayStride, 4});
  emit(annotations_, SpvOpDecorate, {block, SpvDecorationBlock});
  emit(annotations_, SpvOpMemberDecorate, {block, 0, SpvDecorationOffset, 0});
  emit(annotations_, SpvOpDecorate, {trace_, SpvDecorationDescriptorSet, 1});
  emit(annotations_, SpvOpDecorate, {trace_, SpvDecorationBinding, 0});
}

void SpirvRewriter::place(const SpirvInstruction& i) {
  ++instruction_;
  if (i.opcode == SpvOpFunction) {
    inFunctions_ = true;
    inEntry_ = i.operand(2) == module_.entryFunction();
    needsBeginning_ = inEntry_;
  }
  const bool isType = i.opcode >= SpvOpTypeVoid && i.opcode <= SpvOpTypeForwardPointer;
  inGlobals_ = inGlobals_ || isType;
  if (inFunctions_)
    placeInFunction(i);
  else if (i.opcode == SpvOpEntryPoint)
    placeEntryPoint(i);
  else
    append(inGlobals_ || isGlobal(i.opcode) ? globals_ : preamble_, i.words);
}

/// Declarations that may stand before the first type; all that follows the first type is global too.
bool SpirvRewriter::isGlobal(uint32_t op) {
  inGlobals_ = inGlobals_ || op == SpvOpConstant || op == SpvOpVariable || op == SpvOpUndef || op == SpvOpLine;
  return inGlobals_;
}

void SpirvRewriter::placeEntryPoint(const SpirvInstruction& i) {
  const size_t at = preamble_.size();
  append(preamble_, i.words);
  append(preamble_, interface_);
  preamble_[at] = static_cast<uint32_t>(i.words.size() + interface_.size()) << 16 | SpvOpEntryPoint;
}

void SpirvRewriter::placeInFunction(const SpirvInstruction& i) {
  const bool opens = i.opcode == SpvOpFunction || i.opcode == SpvOpFunctionParameter || i.opcode == SpvOpLabel ||
                     i.opcode == SpvOpVariable || i.opcode == SpvOpLine || i.opcode == SpvOpNoLine;
  if (!opens && needsBeginning_) {
    begin();
    needsBeginning_ = false;
  }
  before(i);
  append(body_, i.words);
  behind(i);
}

}  // namespace opkit::harness
