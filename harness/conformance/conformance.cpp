#include "harness/conformance/conformance.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/child_process.h"
#include "engine/base/json_text.h"
#include "engine/import/onnx/onnx_importer.h"
#include "harness/check/op_model.h"
#include "harness/check/placement_check.h"
#include "harness/check/variants.h"
#include "harness/conformance/declared.h"
#include "harness/conformance/node_bound.h"
#include "harness/export/case_folder.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

/// The defaults of ONNX's own backend tests; data.json beside a model may hold others.
struct Bounds {
  double rtol = 1e-3;
  double atol = 1e-7;
  double ofLargest = 0;  // times the largest element of the output
  std::optional<NodeBound> card = {};
  std::optional<BoundFile> file = {};  // bound.json, which takes the place of the others
};

/// A model with so many weights is a network: sums of its layers cancel, and an element near zero has their error.
constexpr int64_t kNetworkWeights = 1 << 16;
constexpr double kOfLargest = 1e-5;

bool isNetwork(const Model& model) {
  int64_t weights = 0;
  for (const ModelTensor& tensor : model.tensors)
    if (tensor.constant && isFloat(tensor.constant->desc.dtype)) weights += tensor.constant->desc.elements();
  return weights >= kNetworkWeights;
}

Result<Bounds> boundsOf(const fs::path& folder) {
  Bounds bounds;
  OPKIT_ASSIGN(bounds.file, readBoundFile(folder.string()));
  const fs::path path = folder / "data.json";
  if (!fs::exists(path)) return bounds;
  OPKIT_ASSIGN(const auto bytes, readFile(path.string()));
  OPKIT_TRY(checkJsonDepth({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).withContext("data.json"));
  const auto json = parseJson(bytes);
  if (!json.is_object()) return Status::invalidArgument("data.json: expected a JSON object");
  for (auto [name, value] : {std::pair{"rtol", &bounds.rtol}, std::pair{"atol", &bounds.atol}}) {
    if (!json.contains(name)) continue;
    if (!json[name].is_number() || !(json[name].get<double>() >= 0) || !(json[name].get<double>() < 1))
      return Status::invalidArgument("data.json: '{}': expected a number from 0 to below 1, got {}", name,
                                     json[name].dump());
    *value = json[name].get<double>();
  }
  return bounds;
}

Result<Tensor> readProto(const fs::path& path, DType kind) {
  OPKIT_ASSIGN(const auto bytes, readFile(path.string()));
  auto tensor = valueFromProto(bytes, kind);
  if (!tensor) return tensor.error().withContext(path.filename().string());
  return tensor;
}

/// Data sets from the time before TensorProto held bf16 keep its codes as u16.
Tensor asDeclared(Tensor value, DType declared) {
  if (declared == DType::BFloat16 && value.desc.dtype == DType::UInt16) value.desc.dtype = declared;
  return value;
}

Tolerance onnxTolerance(const OracleTensor& expected, const Bounds& bounds) {
  Tolerance tolerance;
  tolerance.nmseGate = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const double value : expected.real)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  const double least = std::max(bounds.atol, bounds.ofLargest * largest);
  for (const double value : expected.real) tolerance.bound.push_back(least + bounds.rtol * std::fabs(value));
  return tolerance;
}

/// Whether a device that can do more would have run the node, by the refusals of its backend alone.
bool refusedByDevice(const Placement& row) {
  return std::ranges::any_of(
      row.refusals, [](const Refusal& refusal) { return refusal.byDevice && !refusal.provider.starts_with("cpu"); });
}

using Inputs = std::vector<std::pair<size_t, std::string>>;  // positions and names, in order

Inputs inputsWithDefault(const Model& model) {
  Inputs inputs;
  for (const ModelTensor& tensor : model.tensors)
    if (tensor.defaultOf) inputs.emplace_back(tensor.defaultOf->position, tensor.name);
  std::ranges::sort(inputs);
  return inputs;
}

