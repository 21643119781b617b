#include "harness/check/variants.h"

#include <array>

#include "engine/backend/class_variations.h"
#include "reports/results/kernel_names.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif
#include "harness/cases/rng.h"
#include "harness/check/kernel_rig.h"
#include "harness/check/verdict.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/run/build_facts.h"
#include "harness/run/source_table.h"
#include "harness/trace/sanitize_case.h"
#endif

namespace opkit::harness {
namespace {

const OpDef& cardOf(const VariantContext& context) { return *context.registry.find(context.at.description.op); }

/// OK if the bits are those of the fresh Session. A rig makes the first output of a raster only.
Status sameAsFresh(const VariantContext& context, const std::vector<Tensor>& got) {
  const size_t made = std::min(got.size(), context.outputs.size());
  const std::vector<Tensor> fresh(context.outputs.begin(), context.outputs.begin() + static_cast<std::ptrdiff_t>(made));
  return sameResult(cardOf(context), context.at, fresh, got);
}

/// A kernel run by hand; Unsupported if none accepts the case that way.
Status runRig(const VariantContext& context, const RigOptions& options) {
  const PreparedCase& at = context.at;
  const auto rig = KernelRig::create(at.description, at.inputs, context.registry, *context.runtime, options);
  OPKIT_TRY(rig.error());
  const auto ran = (*rig)->run(at.inputs);
  OPKIT_TRY(ran.error());
  OPKIT_TRY(ran->inputsKept);
  return sameAsFresh(context, ran->outputs);
}

/// The first element of axis 0, which the tensor must have.
Result<Tensor> firstOf(const Tensor& tensor) {
  TensorDesc desc = tensor.desc;
  desc.shape.front() = 1;
  OPKIT_ASSIGN(Tensor first, Tensor::onHost(desc));
  std::ranges::copy(tensor.bytes().first(first.bytes().size()), first.bytes().begin());
  return first;
}

bool isBatch(const TensorDesc& desc, int64_t extent) { return !desc.shape.empty() && desc.shape.front() == extent; }

/// The values of the first element of axis 0 are those of `whole`.
bool beginsLike(const OracleTensor& first, const OracleTensor& whole) {
  Shape expected = whole.shape();
  if (expected.empty()) return false;
  expected.front() = 1;
  const auto same = [](double a, double b) { return a == b || (a != a && b != b); };
  return first.shape() == expected && std::equal(first.real.begin(), first.real.end(), whole.real.begin(), same) &&
         std::equal(first.integer.begin(), first.integer.end(), whole.integer.begin());
}

/// "device class discrete"
std::string defaultName(const DeviceClass& deviceClass) { return fmt::format("device class {}", deviceClass.name); }

}  // namespace

std::optional<PreparedCase> aloneOf(const PreparedCase& whole, const OpDef& def) {
  if (whole.expected.empty() || whole.expected.front().shape().empty()) return std::nullopt;
  const int64_t extent = whole.expected.front().shape().front();
  if (extent < 2) return std::nullopt;
  PreparedCase alone{whole.description, {}, {}, Status::ok()};
  bool any = false;
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    const std::optional<Tensor>& input = whole.inputs[i];
    const bool part = input && !whole.description.isConstant(i) && isBatch(input->desc, extent);
    auto tensor = !input ? Result<Tensor>(Tensor{}) : part ? firstOf(*input) : copyOf(*input);
    if (!tensor) return std::nullopt;
    any = any || part;
    alone.inputs.push_back(input ? std::optional<Tensor>(*std::move(tensor)) : std::nullopt);
  }
  const auto params = paramsFromJson(def.params, alone.description.params);
  if (!any || !params) return std::nullopt;
  auto expected = expectedOutputs(def, *params, alone.inputs, alone.description.outputs);
  if (!expected || expected->size() != whole.expected.size()) return std::nullopt;
  for (size_t i = 0; i < expected->size(); ++i)
    if (!beginsLike((*expected)[i], whole.expected[i])) return std::nullopt;
  alone.expected = *std::move(expected);
  return alone;
}

bool sums(const OpDef& def) {
  return def.numeric == NumericClass::Products || def.numeric == NumericClass::Sum ||
         def.numeric == NumericClass::Softmax || def.numeric == NumericClass::Norm;
}

Result<std::vector<Tensor>> runSession(Interpreter& interpreter, const SessionConfig& config,
                                       std::shared_ptr<Runtime> runtime, const PreparedCase& at, SessionFacts* facts) {
  OPKIT_ASSIGN(const auto session, interpreter.createSession(config, std::move(runtime)));
  OPKIT_TRY(feed(*session, at.description, at.inputs));
  OPKIT_TRY(session->run());
  if (facts) facts->alternatives = session->counters().alternatives;
  for (const Placement& row : session->placement()) {
    if (facts && row.type == at.description.op && !row.fellBack && !row.raster)
      facts->kernel = kernelName(row.provider, row.kernel);
    if (!row.fellBack) continue;
    const bool byDevice = std::ranges::any_of(row.refusals, [](const Refusal& refusal) { return refusal.byDevice; });
    if (byDevice) return std::vector<Tensor>();
    return Status::internal("fell back to {}", row.backend);
  }
  return copyOutputs(*session);
}

