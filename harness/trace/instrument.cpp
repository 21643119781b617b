#include "harness/trace/instrument.h"

#include <array>

#include "harness/trace/spirv_rewriter.h"

namespace opkit::harness {
namespace {

bool isAtomic(uint32_t op) {
  return (op >= SpvOpAtomicLoad && op <= SpvOpAtomicXor) || op == SpvOpAtomicFAddEXT || op == SpvOpAtomicFMinEXT ||
         op == SpvOpAtomicFMaxEXT;
}

class Instrumenter final : SpirvRewriter {
 public:
  Instrumenter(SpirvModule read, std::span<const uint32_t> spirv) : SpirvRewriter(std::move(read), spirv) {
    uint3_ = typeId(SpvOpTypeVector, {uintType(), 3});
    recorderType_ = fresh();
    emit(declarations(), SpvOpTypeFunction, {recorderType_, voidType(), uintType(), uintType()});
    recorder_ = fresh();
    local_ = input(SpvBuiltInLocalInvocationIndex, uintType());
    group_ = input(SpvBuiltInWorkgroupId, uint3_);
    groups_ = input(SpvBuiltInNumWorkgroups, uint3_);
    records_ = variable(SpvStorageClassPrivate, boolType());
    epoch_ = variable(SpvStorageClassPrivate, uintType());
    number_ = variable(SpvStorageClassPrivate, uintType());
  }

  Result<InstrumentedShader> run() {
    OPKIT_ASSIGN(result_.spirv, rewrite([this](Words& functions) { writeRecorder(functions); }));
    if (result_.sites.size() >= 1u << 16)
      return Status::invalidArgument("SPIR-V: {} memory accesses, expected fewer than 65,536", result_.sites.size());
    result_.usesSubgroups = module().usesSubgroups();
    return std::move(result_);
  }

 private:
  /// Which group this is, and whether it records.
  void begin() override {
    std::array<uint32_t, 3> at{}, count{};
    const uint32_t id = fresh(), counts = fresh();
    emit(body(), SpvOpLoad, {uint3_, id, group_});
    emit(body(), SpvOpLoad, {uint3_, counts, groups_});
    for (uint32_t axis = 0; axis < 3; ++axis) {
      at[axis] = fresh();
      count[axis] = fresh();
      emit(body(), SpvOpCompositeExtract, {uintType(), at[axis], id, axis});
      emit(body(), SpvOpCompositeExtract, {uintType(), count[axis], counts, axis});
    }
    const uint32_t planes = fresh(), row = fresh(), rows = fresh(), number = fresh();
    emit(body(), SpvOpIMul, {uintType(), planes, at[2], count[1]});
    emit(body(), SpvOpIAdd, {uintType(), row, planes, at[1]});
    emit(body(), SpvOpIMul, {uintType(), rows, row, count[0]});
    emit(body(), SpvOpIAdd, {uintType(), number, rows, at[0]});
    emit(body(), SpvOpStore, {number_, number});
    const uint32_t stride = loadWord(body(), constant(2)), phase = loadWord(body(), constant(3));
    const uint32_t rest = fresh(), chosen = fresh();
    emit(body(), SpvOpUMod, {uintType(), rest, number, stride});
    emit(body(), SpvOpIEqual, {boolType(), chosen, rest, phase});
    emit(body(), SpvOpStore, {records_, chosen});
    emit(body(), SpvOpStore, {epoch_, constant(0)});
  }

  void before(const SpirvInstruction& i) override {
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
      default: recordAccess(i);
    }
  }

  void behind(const SpirvInstruction& i) override {
    if (i.opcode == SpvOpControlBarrier) increment(body(), epoch_);  // the next epoch begins
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
      case SpvOpMemoryBarrier: before_ |= module().constant(i.operand(2)).value_or(0); break;
      case SpvOpControlBarrier:
        record({.kind = Kind::Barrier, .semantics = before_ | module().constant(i.operand(3)).value_or(0)},
               constant(0));
        before_ = 0;
        break;
      case SpvOpReturn:
        if (isInEntry()) record({.kind = Kind::Return}, constant(0));
        break;
      default:
        if (isAtomic(i.opcode)) recordPointer(Kind::Atomic, i.operand(i.opcode == SpvOpAtomicStore ? 1 : 3));
        if (i.opcode >= SpvOpImageSampleImplicitLod && i.opcode <= SpvOpImageDrefGather && i.opcode != SpvOpImageFetch)
          ++result_.unknown;
    }
  }

  void record(AccessSite site, uint32_t address) {
    if (site.kind != AccessSite::Kind::Barrier) before_ = 0;
    site.instruction = instruction();
    site.line = line_;
    if (line_ != 0) site.file = module().text(file_);
    if (site.variable != 0) site.name = module().name(site.variable);
    const auto number = static_cast<uint32_t>(result_.sites.size());
    result_.sites.push_back(std::move(site));
    emit(body(), SpvOpFunctionCall, {voidType(), fresh(), recorder_, constant(number), address});
  }

  void recordPointer(AccessSite::Kind kind, uint32_t pointer) {
    const uint32_t storage = module().storageClass(pointer);
    const bool shared = storage == SpvStorageClassWorkgroup;
    if (!shared && storage != SpvStorageClassStorageBuffer) return;
    const std::optional<SpirvAddress> address = module().address(pointer);
    const uint32_t bytes = address ? module().sizeBytes(address->type) : 0;
    if (bytes == 0) {
      ++result_.unknown;
      return;
    }
    record({.kind = kind,
            .space = shared ? AccessSite::Space::Shared : AccessSite::Space::Buffer,
            .binding = shared ? 0 : module().binding(address->variable),
            .variable = address->variable,
            .bytes = bytes,
            .sizeBytes = shared ? module().sizeBytes(module().pointee(address->variable)) : 0},
           computed(*address));
  }

