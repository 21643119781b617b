#include "harness/trace/instrument.h"

#include <spirv_cross/spirv.h>

#include <array>

namespace opkit::harness {
namespace {

using Words = std::vector<uint32_t>;

void emit(Words& to, SpvOp op, std::initializer_list<uint32_t> operands) {
  to.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  to.insert(to.end(), operands);
}

void append(Words& to, std::span<const uint32_t> words) { to.insert(to.end(), words.begin(), words.end()); }

bool isAtomic(uint32_t op) {
  return (op >= SpvOpAtomicLoad && op <= SpvOpAtomicXor) || op == SpvOpAtomicFAddEXT || op == SpvOpAtomicFMinEXT ||
         op == SpvOpAtomicFMaxEXT;
}

class Instrumenter {
 public:
  Instrumenter(SpirvModule module, std::span<const uint32_t> spirv)
      : module_(std::move(module)), spirv_(spirv), next_(module_.bound()) {}

  Result<InstrumentedShader> run() {
    declareTypes();
    declareVariables();
    OPKIT_TRY(forEachInstruction(spirv_, [&](const SpirvInstruction& i) { place(i); }));
    if (result_.sites.size() >= 1u << 16)
      return Status::invalidArgument("SPIR-V: {} memory accesses, expected fewer than 65,536", result_.sites.size());
    result_.usesSubgroups = module_.usesSubgroups();
    Words functions;
    writeRecorder(functions);
    Words& out = result_.spirv;
    append(out, spirv_.first(kSpirvHeaderWords));
    for (const Words* part : {&preamble_, &annotations_, &globals_, &added_, &body_, &functions}) append(out, *part);
    out[3] = next_;
    return std::move(result_);
  }

 private:
  uint32_t fresh() { return next_++; }

  // ---- declarations

  uint32_t typeId(SpvOp op, std::initializer_list<uint32_t> operands) {
    const uint32_t known = module_.findType(op, std::vector<uint32_t>(operands));
    if (known != 0) return known;
    const uint32_t id = fresh();
    added_.push_back(static_cast<uint32_t>(operands.size() + 2) << 16 | op);
    added_.push_back(id);
    added_.insert(added_.end(), operands);
    return id;
  }

  uint32_t constant(uint32_t value) {
    const auto found = constants_.find(value);
    if (found != constants_.end()) return found->second;
    const uint32_t id = fresh();
    emit(added_, SpvOpConstant, {uint_, id, value});
    return constants_[value] = id;
  }

  uint32_t pointerType(SpvStorageClass storage, uint32_t to) {
    const uint32_t id = fresh();
    emit(added_, SpvOpTypePointer, {id, storage, to});
    return id;
  }

  uint32_t variable(SpvStorageClass storage, uint32_t type) {
    const uint32_t id = fresh();
    emit(added_, SpvOpVariable, {pointerType(storage, type), id, storage});
    interface_.push_back(id);
    return id;
  }

  uint32_t input(SpvBuiltIn which, uint32_t type) {
    const uint32_t known = module_.builtin(which);
    if (known != 0) return known;
    const uint32_t id = variable(SpvStorageClassInput, type);
    emit(annotations_, SpvOpDecorate, {id, SpvDecorationBuiltIn, static_cast<uint32_t>(which)});
    return id;
  }

  void declareTypes() {
    void_ = typeId(SpvOpTypeVoid, {});
    bool_ = typeId(SpvOpTypeBool, {});
    uint_ = typeId(SpvOpTypeInt, {32, 0});
    uint3_ = typeId(SpvOpTypeVector, {uint_, 3});
    const uint32_t recorderType = fresh();
    emit(added_, SpvOpTypeFunction, {recorderType, void_, uint_, uint_});
    recorderType_ = recorderType;
    recorder_ = fresh();
  }