/// One model on its Sessions, data set by data set.
class ConformanceRun {
 public:
  /// Of an unjudgeable model only properties of the outputs are checked.
  ConformanceRun(Inputs defaults, Bounds bounds, DeclaredModel declared, CaseResult& result)
      : defaults_(std::move(defaults)), bounds_(std::move(bounds)), declared_(std::move(declared)), result_(result) {}

  Status runSet(Session& session, const fs::path& set) {
    session_ = &session;
    OPKIT_TRY(feedSet(set));
    OPKIT_TRY(session_->run());
    noteFallbacks();
    return compareSet(set);
  }

  /// True if some expected output holds more than one value; a network of constant weights may not.
  bool varied() const { return varied_; }

 private:
  static bool isConstant(const OracleTensor& tensor) {
    const auto same = [](const auto& values) {
      return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
    };
    return tensor.elements() >= 100 && same(tensor.real) && same(tensor.integer);
  }

  /// The data set may give all inputs of the file, or those without a default alone.
  std::vector<std::string> namesIn(const fs::path& set) const {
    std::vector<std::string> names = session_->inputNames();
    if (defaults_.empty() || !fs::exists(set / fmt::format("input_{}.pb", names.size()))) return names;
    for (const auto& [position, name] : defaults_)
      names.insert(names.begin() + static_cast<ptrdiff_t>(std::min(position, names.size())), name);
    return names;
  }

  bool isDefault(const std::string& name) const {
    return std::ranges::any_of(defaults_, [&](const auto& one) { return one.second == name; });
  }

  Status feedSet(const fs::path& set) {
    std::vector<std::pair<std::string, Tensor>> values;
    const std::vector<std::string> names = namesIn(set);
    for (size_t i = 0; i < names.size(); ++i) {
      const fs::path path = set / fmt::format("input_{}.pb", i);
      if (isDefault(names[i]) && !fs::exists(path)) continue;
      OPKIT_ASSIGN(Tensor value, readProto(path, session_->inputType(names[i])));
      if (isDefault(names[i])) {
        OPKIT_TRY(session_->setDefault(names[i], value));
        continue;
      }
      const Status resized = session_->resizeInput(names[i], value.desc.shape);
      if (!resized.isOk() && declared_.refusal)
        return Status::unsupported("the data set contradicts the model: {}", resized.message());
      OPKIT_TRY(resized);
      values.emplace_back(names[i], std::move(value));
    }
    if (fs::exists(set / fmt::format("input_{}.pb", names.size())))
      return Status::internal("the data set has more inputs than the model's {}", names.size());
    for (auto& [name, value] : values) OPKIT_TRY(fill(name, std::move(value)));
    return Status::ok();
  }

  Status fill(const std::string& name, Tensor given) {
    Tensor* target = session_->fillInput(name);
    Tensor value = asDeclared(std::move(given), target->desc.dtype);
    if (isObject(target->desc.dtype) && target->desc.dtype == value.desc.dtype) {
      *target = value;
      return Status::ok();
    }
    if (target->desc != value.desc)
      return Status::internal("input '{}' is {}, the data set holds {}", name, target->desc.toString(),
                              value.desc.toString());
    std::ranges::copy(value.bytes(), target->bytes().begin());
    given_.insert_or_assign(name, std::move(value));
    return Status::ok();
  }