/// REQUIRES the same Runtime each time.
std::shared_ptr<Runtime> DeviceVariants::inClass(const std::shared_ptr<Runtime>& runtime,
                                                 const DeviceClass& deviceClass) {
  std::shared_ptr<Runtime>& found = classes_[&deviceClass];
#ifdef OPKIT_HAS_VULKAN
  const auto own = vulkan::asVulkan(runtime);
  if (!found && own) found = own->inClass(deviceClass);
#endif
  return found ? found : runtime;
}

std::string lackOf([[maybe_unused]] Runtime& runtime) {
#ifdef OPKIT_HAS_VULKAN
  if (const auto* own = vulkan::asVulkan(&runtime)) return own->vulkanDevice()->physical().lacks();
#endif
  return "";
}

Result<std::vector<DeviceVariants::Variant>> DeviceVariants::variantsOf(const OpRegistry& registry,
                                                                        const std::shared_ptr<Runtime>& runtime) {
  if (!tryClasses_) return std::vector<Variant>();
  OPKIT_ASSIGN(const auto backend, runtime->createBackend(registry, {.threads = 1}));
  std::vector<Variant> variants = allOf(runtime);
  std::erase_if(variants,
                [own = defaultName(*backend->caps().deviceClass)](const Variant& one) { return one.name == own; });
  return variants;
}

std::vector<DeviceVariants::Variant> DeviceVariants::allOf(const std::shared_ptr<Runtime>& runtime) {
  std::vector<Variant> variants;
  for (const DeviceClass& each : deviceClasses()) {
    const auto inEach = inClass(runtime, each);
    const Storage other = each.prefersImages ? Storage::Buffer : Storage::Image;
    variants.push_back({defaultName(each), inEach, {.backend = "vulkan"}});
    variants.push_back({fmt::format("{} with {}", defaultName(each), each.prefersImages ? "buffers" : "images"),
                        inEach,
                        {.backend = "vulkan", .storage = other}});
  }
  return variants;
}

#ifdef OPKIT_HAS_VULKAN
/// The source tree, if its shaders are those of this program; else "".
static const std::string& builtShaderTree() {
  static const std::string tree = [] {
    const std::vector<std::string> changed = changedSources(builtSources(), sourceFolder());
    const auto isShader = [](const std::string& path) { return path.starts_with("shaders/"); };
    return std::ranges::any_of(changed, isShader) ? std::string() : sourceFolder();
  }();
  return tree;
}
#endif

Status DeviceVariants::faultsIn([[maybe_unused]] const VariantContext& context,
                                [[maybe_unused]] const std::string& name,
                                [[maybe_unused]] std::vector<Tensor>* outputs) {
#ifdef OPKIT_HAS_VULKAN
  std::vector<Variant> variants = allOf(context.runtime);
  variants.push_back({"", context.runtime, {.backend = "vulkan"}});
  if (auto shortLoops = withShortLoops(context)) variants.push_back(*std::move(shortLoops));
  for (const Variant& variant : variants)
    if (variant.name == name)
      return sanitizeCase(
          context.at, context.registry, vulkan::asVulkan(variant.runtime), {.race = true, .bounds = true, .init = true},
          {.source = shaderTree_.value_or(builtShaderTree()), .storage = variant.config.storage, .outputs = outputs});
#endif
  return Status::unsupported("there is no {}", name);
}

Status DeviceVariants::trace(const VariantContext& context, const std::string& name) {
  std::vector<Tensor> outputs;
  const Status faults = faultsIn(context, name, &outputs);
  return faults.isOk() ? judge(context, name, outputs) : faults.withContext(name);
}

std::optional<DeviceVariants::Variant> DeviceVariants::withShortLoops([[maybe_unused]] const VariantContext& context) {
#ifdef OPKIT_HAS_VULKAN
  const auto own = vulkan::asVulkan(context.runtime);
  if (!own) return std::nullopt;
  if (!shortLoops_) shortLoops_ = own->inClass(own->deviceClass());
  constexpr std::array<uint64_t, 4> kLimits = {64, 128, 256, 1024};
  const uint64_t limit = kLimits[hashText(context.at.description.id()) % kLimits.size()];
  vulkan::asVulkan(shortLoops_.get())->limitLoops(limit);
  return Variant{fmt::format("loops of at most {} passes", limit), shortLoops_, {.backend = "vulkan"}};
#else
  return std::nullopt;
#endif
}