  void recordImage(AccessSite::Kind kind, uint32_t image, uint32_t coordinates) {
    const uint32_t variable = module().imageVariable(image);
    if (variable == 0) {
      ++result_.unknown;
      return;
    }
    const bool texel = module().isTexelBuffer(variable);
    record({.kind = kind,
            .space = texel ? AccessSite::Space::Texel : AccessSite::Space::Image,
            .binding = module().binding(variable),
            .variable = variable},
           texel ? asUint(coordinates) : packed(coordinates));
  }

  /// The id of an index as a 32-bit unsigned integer.
  uint32_t asUint(uint32_t index) {
    const uint32_t type = module().typeOf(index);
    if (type == uintType()) return index;
    const uint32_t id = fresh();
    const SpvOp op = module().width(type) == 32 ? SpvOpBitcast
                     : module().isSigned(type)  ? SpvOpSConvert
                                                : SpvOpUConvert;
    emit(body(), op, {uintType(), id, index});
    return id;
  }

  /// y << 16 | x of two coordinates.
  uint32_t packed(uint32_t coordinates) {
    const uint32_t type = module().typeOf(coordinates), scalar = module().componentType(type);
    std::array<uint32_t, 2> part{};
    for (uint32_t axis = 0; axis < 2; ++axis) {
      const uint32_t id = fresh();
      emit(body(), SpvOpCompositeExtract, {scalar, id, coordinates, axis});
      part[axis] = id;
      if (scalar != uintType()) {
        part[axis] = fresh();
        emit(body(), SpvOpBitcast, {uintType(), part[axis], id});
      }
    }
    const uint32_t high = fresh(), low = fresh(), both = fresh();
    emit(body(), SpvOpShiftLeftLogical, {uintType(), high, part[1], constant(16)});
    emit(body(), SpvOpBitwiseAnd, {uintType(), low, part[0], constant(0xFFFF)});
    emit(body(), SpvOpBitwiseOr, {uintType(), both, high, low});
    return both;
  }

  uint32_t computed(const SpirvAddress& address) {
    uint32_t sum = constant(address.first);
    for (const SpirvAddress::Term& term : address.terms) {
      const uint32_t product = fresh(), next = fresh();
      emit(body(), SpvOpIMul, {uintType(), product, asUint(term.index), constant(term.stride)});
      emit(body(), SpvOpIAdd, {uintType(), next, sum, product});
      sum = next;
    }
    return sum;
  }

  // ---- the recorder: void record(uint site, uint address)

  void writeRecorder(Words& to) {
    const uint32_t site = fresh(), address = fresh(), begin = fresh(), append = fresh(), write = fresh();
    const uint32_t written = fresh(), end = fresh(), chosen = fresh();
    emit(to, SpvOpFunction, {voidType(), recorder_, SpvFunctionControlMaskNone, recorderType_});
    emit(to, SpvOpFunctionParameter, {uintType(), site});
    emit(to, SpvOpFunctionParameter, {uintType(), address});
    emit(to, SpvOpLabel, {begin});
    emit(to, SpvOpLoad, {boolType(), chosen, records_});
    emit(to, SpvOpSelectionMerge, {end, SpvSelectionControlMaskNone});
    emit(to, SpvOpBranchConditional, {chosen, append, end});
    emit(to, SpvOpLabel, {append});
    const uint32_t at = fresh(), fits = fresh();
    emit(to, SpvOpAtomicIAdd,
         {uintType(), at, pointerToWord(to, constant(0)), constant(SpvScopeDevice),
          constant(SpvMemorySemanticsMaskNone), constant(1)});
    emit(to, SpvOpULessThan, {boolType(), fits, at, loadWord(to, constant(1))});
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
    emit(to, SpvOpIMul, {uintType(), words, at, constant(sizeof(TraceRecord) / sizeof(uint32_t))});
    emit(to, SpvOpIAdd, {uintType(), first, words, constant(kTraceHeaderWords)});
    emit(to, SpvOpLoad, {uintType(), local, local_});
    emit(to, SpvOpShiftLeftLogical, {uintType(), shifted, site, constant(16)});
    emit(to, SpvOpBitwiseOr, {uintType(), lane, shifted, local});
    emit(to, SpvOpLoad, {uintType(), number, number_});
    emit(to, SpvOpLoad, {uintType(), epoch, epoch_});
    uint32_t index = first;
    for (const uint32_t value : {number, lane, epoch, address}) {
      emit(to, SpvOpStore, {pointerToWord(to, index), value});
      const uint32_t next = fresh();
      emit(to, SpvOpIAdd, {uintType(), next, index, constant(1)});
      index = next;
    }
  }

  InstrumentedShader result_;
  uint32_t uint3_ = 0, recorderType_ = 0, recorder_ = 0;
  uint32_t local_ = 0, group_ = 0, groups_ = 0, records_ = 0, epoch_ = 0, number_ = 0;
  uint32_t file_ = 0, line_ = 0;
  uint32_t before_ = 0;  // semantics of the memory barriers right before
};

}  // namespace

Result<InstrumentedShader> instrument(std::span<const uint32_t> spirv) {
  OPKIT_ASSIGN(SpirvModule module, SpirvModule::read(spirv));
  return Instrumenter(std::move(module), spirv).run();
}

}  // namespace opkit::harness