  Status compareSet(const fs::path& set) {
    const std::vector<std::string> names = session_->outputNames();
    OPKIT_ASSIGN(const std::vector<Tensor> outputs, copyOutputs(*session_));
    result_.digest = digestOf(outputs);
    if (names.empty()) return Status::internal("the model has no output to compare");
    for (size_t i = 0; i < names.size(); ++i) {
      const Tensor* got = session_->output(names[i]);
      OPKIT_ASSIGN(const Tensor value, readProto(set / fmt::format("output_{}.pb", i), got->desc.dtype));
      if (isObject(got->desc.dtype)) {
        OPKIT_TRY(
            compareObject(value, *got).withContext(fmt::format("{} output '{}'", set.filename().string(), names[i])));
        continue;
      }
      if (got->desc.dtype == DType::BFloat16 && value.desc.dtype == DType::UInt16)
        return Status::unsupported("output '{}': the data set holds bf16 as u16, from the time when it was truncated",
                                   names[i]);
      const OracleTensor expected = OracleTensor::fromTensor(value);
      varied_ = varied_ || !isConstant(expected);
      if (declared_.unjudgeable) {
        const Status status = checkUnjudgeable(declared_, expected, *got);
        if (!status.isOk())
          return Status::internal("{} output '{}': {}", set.filename().string(), names[i], status.message());
        continue;
      }
      const Status judged =
          bounds_.file ? compareBounded(set, names[i], expected, *got) : compareLeaf(expected, *got, i);
      OPKIT_TRY(judged.withContext(fmt::format("{} output '{}'", set.filename().string(), names[i])));
    }
    if (fs::exists(set / fmt::format("output_{}.pb", names.size())))
      return Status::internal("the data set has more outputs than the model's {}", names.size());
    return Status::ok();
  }

  /// By data.json or the defaults. `output` is the index of the model's output that `got` is; nothing for a part of
  /// one.
  Status compareLeaf(const OracleTensor& expected, const Tensor& got, std::optional<size_t> output = std::nullopt) {
    Tolerance tolerance = onnxTolerance(expected, bounds_);
    Comparison one = compareTensor(expected, got, tolerance);
    if (!one.pass && output && bounds_.card) {
      bounds_.card->widen(given_, *output, expected, tolerance);
      one = compareTensor(expected, got, tolerance);
    }
    return count(one, got.desc.shape);
  }

  /// By bound.json.
  Status compareBounded(const fs::path& set, const std::string& name, const OracleTensor& expected, const Tensor& got) {
    const BoundSet* const bounds = bounds_.file->find(set.filename().string());
    if (!bounds) return Status::invalidArgument("bound.json does not list this data set");
    const size_t outputs = session_->outputNames().size();
    if (bounds->outputs.size() != outputs)
      return Status::invalidArgument("bound.json lists {} outputs, the model has {}", bounds->outputs.size(), outputs);
    const auto output = std::ranges::find(bounds->outputs, name, &OutputBound::name);
    if (output == bounds->outputs.end()) return Status::invalidArgument("bound.json does not list this output");
    OPKIT_ASSIGN(const Tolerance tolerance, toleranceFrom(*output, set.string(), expected));
    return count(compareTensor(expected, got, tolerance), got.desc.shape);
  }

  Status count(const Comparison& one, const Shape& shape) {
    if (!result_.accuracy || one.margin > result_.accuracy->margin) result_.worstShape = shape;
    if (!result_.accuracy)
      result_.accuracy = one;
    else
      merge(*result_.accuracy, one);
    return one.pass ? Status::ok() : Status::internal("{}", one.reason);
  }

  /// Sequences, optional values and strings: the same structure, equal strings, tensors within the bounds.
  Status compareObject(const Tensor& expected, const Tensor& got) {
    if (describe(expected) != describe(got))
      return Status::internal("expected {}, got {}", describe(expected), describe(got));
    const std::vector<Leaf> want = leavesOf(expected), have = leavesOf(got);
    varied_ = true;
    if (!result_.accuracy) result_.accuracy.emplace().pass = true;
    for (size_t i = 0; i < want.size(); ++i) {
      if (want[i].tensor.desc.dtype != DType::String) {
        OPKIT_TRY(compareLeaf(OracleTensor::fromTensor(want[i].tensor), have[i].tensor).withContext(want[i].place));
      } else if (stringsOf(want[i].tensor) != stringsOf(have[i].tensor)) {
        return Status::internal("{}: the strings differ", want[i].place);
      }
    }
    return Status::ok();
  }

