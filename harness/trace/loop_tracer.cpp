#include "harness/trace/loop_tracer.h"

#include <xxhash.h>

#include <algorithm>

#include "harness/trace/spirv_rewriter.h"

namespace opkit::harness {
namespace {

constexpr uint64_t kGroups = 8;  // of a dispatch that count

enum Word : uint32_t { kBurn, kStride, kMost, kSum, kBurnt };  // of LoopCounts
static_assert(sizeof(LoopCounts) == 5 * sizeof(uint32_t));

class LoopCounter final : SpirvRewriter {
 public:
  LoopCounter(SpirvModule read, std::span<const uint32_t> spirv) : SpirvRewriter(std::move(read), spirv) {
    uint3_ = typeId(SpvOpTypeVector, {uintType(), 3});
    group_ = input(SpvBuiltInWorkgroupId, uint3_);
    groups_ = input(SpvBuiltInNumWorkgroups, uint3_);
    passes_ = variable(SpvStorageClassPrivate, uintType());
    counts_ = variable(SpvStorageClassPrivate, boolType());
    left_ = variable(SpvStorageClassPrivate, uintType());
    noise_ = variable(SpvStorageClassPrivate, uintType());
    burner_ = fresh();
    burnerType_ = fresh();
    emit(declarations(), SpvOpTypeFunction, {burnerType_, voidType()});
  }

  Result<std::vector<uint32_t>> run(size_t& loops) {
    auto words = rewrite([this](Words& functions) { writeBurner(functions); });
    loops = loops_;
    return words;
  }

 private:
  uint32_t made(SpvOp op, uint32_t type, uint32_t a, uint32_t b) { return made(body(), op, type, a, b); }
  uint32_t made(Words& to, SpvOp op, uint32_t type, uint32_t a, uint32_t b) {
    const uint32_t id = fresh();
    emit(to, op, {type, id, a, b});
    return id;
  }
  uint32_t loaded(Words& to, uint32_t type, uint32_t variable) {
    const uint32_t id = fresh();
    emit(to, SpvOpLoad, {type, id, variable});
    return id;
  }

  void begin() override {
    uint32_t number = 0;  // (z * Y + y) * X + x
    const uint32_t at = loaded(body(), uint3_, group_), size = loaded(body(), uint3_, groups_);
    for (uint32_t axis = 3; axis-- > 0;) {
      const uint32_t here = fresh(), extent = fresh();
      emit(body(), SpvOpCompositeExtract, {uintType(), here, at, axis});
      emit(body(), SpvOpCompositeExtract, {uintType(), extent, size, axis});
      number = number == 0 ? here : made(SpvOpIAdd, uintType(), made(SpvOpIMul, uintType(), number, extent), here);
    }
    const uint32_t rest = made(SpvOpUMod, uintType(), number, loadWord(body(), constant(kStride)));
    const uint32_t counts = made(SpvOpIEqual, boolType(), rest, constant(0)), left = fresh();
    emit(body(), SpvOpSelect, {uintType(), left, counts, loadWord(body(), constant(kBurn)), constant(0)});
    emit(body(), SpvOpStore, {counts_, counts});
    emit(body(), SpvOpStore, {left_, left});
    emit(body(), SpvOpStore, {noise_, left});
    emit(body(), SpvOpStore, {passes_, constant(0)});
    emit(body(), SpvOpFunctionCall, {voidType(), fresh(), burner_});
  }

  void before(const SpirvInstruction& i) override {
    if (i.opcode == SpvOpLoopMerge) {
      ++loops_;
      increment(body(), passes_);
    }
    if (i.opcode == SpvOpReturn && isInEntry()) storeCounts();
  }

  /// Invocations of other groups add nothing.
  void storeCounts() {
    const uint32_t own = fresh();
    emit(body(), SpvOpSelect,
         {uintType(), own, loaded(body(), boolType(), counts_), loaded(body(), uintType(), passes_), constant(0)});
    for (const auto& [op, word] : {std::pair{SpvOpAtomicUMax, kMost}, std::pair{SpvOpAtomicIAdd, kSum}})
      emit(body(), op,
           {uintType(), fresh(), pointerToWord(body(), constant(word)), constant(SpvScopeDevice),
            constant(SpvMemorySemanticsMaskNone), own});
  }

