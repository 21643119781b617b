#include "engine/tools/device_peaks.h"

namespace opkit {
namespace {

constexpr int64_t kSums[] = {1 << 12, 1 << 16, 1 << 20, 1 << 23};  // elements: 48 KiB to 96 MiB in all
constexpr int kLeastRuns = 3;
constexpr int kMostRuns = 20;
constexpr double kEnoughNs = 1e7;

void fill(const Tensor& tensor) {
  const std::span<float> values = tensor.data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
}

/// Time of the commands of the last run, by the device's clock if there is one. Unsupported if one fell back.
Result<double> commandsNs(const Session& session, double& flops, double& bytes) {
  double sum = 0;
  flops = bytes = 0;
  for (const Placement& row : session.placement()) {
    if (row.type == "Copy") continue;
    if (row.fellBack) return Status::unsupported("{} does not run on {}", row.type, session.config().backend);
    sum += row.deviceNs >= 0 ? row.deviceNs : row.hostNs;
    flops += row.flops;
    bytes += static_cast<double>(row.bytesRead + row.bytesWritten);
  }
  return sum;
}

struct Best {
  double ns = 0;
  double flops = 0, bytes = 0;
};

/// The shortest of several runs of a one-node model.
Result<Best> best(Model model, const OpRegistry& registry, const SessionConfig& config,
                  const std::shared_ptr<Runtime>& runtime) {
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), registry));
  OPKIT_ASSIGN(const auto session, interpreter->createSession(config, runtime));
  for (const std::string& name : session->inputNames()) fill(*session->fillInput(name));
  OPKIT_TRY(session->run());  // compiles
  Best best;
  double total = 0;
  for (int i = 0; i < kLeastRuns || (i < kMostRuns && total < kEnoughNs); ++i) {
    OPKIT_TRY(session->run());
    OPKIT_ASSIGN(const double ns, commandsNs(*session, best.flops, best.bytes));
    best.ns = i == 0 ? ns : std::min(best.ns, ns);
    total += ns;
  }
  return best;
}

/// `type` over an input of this shape and constant weights.
Result<Model> productModel(const char* type, const Shape& input, const Shape& weights) {
  Model model;
  OPKIT_ASSIGN(Tensor values, Tensor::onHost({DType::Float32, weights}));
  fill(values);
  const TensorId a = model.addInput("a", {DType::Float32, input});
  const TensorId b = model.addConstant("b", std::move(values));
  model.outputs = model.addNode(type, "product", {a, b});
  return model;
}

/// `type` over two inputs of this many elements.
Model sumModel(const char* type, int64_t elements) {
  Model model;
  const TensorId a = model.addInput("a", {DType::Float32, {elements}});
  const TensorId b = model.addInput("b", {DType::Float32, {elements}});
  model.outputs = model.addNode(type, "sum", {a, b});
  return model;
}

/// The best variant depends on the device: some read images faster than buffers.
Result<double> bestFlopsPerNs(const OpRegistry& registry, const SessionConfig& config,
                              const std::shared_ptr<Runtime>& runtime) {
  struct Product {
    const char* type;
    Shape input, weights;
  };
  double found = 0;
  for (const Product& product :
       {Product{"MatMul", {384, 384}, {384, 384}}, Product{"Conv", {1, 256, 28, 28}, {256, 256, 1, 1}},
        Product{"Conv", {1, 64, 28, 28}, {64, 64, 3, 3}}}) {
    OPKIT_ASSIGN(Model model, productModel(product.type, product.input, product.weights));
    OPKIT_ASSIGN(const Best multiplied, best(std::move(model), registry, config, runtime));
    if (multiplied.ns > 0) found = std::max(found, multiplied.flops / multiplied.ns);
  }
  return found;
}

/// An addition is a kernel; a concatenation uses copy commands if the device has them.
Result<DevicePeaks::Bandwidth> bestBandwidth(int64_t elements, const OpRegistry& registry, const SessionConfig& config,
                                             const std::shared_ptr<Runtime>& runtime) {
  DevicePeaks::Bandwidth found;
  for (const char* type : {"Add", "Concat"}) {
    OPKIT_ASSIGN(const Best moved, best(sumModel(type, elements), registry, config, runtime));
    if (found.bytes == 0) found.bytes = moved.bytes;
    if (moved.ns > 0) found.bytesPerNs = std::max(found.bytesPerNs, moved.bytes / moved.ns);
  }
  return found;
}

}  // namespace

double DevicePeaks::bytesPerNs(double bytes) const {
  double found = bandwidths.empty() ? 0 : bandwidths.front().bytesPerNs;
  for (const Bandwidth& each : bandwidths)
    if (each.bytes <= bytes) found = each.bytesPerNs;
  return found;
}

double DevicePeaks::share(double flops, double bytes, double ns) const {
  const double bandwidth = bytesPerNs(bytes);
  if (flopsPerNs <= 0 || bandwidth <= 0 || ns <= 0) return 0;
  return std::max(flops / flopsPerNs, bytes / bandwidth) / ns;
}

Result<DevicePeaks> measurePeaks(const OpRegistry& registry, SessionConfig config,
                                 const std::shared_ptr<Runtime>& runtime) {
  config.profile = true;
  config.placeByCost = config.startOnCpu = config.poison = config.keepTensors = false;
  config.guardBytes = config.memoryLimitBytes = 0;
  DevicePeaks peaks;
  OPKIT_ASSIGN(peaks.flopsPerNs, bestFlopsPerNs(registry, config, runtime));
  for (const int64_t elements : kSums) {
    OPKIT_ASSIGN(const DevicePeaks::Bandwidth moved, bestBandwidth(elements, registry, config, runtime));
    peaks.bandwidths.push_back(moved);
  }
  // The rate must not grow with the size: start-up cost hides the true rate of small sums.
  for (size_t i = peaks.bandwidths.size(); i-- > 1;)
    peaks.bandwidths[i - 1].bytesPerNs = std::max(peaks.bandwidths[i - 1].bytesPerNs, peaks.bandwidths[i].bytesPerNs);
  return peaks;
}

}  // namespace opkit
