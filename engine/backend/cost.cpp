#include "engine/backend/cost.h"
#include "engine/base/clock.h"

#include <xxhash.h>

#include <deque>

namespace opkit {
namespace {

constexpr double kEnoughNs = 1e7;  // of runs of one command
constexpr int kLeastRuns = 3;
constexpr int kMostRuns = 30;
constexpr int kCopies = 5;
constexpr int64_t kSmallCopy = 1024;  // elements
constexpr int64_t kLargeCopy = 1 << 18;

/// Ordinary values: denormals and infinities would be slow. Integers are zero, which is a valid index everywhere.
Result<Tensor> ordinaryValues(const TensorDesc& desc) {
  const bool real = isFloat(desc.dtype);
  OPKIT_ASSIGN(Tensor host, Tensor::onHost({real ? DType::Float32 : desc.dtype, desc.shape}));
  if (!real) return host;
  const std::span<float> values = host.data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
  return host;
}

/// One command and its tensors on a backend.
class Trial {
 public:
  Trial(Backend& backend, const MeasureArgs& what) : backend_(backend), what_(what) {}
  ~Trial() { backend_.dropPlan(0); }  // recordings are freed before the memory that they refer to
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  Status prepare() {
    OPKIT_TRY(create());
    for (size_t i = 0; i < what_.args.inputs.size(); ++i) OPKIT_TRY(addInput(i));
    for (const TensorDesc& desc : what_.args.outputs) {
      OPKIT_ASSIGN(const Tensor* output, place(desc, layout_));
      outputs_.push_back(output);
    }
    OPKIT_TRY(backend_.onResizeBegin());
    OPKIT_TRY(backend_.beginSegment(0));
    for (Conversion& each : conversions_) OPKIT_TRY(each.execution->onResize(each.from, each.to));
    OPKIT_TRY(resizeAlone(backend_, *execution_, inputs_, outputs_));
    return backend_.endSegment(0);
  }

  /// Nanoseconds of the command, and including everything around it.
  Status run(double& runNs, double& restNs) {
    const double start = nowNs();
    for (Conversion& each : conversions_) OPKIT_TRY(each.execution->onExecute(each.from, each.to));
    OPKIT_TRY(execution_->onExecute(inputs_, outputs_));
    OPKIT_TRY(backend_.onExecuteEnd(0));
    const double wallNs = nowNs() - start;
    OPKIT_ASSIGN(const std::vector<double> device, backend_.deviceTimesNs());
    runNs = device.empty() ? wallNs : device.back();
    double allNs = 0;
    for (const double ns : device) allNs += ns;
    restNs = device.empty() ? 0 : std::max(wallNs - allNs, 0.0);
    return Status::ok();
  }

 private:
  struct Conversion {
    std::unique_ptr<Execution> execution;
    std::vector<const Tensor*> from, to;
  };

  Status create() {
    if (what_.creator) {
      layout_ = what_.creator->layout;
      OPKIT_ASSIGN(execution_, what_.creator->create(what_.args, backend_));
      return Status::ok();
    }
    layout_ = backend_.rasterLayout(*what_.regions, what_.args);
    OPKIT_ASSIGN(std::unique_ptr<RasterExecution> raster, backend_.createRaster());
    raster->setRegions(*what_.regions);
    execution_ = std::move(raster);
    return Status::ok();
  }

  Result<const Tensor*> place(const TensorDesc& desc, Layout layout) {
    Tensor tensor{desc, nullptr, 0, 0, layout};
    OPKIT_ASSIGN(const size_t bytes, backend_.storedBytes(tensor));
    OPKIT_ASSIGN(tensor.buffer, backend_.allocate(std::max<size_t>(bytes, 1)));
    return &tensors_.emplace_back(std::move(tensor));
  }

  Status addInput(size_t i) {
    const TensorDesc* desc = what_.args.inputs[i];
    if (!desc || !execution_->readsInput(i)) {
      inputs_.push_back(desc ? &tensors_.emplace_back(Tensor{*desc, nullptr}) : nullptr);
      return Status::ok();
    }
    const Tensor* known = i < what_.contents.size() ? what_.contents[i] : nullptr;
    OPKIT_ASSIGN(const Tensor* plain, place(*desc, Layout::NCHW));
    if (known) {
      OPKIT_TRY(backend_.upload(*known, *plain));
    } else {
      OPKIT_ASSIGN(const Tensor host, ordinaryValues(*desc));
      OPKIT_TRY(backend_.upload(host, *plain));
    }
    const bool converted = !known && layout_ != Layout::NCHW;
    inputs_.push_back(plain);
    if (!converted) return Status::ok();
    OPKIT_ASSIGN(inputs_.back(), place(*desc, layout_));
    Conversion& added = conversions_.emplace_back();
    OPKIT_ASSIGN(added.execution, backend_.createConversion());
    added.from = {plain};
    added.to = {inputs_.back()};
    return Status::ok();
  }