  void noteFallbacks() {
    result_.fallbacks.clear();
    for (const Placement& row : session_->placement()) {
      if (row.fellBack) result_.fallbacks.push_back({row.node, row.type, refusalText(row), refusedByDevice(row)});
      if (row.type != "Copy") result_.provider = row.raster ? "raster" : row.provider;
    }
  }

  Session* session_ = nullptr;  // of the present set
  Inputs defaults_;
  Bounds bounds_;
  std::map<std::string, Tensor> given_;  // inputs of the set
  DeclaredModel declared_;
  CaseResult& result_;
  bool varied_ = false;
};

std::vector<fs::path> dataSets(const fs::path& folder) {
  std::vector<fs::path> sets;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with("test_data_set_")) sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// A copy of an exported folder may be in part.
Status checkSetsAreThere(const BoundFile& file, const std::vector<fs::path>& sets) {
  for (const BoundSet& listed : file.sets)
    if (std::ranges::none_of(sets, [&](const fs::path& set) { return set.filename() == listed.set; }))
      return Status::invalidArgument("bound.json lists '{}', which is not there", listed.set);
  return Status::ok();
}

std::string statusName(const ConformanceFolder& folder) { return fs::path(folder.path).filename().string(); }

/// ONNX's own tests of nodes lie in node/test_*, wherever the data are.
bool isOfOnnx(const ConformanceFolder& folder, const ConformanceSetup& setup) {
  const fs::path path = fs::absolute(folder.path).lexically_normal();
  return setup.declared || (path.parent_path().filename() == "node" && path.filename().string().starts_with("test_"));
}

Status runFolder(const ConformanceFolder& folder, const ConformanceSetup& setup, const DeclaredModel& declared,
                 CaseResult& result) {
  const std::vector<fs::path> sets = dataSets(folder.path);
  const std::string path = (fs::path(folder.path) / "model.onnx").string();
  OPKIT_ASSIGN(Model model, readModelFile(path, *setup.rules, *setup.registry));
  if (!model.nodes.empty()) result.op = model.nodes.back().type;
  if (sets.empty()) return Status::internal("no test_data_set_N: there is nothing to compare with");
  OPKIT_ASSIGN(Bounds bounds, boundsOf(folder.path));
  if (bounds.file) OPKIT_TRY(checkSetsAreThere(*bounds.file, sets));
  if (isNetwork(model)) bounds.ofLargest = kOfLargest;
  if (!isOfOnnx(folder, setup)) bounds.card = NodeBound::of(model, *setup.registry);
  Inputs defaults = inputsWithDefault(model);
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), *setup.registry));
  OPKIT_ASSIGN(auto session, interpreter->createSession({.backend = setup.backend}, setup.runtime));
  const bool keepsDefaults = defaults.empty();
  ConformanceRun run(std::move(defaults), bounds, declared, result);
  for (const fs::path& set : sets) {
    OPKIT_TRY(run.runSet(*session, set));
    if (keepsDefaults || set == sets.back()) continue;
    OPKIT_ASSIGN(session, interpreter->createSession({.backend = setup.backend}, setup.runtime));
  }
  if (!run.varied())
    result.note = "every expected element is the same: this shows that the network runs, not that it computes";
  result.dispatches = session->counters().dispatches;
  result.allocations = session->counters().allocations;
  result.arenaBytes = session->statistics().plannedPeakBytes;
  return Status::ok();
}

/// Whether a model of the package was refused, or left to the CPU, just as its line says. A device that `runsAll`
/// kernels may not refuse one.
Status checkDeclared(const DeclaredModel& declared, const std::string& backend, bool runsAll,
                     const CaseResult& result) {
  const bool refused = result.status == CaseStatus::Unsupported;
  if (refused && !declared.refusal) return Status::internal("refused, which no line declares: {}", result.reason);
  if (!refused && declared.refusal) return Status::internal("declared to be refused ({}), but it ran", declared.reason);
  const auto fallback =
      std::ranges::find_if(result.fallbacks, [&](const FallbackNote& note) { return runsAll || !note.byDevice; });
  const bool fellBack = fallback != result.fallbacks.end();
  if (fellBack && !declared.fallback)
    return Status::internal("{} ran on another backend, which no line declares: {}", fallback->op, fallback->reason);
  if (!fellBack && declared.fallback && backend == "vulkan")
    return Status::internal("declared to leave a node to the CPU ({}), but it did not", declared.reason);
  return Status::ok();
}

}  // namespace

