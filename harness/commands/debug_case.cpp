#include "harness/commands/debug_case.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/model/tensor_file.h"
#include "harness/check/op_model.h"
#include "harness/check/prepared.h"
#include "harness/commands/check_job.h"
#include "harness/compare/diagnose.h"

namespace opkit::harness {
namespace {

/// The tensor in a dtype that .npy files have: itself, or its values as f64 or i64.
Result<Tensor> forNumPy(const Tensor& tensor) {
  if (!isCoded(tensor.desc.dtype)) return tensor;
  OracleTensor wide = OracleTensor::fromTensor(tensor);
  wide.desc.dtype = wide.isReal() ? DType::Float64 : DType::Int64;
  OPKIT_ASSIGN(Tensor copy, Tensor::onHost(wide.desc));
  wide.toTensor(copy);
  return copy;
}

/// Files of a case, named after its ports: cpu.output0.npy.
class TensorFolder {
 public:
  explicit TensorFolder(std::string folder) : folder_(std::move(folder)) {}

  Status save(const std::string& name, const Tensor& tensor) const {
    OPKIT_ASSIGN(const Tensor plain, forNumPy(tensor));
    const std::string path = fmt::format("{}/{}.npy", folder_, name);
    OPKIT_TRY(saveTensor(path, plain).withContext("--debug"));
    fmt::print("wrote    {}: {}{}\n", path, tensor.desc.toString(),
               plain.desc.dtype == tensor.desc.dtype ? "" : fmt::format(" as {}", nameOf(plain.desc.dtype)));
    return Status::ok();
  }

  Status saveInputs(const PreparedCase& c) const {
    for (size_t i = 0; i < c.inputs.size(); ++i)
      if (c.inputs[i]) OPKIT_TRY(save(fmt::format("input{}", i), *c.inputs[i]));
    for (size_t i = 0; i < c.expected.size(); ++i) {
      OracleTensor wide = c.expected[i];
      if (wide.isReal()) wide.desc.dtype = DType::Float64;
      OPKIT_ASSIGN(const Tensor expected, Tensor::onHost(wide.desc));
      wide.toTensor(expected);
      OPKIT_TRY(save(fmt::format("expected{}", i), expected));
    }
    return Status::ok();
  }

 private:
  std::string folder_;
};

/// The last two axes at the coordinates of an element: offset and shape.
struct Plane {
  size_t begin = 0;
  Shape shape;

  static Plane around(const Shape& shape, int64_t element) {
    Plane plane;
    plane.shape.assign(shape.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(shape.size(), 2)), shape.end());
    const int64_t size = elementCount(plane.shape);
    plane.begin = static_cast<size_t>(element / size * size);
    return plane;
  }
  size_t size() const { return static_cast<size_t>(elementCount(shape)); }
};

/// "output 0: 12 of 96 wrong; worst [1,2,5]: expected 0.25, got nan, budget 1e-7", and the map of its plane.
void printOutput(size_t index, const Comparison& found, const Shape& shape, const std::vector<bool>& wrong) {
  fmt::print("output {}: {} of {} elements wrong\n", index, found.failed, found.elements);
  if (found.pass || found.worst < 0) {
    if (!found.pass) fmt::print("  {}\n", found.reason);
    return;
  }
  fmt::print("  worst  {} expected {:.9g}, got {:.9g}, budget {:.3g}\n", coordinates(shape, found.worst),
             found.expected, found.got, found.bound);
  const Plane plane = Plane::around(shape, found.worst);
  const auto first = wrong.begin() + static_cast<std::ptrdiff_t>(plane.begin);
  const std::vector<bool> inside(first, first + static_cast<std::ptrdiff_t>(plane.size()));
  fmt::print("  plane  {} of the last axes, from element {}: '.' right, '#' wrong, '+' some of each\n",
             fmt::join(plane.shape, " x "), plane.begin);
  std::string map = "    " + errorMap(plane.shape, inside);
  for (size_t at = map.find('\n'); at != std::string::npos; at = map.find('\n', at + 1)) map.insert(at + 1, 4, ' ');
  fmt::print("{}\n", map);
}

/// The first run of the case on one backend; its outputs become files.
Status runOnce(const BackendLane& lane, const PreparedCase& c, const OpRegistry& registry, const TensorFolder& folder) {
  OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c.description, registry, c.inputs));
  SessionConfig config;
  config.backend = lane.name;
  config.keepTensors = config.poison = true;
  OPKIT_ASSIGN(const auto session, interpreter->createSession(config, lane.runtime));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  OPKIT_TRY(session->resize());
  OPKIT_TRY(session->run());
  OPKIT_ASSIGN(const std::vector<Tensor> outputs, copyOutputs(*session));
  const OpDef& def = *registry.find(c.description.op);
  for (size_t i = 0; i < outputs.size(); ++i) {
    OPKIT_TRY(folder.save(fmt::format("{}.output{}", lane.name, i), outputs[i]));
    if (i >= c.expected.size()) continue;
    std::vector<bool> wrong;
    const Tolerance tolerance = toleranceOf(def, c.description.lane, c.expected[i], c.description.boundScale);
    const Comparison found = compareTensor(c.expected[i], outputs[i], tolerance, &wrong);
    printOutput(i, found, outputs[i].desc.shape, wrong);
  }
  return Status::ok();
}

/// The sub-checks, in this process.
Result<int> checkHere(const Catalogue& one, const OpRegistry& registry, const BackendOptions& backends, bool brief) {
  CheckJob job(registry, one, backends);
  bool failed = false, executed = false;
  for (const JobReport& report : job.run({.group = 0, .brief = brief}).reports) {
    const CaseRecord& record = report.record;
    failed = failed || isFailure(record.status);
    executed = executed || isExecuted(record.status);
    if (report.block.empty())
      fmt::print("{} on {} {}\n  checks   {}\n", nameOf(record.status), record.backend, record.reason,
                 fmt::join(record.checks, " "));
    fmt::print("{}", report.block);
  }
  if (!failed && !executed) return nothingRan("no backend here runs the case");
  return failed ? cli::kCheckFailed : cli::kSuccess;
}

}  // namespace

Result<int> debugCase(const Catalogue& catalogue, const OpRegistry& registry, const BackendOptions& backends,
                      const DebugOptions& options) {
  std::set<std::string> ids;  // a drawn case may repeat a written one
  Catalogue one;
  for (const CaseGroup& group : catalogue.groups)
    for (const Case& c : group.cases)
      if (ids.insert(c.id()).second) one.groups = {{{c}}};
  if (ids.size() != 1)
    return Status::invalidArgument("--debug: expected one case, {} are chosen; --case ID chooses one", ids.size());
  OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(backends));
  const PreparedCase c = prepareCase(one.groups[0].cases[0], registry);
  OPKIT_TRY(c.status);
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return Status::invalidArgument("--debug: cannot make folder '{}': {}", options.folder, error.message());
  const TensorFolder files(options.folder);
  fmt::print("case     {}\n", c.description.id());
  OPKIT_TRY(files.saveInputs(c));
  for (const BackendLane& lane : lanes) {
    printDevice(lane.runtime->device());
    if (const Status status = runOnce(lane, c, registry, files); !status.isOk())
      fmt::print("{}: {}\n", lane.name, status.message());
  }
  return checkHere(one, registry, backends, options.brief);
}

}  // namespace opkit::harness
