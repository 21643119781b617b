#include "engine/backend/cost.h"

#include <xxhash.h>

#include "engine/backend/op_runner.h"
#include "engine/base/clock.h"

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

Status prepare(OpRunner& runner, const MeasureArgs& what) {
  const CreateArgs& args = what.args;
  OPKIT_TRY(runner.place(args.inputs, args.outputs, what.contents));
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    if (!runner.reads(i)) continue;
    if (i < what.contents.size() && what.contents[i]) {
      OPKIT_TRY(runner.upload(i, *what.contents[i]));
    } else {
      OPKIT_ASSIGN(const Tensor values, ordinaryValues(args.input(i)));
      OPKIT_TRY(runner.upload(i, values));
    }
  }
  return runner.resize();
}

/// Nanoseconds of the command, and of everything around it.
Status run(OpRunner& runner, double& runNs, double& restNs) {
  const double start = nowNs();
  OPKIT_TRY(runner.run());
  const double wallNs = nowNs() - start;
  std::vector<double> device;
  OPKIT_TRY(runner.appendTimesNs(device));
  runNs = device.empty() ? wallNs : device.back();
  double allNs = 0;
  for (const double ns : device) allNs += ns;
  restNs = device.empty() ? 0 : std::max(wallNs - allNs, 0.0);
  return Status::ok();
}

Result<Cost> measure(Backend& backend, const MeasureArgs& what) {
  ++backend.counters().measurements;
  Cost cost;
  OPKIT_ASSIGN(std::unique_ptr<Execution> execution, what.creator.create(what.args, backend));
  OpRunner runner(backend, std::move(execution), what.creator.layout);
  OPKIT_TRY(prepare(runner, what));
  double runNs = 0, restNs = 0, total = 0;
  OPKIT_TRY(run(runner, runNs, restNs));
  for (int i = 0; i < kLeastRuns || (i < kMostRuns && total < kEnoughNs); ++i) {
    OPKIT_TRY(run(runner, runNs, restNs));
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
      fmt::format("{}/{} {}", what.creator.provider, what.creator.kernel, nameOf(what.creator.layout));
  std::string key = fmt::format("cost {} {} {} params {:016x}", args.def.type, kernel, configuration,
                                XXH3_64bits(args.paramBytes.data(), args.paramBytes.size()));
  for (size_t i = 0; i < args.inputs.size(); ++i)
    key += !args.inputs[i] ? " -"
                           : fmt::format(" {}{}{}", args.inputs[i]->toString(), args.constant(i) ? " constant" : "",
                                         args.layout(i) == Layout::NCHW ? "" : " image");
  key += " ->";
  for (const TensorDesc& output : args.outputs) key += " " + output.toString();
  if (!args.regions) return key;
  std::string regions = fmt::format("{} {}", static_cast<int>(args.regions->fill), args.regions->fillInput);
  for (const Region& each : args.regions->regions)
    regions += fmt::format(";{} {} {} {} {} {}", each.source, each.sourceOffset, each.offset, fmt::join(each.size, ","),
                           fmt::join(each.sourceStrides, ","), fmt::join(each.strides, ","));
  return key + fmt::format(" regions {:016x}", XXH3_64bits(regions.data(), regions.size()));
}

/// The entry `name` with `count` figures; if missing, calls `make` and stores its result.
template <class Make>
Result<std::vector<double>> kept(Runtime& runtime, const std::string& name, size_t count, Make&& make) {
  TuningCache* keeper = runtime.measurements();
  if (keeper)
    if (const auto known = keeper->find(name); known && known->ns.size() == count) return known->ns;
  OPKIT_ASSIGN(std::vector<double> figures, make());
  if (keeper) keeper->put(name, {0, figures});
  return figures;
}

/// The shortest of several copies of this many floats: upload, then download.
Status timeCopies(Backend& backend, int64_t elements, std::vector<double>& figures) {
  OPKIT_ASSIGN(const Tensor host, ordinaryValues({DType::Float32, {elements}}));
  OPKIT_ASSIGN(const Tensor device, onDevice(backend, {{backend.storageDType(DType::Float32), {elements}}, nullptr}));
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

Result<Cost> knownCost(Runtime& runtime, Backend& backend, const std::string& configuration, const MeasureArgs& args) {
  OPKIT_ASSIGN(const std::vector<double> figures,
               kept(runtime, keyOf(configuration, args), 2, [&]() -> Result<std::vector<double>> {
                 OPKIT_ASSIGN(const Cost cost, measure(backend, args));
                 return std::vector<double>{cost.runNs, cost.submitNs};
               }));
  return Cost{figures[0], figures[1]};
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