  Backend& backend_;
  const MeasureArgs& what_;
  Layout layout_ = Layout::NCHW;
  std::deque<Tensor> tensors_;  // must not move: the lists point at them
  std::unique_ptr<Execution> execution_;
  std::vector<Conversion> conversions_;
  std::vector<const Tensor*> inputs_, outputs_;
};

Result<Cost> measure(Backend& backend, const MeasureArgs& args) {
  ++backend.counters().measurements;
  Cost cost;
  const double start = nowNs();
  Trial trial(backend, args);
  OPKIT_TRY(trial.prepare());
  double runNs = 0, restNs = 0, total = 0;
  OPKIT_TRY(trial.run(runNs, restNs));
  cost.firstNs = nowNs() - start;
  for (int i = 0; i < kLeastRuns || (i < kMostRuns && total < kEnoughNs); ++i) {
    OPKIT_TRY(trial.run(runNs, restNs));
    cost.runNs = i == 0 ? runNs : std::min(cost.runNs, runNs);
    cost.submitNs = i == 0 ? restNs : std::min(cost.submitNs, restNs);
    total += runNs + restNs;
  }
  return cost;
}

/// Everything that the speed of a command depends on, as a key of the cache.
std::string keyOf(const std::string& configuration, const MeasureArgs& what) {
  const CreateArgs& args = what.args;
  const std::string kernel =
      what.creator ? fmt::format("{}/{} {}", what.creator->provider, what.creator->kernel, nameOf(what.creator->layout))
                   : "raster";
  std::string key = fmt::format("cost {} {} {} params {:016x}", args.def.type, kernel, configuration,
                                XXH3_64bits(args.paramBytes.data(), args.paramBytes.size()));
  for (size_t i = 0; i < args.inputs.size(); ++i)
    key += !args.inputs[i] ? " -"
                           : fmt::format(" {}{}{}", args.inputs[i]->toString(), args.constant(i) ? " constant" : "",
                                         args.layout(i) == Layout::NCHW ? "" : " image");
  key += " ->";
  for (const TensorDesc& output : args.outputs) key += " " + output.toString();
  if (!what.regions) return key;
  std::string regions = fmt::format("{} {}", static_cast<int>(what.regions->fill), what.regions->fillInput);
  for (const Region& each : what.regions->regions)
    regions += fmt::format(";{} {} {} {} {} {}", each.source, each.sourceOffset, each.offset, fmt::join(each.size, ","),
                           fmt::join(each.sourceStrides, ","), fmt::join(each.strides, ","));
  return key + fmt::format(" regions {:016x}", XXH3_64bits(regions.data(), regions.size()));
}

/// The entry `name` with `count` figures; if missing, calls `make` and stores its result.
template <class Make>
Result<std::vector<double>> kept(Runtime& runtime, const std::string& name, size_t count, Make&& make) {
  auto* keeper = dynamic_cast<KeepsMeasurements*>(&runtime);
  if (keeper)
    if (const auto known = keeper->tuning().find(name); known && known->ns.size() == count) return known->ns;
  OPKIT_ASSIGN(std::vector<double> figures, make());
  if (keeper) keeper->tuning().put(name, {0, figures});
  return figures;
}

/// The shortest of several copies of this many floats: upload, then download.
Status timeCopies(Backend& backend, int64_t elements, std::vector<double>& figures) {
  OPKIT_ASSIGN(const Tensor host, ordinaryValues({DType::Float32, {elements}}));
  Tensor device{{backend.storageDType(DType::Float32), {elements}}, nullptr};
  OPKIT_ASSIGN(device.buffer, backend.allocate(device.sizeBytes()));
  double up = 0, down = 0;
  for (int i = 0; i < kCopies; ++i) {
    const double start = nowNs();
    OPKIT_TRY(backend.upload(host, device));
    const double middle = nowNs();
    OPKIT_TRY(backend.download(device, host));
    const double end = nowNs();
    up = i == 0 ? middle - start : std::min(up, middle - start);
    down = i == 0 ? end - middle : std::min(down, end - middle);
  }
  figures.push_back(up);
  figures.push_back(down);
  return Status::ok();
}

CopyCost copyCostOf(double smallNs, double largeNs) {
  constexpr double kBytes = sizeof(float);
  const double rate = std::max(largeNs - smallNs, 0.0) / (kBytes * static_cast<double>(kLargeCopy - kSmallCopy));
  return {std::max(smallNs - rate * kBytes * static_cast<double>(kSmallCopy), 0.0), rate};
}

}  // namespace

Result<Cost> onMeasure(Backend& backend, const MeasureArgs& args) {
  if (auto* own = dynamic_cast<EstimatesCost*>(&backend)) return own->onMeasure(args);
  return measure(backend, args);
}

Result<Cost> knownCost(Runtime& runtime, Backend& backend, const std::string& configuration, const MeasureArgs& args) {
  OPKIT_ASSIGN(const std::vector<double> figures,
               kept(runtime, keyOf(configuration, args), 3, [&]() -> Result<std::vector<double>> {
                 OPKIT_ASSIGN(const Cost cost, onMeasure(backend, args));
                 return std::vector<double>{cost.runNs, cost.submitNs, cost.firstNs};
               }));
  return Cost{figures[0], figures[1], figures[2]};
}

Result<CopyCosts> knownCopyCosts(Runtime& runtime, Backend& backend) {
  const std::string name = fmt::format("copies of {}", nameOf(backend.storageDType(DType::Float32)));
  OPKIT_ASSIGN(const std::vector<double> ns, kept(runtime, name, 4, [&]() -> Result<std::vector<double>> {
                 std::vector<double> figures;
                 OPKIT_TRY(timeCopies(backend, kSmallCopy, figures));
                 OPKIT_TRY(timeCopies(backend, kLargeCopy, figures));
                 return figures;
               }));
  return CopyCosts{copyCostOf(ns[0], ns[2]), copyCostOf(ns[1], ns[3])};
}

}  // namespace opkit