  void declareVariables() {
    local_ = input(SpvBuiltInLocalInvocationIndex, uint_);
    group_ = input(SpvBuiltInWorkgroupId, uint3_);
    groups_ = input(SpvBuiltInNumWorkgroups, uint3_);
    records_ = variable(SpvStorageClassPrivate, bool_);
    epoch_ = variable(SpvStorageClassPrivate, uint_);
    number_ = variable(SpvStorageClassPrivate, uint_);
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

  // ---- the module

  void place(const SpirvInstruction& i) {
    ++instruction_;
    if (i.opcode == SpvOpFunction) {
      inFunctions_ = true;
      inEntry_ = i.operand(2) == module_.entryFunction();
      needsPrologue_ = inEntry_;
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
  bool isGlobal(uint32_t op) {
    inGlobals_ = inGlobals_ || op == SpvOpConstant || op == SpvOpVariable || op == SpvOpUndef || op == SpvOpLine;
    return inGlobals_;
  }

  void placeEntryPoint(const SpirvInstruction& i) {
    const size_t at = preamble_.size();
    append(preamble_, i.words);
    append(preamble_, interface_);
    preamble_[at] = static_cast<uint32_t>(i.words.size() + interface_.size()) << 16 | SpvOpEntryPoint;
  }

  void placeInFunction(const SpirvInstruction& i) {
    switch (i.opcode) {
      case SpvOpFunction:
      case SpvOpFunctionParameter:
      case SpvOpLabel:
      case SpvOpVariable: before_ = 0; break;
      case SpvOpLine:
        file_ = i.operand(1);
        line_ = i.operand(2);
        break;
      case SpvOpNoLine: line_ = 0; break;
      default:
        if (needsPrologue_) writePrologue();
        needsPrologue_ = false;
        recordAccess(i);
    }
    append(body_, i.words);
    if (i.opcode == SpvOpControlBarrier) {  // the next epoch begins
      const uint32_t old = fresh(), next = fresh();
      emit(body_, SpvOpLoad, {uint_, old, epoch_});
      emit(body_, SpvOpIAdd, {uint_, next, old, constant(1)});
      emit(body_, SpvOpStore, {epoch_, next});
    }
  }

  /// Which group this is, and whether it records.
  void writePrologue() {
    std::array<uint32_t, 3> at{}, count{};
    const uint32_t id = fresh(), counts = fresh();
    emit(body_, SpvOpLoad, {uint3_, id, group_});
    emit(body_, SpvOpLoad, {uint3_, counts, groups_});
    for (uint32_t axis = 0; axis < 3; ++axis) {
      at[axis] = fresh();
      count[axis] = fresh();
      emit(body_, SpvOpCompositeExtract, {uint_, at[axis], id, axis});
      emit(body_, SpvOpCompositeExtract, {uint_, count[axis], counts, axis});
    }
    const uint32_t planes = fresh(), row = fresh(), rows = fresh(), number = fresh();
    emit(body_, SpvOpIMul, {uint_, planes, at[2], count[1]});
    emit(body_, SpvOpIAdd, {uint_, row, planes, at[1]});
    emit(body_, SpvOpIMul, {uint_, rows, row, count[0]});
    emit(body_, SpvOpIAdd, {uint_, number, rows, at[0]});
    emit(body_, SpvOpStore, {number_, number});
    const uint32_t stride = loadWord(body_, constant(2)), phase = loadWord(body_, constant(3));
    const uint32_t rest = fresh(), chosen = fresh();
    emit(body_, SpvOpUMod, {uint_, rest, number, stride});
    emit(body_, SpvOpIEqual, {bool_, chosen, rest, phase});
    emit(body_, SpvOpStore, {records_, chosen});
    emit(body_, SpvOpStore, {epoch_, constant(0)});
  }

  // ---- accesses

  void recordAccess(const SpirvInstruction& i) {
    using Kind = AccessSite::Kind;
    switch (i.opcode) {
      case SpvOpLoad: recordPointer(Kind::Load, i.operand(3)); break;
      case SpvOpStore: recordPointer(Kind::Store, i.operand(1)); break;
      case SpvOpCopyMemory:
        recordPointer(Kind::Load, i.operand(2));
        recordPointer(Kind::Store, i.operand(1));
        break;
      case SpvOpImageFetch:
      case SpvOpImageRead: recordImage(Kind::Load, i.operand(3), i.operand(4)); break;
      case SpvOpImageWrite: recordImage(Kind::Store, i.operand(1), i.operand(2)); break;
      case SpvOpMemoryBarrier: before_ |= module_.constant(i.operand(2)).value_or(0); break;
      case SpvOpControlBarrier:
        record({.kind = Kind::Barrier, .semantics = before_ | module_.constant(i.operand(3)).value_or(0)}, constant(0));
        before_ = 0;
        break;
      case SpvOpReturn:
        if (inEntry_) record({.kind = Kind::Return}, constant(0));
        break;
      default:
        if (isAtomic(i.opcode)) recordPointer(Kind::Atomic, i.operand(i.opcode == SpvOpAtomicStore ? 1 : 3));
        if (i.opcode >= SpvOpImageSampleImplicitLod && i.opcode <= SpvOpImageDrefGather && i.opcode != SpvOpImageFetch)
          ++result_.unknown;
    }
  }

  void record(AccessSite site, uint32_t address) {
    if (site.kind != AccessSite::Kind::Barrier) before_ = 0;
    site.instruction = instruction_;
    site.line = line_;
    if (line_ != 0) site.file = module_.text(file_);
    if (site.variable != 0) site.name = module_.name(site.variable);
    const auto number = static_cast<uint32_t>(result_.sites.size());
    result_.sites.push_back(std::move(site));
    emit(body_, SpvOpFunctionCall, {void_, fresh(), recorder_, constant(number), address});
  }

  void recordPointer(AccessSite::Kind kind, uint32_t pointer) {
    const uint32_t storage = module_.storageClass(pointer);
    const bool shared = storage == SpvStorageClassWorkgroup;
    if (!shared && storage != SpvStorageClassStorageBuffer) return;
    const std::optional<SpirvAddress> address = module_.address(pointer);
    const uint32_t bytes = address ? module_.sizeBytes(address->type) : 0;
    if (bytes == 0) {
      ++result_.unknown;
      return;
    }
    record({.kind = kind,
            .space = shared ? AccessSite::Space::Shared : AccessSite::Space::Buffer,
            .binding = shared ? 0 : module_.binding(address->variable),
            .variable = address->variable,
            .bytes = bytes,
            .sizeBytes = shared ? module_.sizeBytes(module_.pointee(address->variable)) : 0},
           computed(*address));
  }

  void recordImage(AccessSite::Kind kind, uint32_t image, uint32_t coordinates) {
    const uint32_t variable = module_.imageVariable(image);
    if (variable == 0) {
      ++result_.unknown;
      return;
    }
    const bool texel = module_.isTexelBuffer(variable);
    record({.kind = kind,
            .space = texel ? AccessSite::Space::Texel : AccessSite::Space::Image,
            .binding = module_.binding(variable),
            .variable = variable},
           texel ? asUint(coordinates) : packed(coordinates));
  }

  /// The id of an index as a 32-bit unsigned integer.
  uint32_t asUint(uint32_t index) {
    const uint32_t type = module_.typeOf(index);
    if (type == uint_) return index;
    const uint32_t id = fresh();
    const SpvOp op = module_.width(type) == 32 ? SpvOpBitcast : module_.isSigned(type) ? SpvOpSConvert : SpvOpUConvert;
    emit(body_, op, {uint_, id, index});
    return id;
  }

  /// y << 16 | x of two coordinates.
  uint32_t packed(uint32_t coordinates) {
    const uint32_t type = module_.typeOf(coordinates), scalar = module_.componentType(type);
    std::array<uint32_t, 2> part{};
    for (uint32_t axis = 0; axis < 2; ++axis) {
      const uint32_t id = fresh();
      emit(body_, SpvOpCompositeExtract, {scalar, id, coordinates, axis});
      part[axis] = id;
      if (scalar != uint_) {
        part[axis] = fresh();
        emit(body_, SpvOpBitcast, {uint_, part[axis], id});
      }
    }
    const uint32_t high = fresh(), low = fresh(), both = fresh();
    emit(body_, SpvOpShiftLeftLogical, {uint_, high, part[1], constant(16)});
    emit(body_, SpvOpBitwiseAnd, {uint_, low, part[0], constant(0xFFFF)});
    emit(body_, SpvOpBitwiseOr, {uint_, both, high, low});
    return both;
  }

  uint32_t computed(const SpirvAddress& address) {
    uint32_t sum = constant(address.first);
    for (const SpirvAddress::Term& term : address.terms) {
      const uint32_t product = fresh(), next = fresh();
      emit(body_, SpvOpIMul, {uint_, product, asUint(term.index), constant(term.stride)});
      emit(body_, SpvOpIAdd, {uint_, next, sum, product});
      sum = next;
    }
    return sum;
  }

  // ---- the recorder: void record(uint site, uint address)

  uint32_t pointerToWord(Words& to, uint32_t index) {
    const uint32_t id = fresh();
    emit(to, SpvOpAccessChain, {word_, id, trace_, constant(0), index});
    return id;
  }

  uint32_t loadWord(Words& to, uint32_t index) {
    const uint32_t pointer = pointerToWord(to, index), id = fresh();
    emit(to, SpvOpLoad, {uint_, id, pointer});
    return id;
  }

  void writeRecorder(Words& to) {
    const uint32_t site = fresh(), address = fresh(), begin = fresh(), append = fresh(), write = fresh();
    const uint32_t written = fresh(), end = fresh(), chosen = fresh();
    emit(to, SpvOpFunction, {void_, recorder_, SpvFunctionControlMaskNone, recorderType_});
    emit(to, SpvOpFunctionParameter, {uint_, site});
    emit(to, SpvOpFunctionParameter, {uint_, address});
    emit(to, SpvOpLabel, {begin});
    emit(to, SpvOpLoad, {bool_, chosen, records_});
    emit(to, SpvOpSelectionMerge, {end, SpvSelectionControlMaskNone});
    emit(to, SpvOpBranchConditional, {chosen, append, end});
    emit(to, SpvOpLabel, {append});
    const uint32_t at = fresh(), fits = fresh();
    emit(to, SpvOpAtomicIAdd,
         {uint_, at, pointerToWord(to, constant(0)), constant(SpvScopeDevice), constant(SpvMemorySemanticsMaskNone),
          constant(1)});
    emit(to, SpvOpULessThan, {bool_, fits, at, loadWord(to, constant(1))});
    emit(to, SpvOpSelectionMerge, {written, SpvSelectionControlMaskNone});
    emit(to, SpvOpBranchConditional, {fits, write, written});
    emit(to, SpvOpLabel, {write});
    writeRecord(to, at, site, address);
    emit(to, SpvOpBranch, {written});
    emit(to, SpvOpLabel, {written});
    emit(to, SpvOpBranch, {end});
    emit(to, SpvOpLabel, {end});
    emit(to, SpvOpReturn, {});
    emit(to, SpvOpFunctionEnd, {});
  }

  void writeRecord(Words& to, uint32_t at, uint32_t site, uint32_t address) {
    const uint32_t words = fresh(), first = fresh(), local = fresh(), shifted = fresh(), lane = fresh();
    const uint32_t number = fresh(), epoch = fresh();
    emit(to, SpvOpIMul, {uint_, words, at, constant(sizeof(TraceRecord) / sizeof(uint32_t))});
    emit(to, SpvOpIAdd, {uint_, first, words, constant(kTraceHeaderWords)});
    emit(to, SpvOpLoad, {uint_, local, local_});
    emit(to, SpvOpShiftLeftLogical, {uint_, shifted, site, constant(16)});
    emit(to, SpvOpBitwiseOr, {uint_, lane, shifted, local});
    emit(to, SpvOpLoad, {uint_, number, number_});
    emit(to, SpvOpLoad, {uint_, epoch, epoch_});
    uint32_t index = first;
    for (const uint32_t value : {number, lane, epoch, address}) {
      emit(to, SpvOpStore, {pointerToWord(to, index), value});
      const uint32_t next = fresh();
      emit(to, SpvOpIAdd, {uint_, next, index, constant(1)});
      index = next;
    }
  }

  SpirvModule module_;
  std::span<const uint32_t> spirv_;
  uint32_t next_;
  InstrumentedShader result_;
  Words preamble_, annotations_, globals_, added_, body_, interface_;
  std::map<uint32_t, uint32_t> constants_;
  uint32_t void_ = 0, bool_ = 0, uint_ = 0, uint3_ = 0, word_ = 0, recorderType_ = 0, recorder_ = 0;
  uint32_t local_ = 0, group_ = 0, groups_ = 0, records_ = 0, epoch_ = 0, number_ = 0, trace_ = 0;
  uint32_t instruction_ = 0, file_ = 0, line_ = 0;
  uint32_t before_ = 0;  // semantics of the memory barriers right before
  bool inGlobals_ = false, inFunctions_ = false, inEntry_ = false, needsPrologue_ = false;
};

}  // namespace

Result<InstrumentedShader> instrument(std::span<const uint32_t> spirv) {
  OPKIT_ASSIGN(SpirvModule module, SpirvModule::read(spirv));
  return Instrumenter(std::move(module), spirv).run();
}

}  // namespace opkit::harness