Status DeviceVariants::check(Interpreter& interpreter, const VariantContext& context, std::set<std::string>* ran) {
  OPKIT_ASSIGN(std::vector<Variant> variants, variantsOf(context.registry, context.runtime));
  if (auto shortLoops = withShortLoops(context)) variants.push_back(*std::move(shortLoops));
  for (const Variant& variant : variants) {
    SessionFacts facts;
    const auto outputs = runSession(interpreter, variant.config, variant.runtime, context.at, &facts);
    const Status status = judge(context, variant.name, outputs);
    if (!status.isOk() && outputs && context.onWrong)
      context.onWrong({*outputs,
                       rerunInSession(context.at.description, context.registry, variant.config, variant.runtime),
                       [&] { return faultsIn(context, variant.name); }});
    OPKIT_TRY(status);
    if (ran && outputs && !outputs->empty() && !facts.kernel.empty()) ran->insert(facts.kernel);
  }
  return checkAlternatives(interpreter, context);
}

Status DeviceVariants::judge(const VariantContext& context, const std::string& name,
                             const Result<std::vector<Tensor>>& outputs) {
  if (!outputs && outputs.error().isByDevice()) return Status::ok();  // no images there
  if (!outputs) return outputs.error().withContext(name);
  if (outputs->empty()) return Status::ok();  // refused by the device
  const Verdict verdict = compareAll(cardOf(context), context.at, *outputs, true);
  return verdict.total.pass ? Status::ok() : Status::internal("{}: {}", name, verdict.total.reason);
}

/// Alternatives of the kernel, or variations of the device's class: a session finds out how many differ, and the fresh
/// one was the first of them.
Status DeviceVariants::checkAlternatives(Interpreter& interpreter, const VariantContext& context) {
  OPKIT_ASSIGN(const auto backend, context.runtime->createBackend(context.registry, {.threads = 1}));
  const bool varies = variationsOf(*backend->caps().deviceClass).size() > 1;
  SessionFacts facts{.alternatives = std::max<size_t>(context.alternatives, varies ? 2 : 1)};
  size_t& count = facts.alternatives;
  for (size_t i = context.alternatives > 1 || !varies ? 0 : 1; count > 1 && i < count; ++i) {
    const SessionConfig config{.backend = context.backend, .alternative = i};
    const auto outputs = runSession(interpreter, config, context.runtime, context.at, &facts);
    const Status status = judge(context, fmt::format("alternative {} of {}", i, count), outputs);
    if (!status.isOk() && outputs && context.onWrong)
      context.onWrong({*outputs, rerunInSession(context.at.description, context.registry, config, context.runtime)});
    OPKIT_TRY(status);
  }
  return Status::ok();
}

Status checkFixedShapes(const VariantContext& context) {
  const PreparedCase& at = context.at;
  OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(at.description, context.registry, at.inputs, 1, true));
  OPKIT_ASSIGN(const auto outputs, runSession(*interpreter, {.backend = context.backend}, context.runtime, at));
  return outputs.empty() ? Status::ok() : sameResult(cardOf(context), at, context.outputs, outputs);
}

Status checkBatch(Interpreter& interpreter, const VariantContext& context) {
  const std::optional<PreparedCase> alone = aloneOf(context.at, cardOf(context));
  if (!alone)
    return Status::unsupported(
        "axis 0 is not a batch: it has fewer than two elements, or the oracle treats them differently");
  OPKIT_ASSIGN(const auto outputs, runSession(interpreter, {.backend = context.backend}, context.runtime, *alone));
  if (outputs.empty()) return Status::ok();
  if (sums(cardOf(context))) {
    const Verdict verdict = compareAll(cardOf(context), *alone, outputs, true);
    return verdict.total.pass ? Status::ok()
                              : Status::internal("the first of the batch alone: {}", verdict.total.reason);
  }
  std::vector<Tensor> among;
  for (const Tensor& output : context.outputs) {
    OPKIT_ASSIGN(Tensor first, firstOf(output));
    among.push_back(std::move(first));
  }
  return sameResult(cardOf(context), *alone, among, outputs)
      .withContext("the first of the batch, alone and among others");
}

Status checkAliased(const VariantContext& context) {
  if (cardOf(context).inPlace.empty())
    return Status::unsupported("the card lets no output take the memory of an input");
  for (const int input : cardOf(context).inPlace) {
    const auto index = static_cast<size_t>(input);
    if (index >= context.at.inputs.size() || !context.at.inputs[index] || context.at.description.isConstant(index))
      continue;
    OPKIT_TRY(runRig(context, {.threads = 1, .alias = index}).withContext(fmt::format("output 0 in input {}", input)));
  }
  return Status::ok();
}

Status checkInputs(const VariantContext& context) { return runRig(context, {.threads = 1}); }

Status checkOffsets(const VariantContext& context) {
  for (const size_t offset : {size_t{1}, size_t{3}})
    OPKIT_TRY(runRig(context, {.threads = 1, .offset = offset})
                  .withContext(fmt::format("tensors {} elements behind aligned memory", offset)));
  return Status::ok();
}

}  // namespace opkit::harness