  /// void burn(): `left_` iterations; their noise goes to memory, so that no compiler leaves them out.
  void writeBurner(Words& to) {
    const uint32_t first = fresh(), header = fresh(), test = fresh(), step = fresh(), next = fresh(), end = fresh();
    emit(to, SpvOpFunction, {voidType(), burner_, SpvFunctionControlMaskNone, burnerType_});
    emit(to, SpvOpLabel, {first});
    emit(to, SpvOpBranch, {header});
    emit(to, SpvOpLabel, {header});
    emit(to, SpvOpLoopMerge, {end, next, SpvLoopControlMaskNone});
    emit(to, SpvOpBranch, {test});
    emit(to, SpvOpLabel, {test});
    const uint32_t left = loaded(to, uintType(), left_),
                   goesOn = made(to, SpvOpINotEqual, boolType(), left, constant(0));
    emit(to, SpvOpBranchConditional, {goesOn, step, end});
    emit(to, SpvOpLabel, {step});
    const uint32_t noise = made(to, SpvOpIMul, uintType(), loaded(to, uintType(), noise_), constant(1664525));
    emit(to, SpvOpStore, {noise_, made(to, SpvOpBitwiseXor, uintType(), noise, left)});
    emit(to, SpvOpStore, {left_, made(to, SpvOpISub, uintType(), left, constant(1))});
    emit(to, SpvOpBranch, {next});
    emit(to, SpvOpLabel, {next});
    emit(to, SpvOpBranch, {header});
    emit(to, SpvOpLabel, {end});
    emit(to, SpvOpAtomicXor,
         {uintType(), fresh(), pointerToWord(to, constant(kBurnt)), constant(SpvScopeDevice),
          constant(SpvMemorySemanticsMaskNone), loaded(to, uintType(), noise_)});
    emit(to, SpvOpReturn, {});
    emit(to, SpvOpFunctionEnd, {});
  }

  size_t loops_ = 0;
  uint32_t uint3_ = 0, group_ = 0, groups_ = 0, passes_ = 0, counts_ = 0, left_ = 0, noise_ = 0;
  uint32_t burner_ = 0, burnerType_ = 0;
};

Result<std::shared_ptr<vulkan::VulkanBuffer>> makeBuffer(const std::shared_ptr<vulkan::Device>& device) {
  OPKIT_ASSIGN(std::shared_ptr<vulkan::VulkanBuffer> buffer,
               vulkan::VulkanBuffer::create(device, sizeof(LoopCounts), vulkan::MemoryUse::Staging));
  *reinterpret_cast<LoopCounts*>(buffer->hostData()) = {};
  return buffer;
}

}  // namespace

Result<std::vector<uint32_t>> countLoops(std::span<const uint32_t> spirv, size_t& loops) {
  OPKIT_ASSIGN(SpirvModule module, SpirvModule::read(spirv));
  return LoopCounter(std::move(module), spirv).run(loops);
}

std::span<const uint32_t> LoopTracer::instrument(const vulkan::ShaderCode& code) {
  const auto [at, isNew] = shaders_.try_emplace(XXH3_64bits(code.spirv.data(), code.spirv.size_bytes()));
  Shader& made = at->second;
  if (isNew) {
    Result<std::vector<uint32_t>> counted = countLoops(code.spirv, made.loops);
    if (counted && made.loops > 0) made.spirv = *std::move(counted);
  }
  latest_[code.name] = &made;
  return made.loops > 0 ? std::span<const uint32_t>(made.spirv) : code.spirv;
}

Result<std::shared_ptr<const vulkan::VulkanBuffer>> LoopTracer::bufferFor(
    const vulkan::TracedDispatch& dispatch, const std::shared_ptr<vulkan::Device>& device) {
  const auto shader = latest_.find(dispatch.code.name);
  if (shader == latest_.end()) return Status::internal("{}: was not instrumented", dispatch.code.name);
  if (shader->second->loops == 0) {
    if (!unused_) {
      OPKIT_ASSIGN(unused_, makeBuffer(device));
    }
    return std::shared_ptr<const vulkan::VulkanBuffer>(unused_);
  }
  OPKIT_ASSIGN(std::shared_ptr<vulkan::VulkanBuffer> buffer, makeBuffer(device));
  recorded_.push_back({dispatch.code.name, std::move(buffer)});
  const uint64_t groups = uint64_t{dispatch.groups.x} * dispatch.groups.y * dispatch.groups.z;
  recorded_.back().words().stride = static_cast<uint32_t>(groups / kGroups + 1);
  return std::shared_ptr<const vulkan::VulkanBuffer>(recorded_.back().buffer);
}

void LoopTracer::begin(uint32_t burn) {
  for (const Recorded& one : recorded_) one.words() = {.burn = burn, .stride = one.words().stride};
}

std::vector<LoopTracer::Count> LoopTracer::counts() const {
  std::vector<Count> counts;
  for (const Recorded& one : recorded_) counts.push_back({one.shader, one.words().most, one.words().sum});
  return counts;
}

}  // namespace opkit::harness