Result<std::vector<ConformanceFolder>> findConformanceFolders(const std::vector<std::string>& directories) {
  std::vector<ConformanceFolder> folders;
  for (const std::string& directory : directories) {
    std::error_code error;
    if (!fs::is_directory(directory, error))
      return Status::invalidArgument("{}: expected a directory with ONNX backend tests, found none", directory);
    const auto add = [&](const fs::path& path) {
      const std::string id = fs::relative(path, directory, error).string();
      folders.push_back({path.string(), id == "." ? path.filename().string() : id});
    };
    if (fs::exists(fs::path(directory) / "model.onnx")) add(directory);
    for (auto entry = fs::recursive_directory_iterator(directory, error); entry != fs::recursive_directory_iterator();
         ++entry) {
      if (isPartFolder(*entry))
        entry.disable_recursion_pending();
      else if (entry->is_directory() && fs::exists(entry->path() / "model.onnx"))
        add(entry->path());
    }
  }
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return folders;
}

Result<std::string> packagedTestData() {
  OPKIT_ASSIGN(const ChildRun listing, runChild({"dpkg", "-L", "libonnx-testdata"}));
  std::string found;
  std::istringstream lines(listing.output);
  for (std::string path; std::getline(lines, path);)
    if (path.ends_with("/libonnx-testdata/data")) found = path;
  if (found.empty())
    return Status::invalidArgument("no ONNX test data: install the package libonnx-testdata, or name a directory");
  return found;
}

OpRegistry withOraclesAlone(const OpRegistry& registry) {
  OpRegistry result = registry;
  for (const OpDef* def : registry.all()) {
    if (!def->oracle || (!def->lower && !def->decompose && !def->toKernelForm)) continue;
    OpDef card = *def;
    card.lower = nullptr;
    card.decompose = nullptr;
    card.toKernelForm = nullptr;
    result.replace(std::move(card));
  }
  return result;
}

CaseResult runConformance(const ConformanceFolder& folder, const ConformanceSetup& setup) {
  const auto start = std::chrono::steady_clock::now();
  CaseResult result;
  result.kind = "conformance";
  result.id = folder.id;
  result.backend = setup.backend;
  result.device = setup.runtime->device().name;
  result.software = setup.runtime->device().software;
  result.repro = fmt::format("op-harness conformance --backend {} --filter {}", setup.backend, shellQuoted(folder.id));
  if (setup.shaders) setup.shaders->clear();
  const DeclaredModel declared = declaredModel(statusName(folder)).value_or(DeclaredModel());
  const Status status = runFolder(folder, setup, declared, result);
  if (!status.isOk()) {
    result.status = status.code() == StatusCode::Unsupported ? CaseStatus::Unsupported : CaseStatus::Fail;
    result.reason = status.message();
  } else if (declared.unjudgeable) {
    result.status = CaseStatus::Unproved;
    result.reason = "unjudgeable: " + declared.reason;
  } else if (!result.accuracy) {
    result.status = CaseStatus::Fail;
    result.reason = "nothing was compared";
  }
  if (setup.declared && !isFailure(result.status))
    if (const Status asDeclared = checkDeclared(declared, setup.backend, lackOf(*setup.runtime).empty(), result);
        !asDeclared.isOk()) {
      result.status = CaseStatus::Fail;
      result.reason = asDeclared.message();
    }
  if (setup.shaders) result.shader = setup.shaders->hash(), result.shaderBytes = setup.shaders->bytes();
  result.durationNs = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace opkit::harness
