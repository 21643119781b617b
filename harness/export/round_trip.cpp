#include "harness/export/round_trip.h"

#include <algorithm>
#include <filesystem>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/op/op_registry.h"
#include "harness/cases/data.h"
#include "harness/compare/expected.h"
#include "harness/conformance/conformance.h"
#include "harness/export/case_folder.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

bool sameNumber(double a, double b) { return a == b || (a != a && b != b); }

/// One folder, and the model that it must hold.
class RoundTripCheck {
 public:
  RoundTripCheck(const std::string& folder, const ExportedModel& model, const OpRegistry& registry,
                 const OnnxRules& rules)
      : folder_(folder), model_(model), registry_(registry), rules_(rules) {}

  Status run() {
    OPKIT_ASSIGN(const Model read, readModelFile((folder_ / "model.onnx").string(), rules_, registry_));
    for (const ExportedSet& set : model_.sets) {
      if (model_.returnsAsCase) OPKIT_TRY(checkNode(read, set).withContext(set.description.id()));
    }
    OPKIT_TRY(checkBounds());
    for (size_t k = 0; k < model_.sets.size(); ++k)
      OPKIT_TRY(checkData(model_.sets[k], folder_ / fmt::format("test_data_set_{}", k))
                    .withContext(model_.sets[k].description.id()));
    return checkConformance();
  }

 private:
  Status checkNode(const Model& read, const ExportedSet& set) const {
    const Case& c = set.description;
    if (read.nodes.size() != 1) return Status::internal("expected one node, read {}", read.nodes.size());
    const ModelNode& node = *read.nodes.begin();
    if (node.type != c.op) return Status::internal("expected {}, read {}", c.op, node.type);
    const OpDef& def = *registry_.find(c.op);
    OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, def));
    for (size_t i = 0; i < std::max(inputs.size(), node.inputs.size()); ++i) {
      const bool isGiven = i < inputs.size() && inputs[i], isRead = i < node.inputs.size() && node.inputs[i];
      if (isGiven != isRead) return Status::internal("input {}: {}", i, isRead ? "expected none" : "it is lost");
      if (isRead) OPKIT_TRY(checkNodeInput(read.tensors[node.inputs[i]], i, *inputs[i], set));
    }
    return checkParams(def, node, inputs, set);
  }

  /// A constant with the values of the case, or an input of the model that the data set fills with them.
  Status checkNodeInput(const ModelTensor& read, size_t i, const Tensor& value, const ExportedSet& set) const {
    const bool isConstant = set.description.isConstant(i);
    if (read.constant.has_value() != isConstant)
      return Status::internal("input {}: expected {}", i, isConstant ? "a constant" : "no constant");
    if (isConstant) return sameBits({value}, {*read.constant}).withContext(fmt::format("constant {}", i));
    const auto port = std::ranges::find(model_.inputs, read.name);
    if (port == model_.inputs.end()) return Status::internal("input {} is read as '{}'", i, read.name);
    const Tensor& given = set.inputs[static_cast<size_t>(port - model_.inputs.begin())];
    return sameBits({value}, {given}).withContext(fmt::format("input {}", i));
  }

  /// Other bytes of parameters are the same parameters if the oracle gives the same.
  Status checkParams(const OpDef& def, const ModelNode& node, const HostInputs& inputs, const ExportedSet& set) const {
    OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, set.description.params));
    const std::string wanted = paramsToJson(def.params, params, true),
                      got = paramsToJson(def.params, node.params, true);
    if (wanted == got) return Status::ok();
    OPKIT_ASSIGN(const auto outputs, expectedOutputs(def, node.params, inputs, set.description.outputs));
    for (size_t i = 0; i < set.expected.size(); ++i) {
      const OracleTensor &a = outputs.at(i), &b = set.expected[i];
      if (a.desc != b.desc || a.integer != b.integer || !std::ranges::equal(a.real, b.real, sameNumber))
        return Status::internal("expected the parameters {}, read {}", wanted, got);
    }
    return Status::ok();
  }

  Status checkBounds() const {
    OPKIT_ASSIGN(const auto file, readBoundFile(folder_.string()));
    if (!file) return Status::internal("no bound.json");
    if (*file == boundFileOf(model_)) return Status::ok();
    return Status::internal("bound.json says something else than the case");
  }

  Status checkData(const ExportedSet& set, const fs::path& place) const {
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      OPKIT_ASSIGN(const Tensor read, tensorIn(place / fmt::format("input_{}.pb", i)));
      OPKIT_TRY(sameTensor(set.inputs[i], read).withContext(fmt::format("input_{}.pb", i)));
    }
    for (size_t i = 0; i < set.expected.size(); ++i)
      OPKIT_TRY(checkOutput(set, place, i).withContext(fmt::format("output_{}.pb", i)));
    return Status::ok();
  }

  Status checkOutput(const ExportedSet& set, const fs::path& place, size_t i) const {
    OPKIT_ASSIGN(const Tensor rounded, roundedOutput(set.expected[i]));
    OPKIT_ASSIGN(const Tensor read, tensorIn(place / fmt::format("output_{}.pb", i)));
    OPKIT_TRY(sameTensor(rounded, read));
    OPKIT_ASSIGN(const auto file, readBoundFile(folder_.string()));
    const BoundSet* const bounds = file->find(place.filename().string());
    OPKIT_ASSIGN(const Tolerance got,
                 toleranceFrom(bounds->outputs.at(i), place.string(), OracleTensor::fromTensor(read)));
    const Tolerance& wanted = set.tolerances[i];
    std::vector<double> about = boundsOfRounded(set.expected[i], wanted);
    about.resize(got.bound.size());  // none is 0
    const bool isSame = got.byClass == wanted.byClass && got.signOfZero == wanted.signOfZero;
    if (isSame && (got.byClass || got.bound == about)) return Status::ok();
    return Status::internal("its bounds are read as others");
  }

  static Status sameTensor(const Tensor& wanted, const Tensor& read) {
    if (read.desc == wanted.desc) return sameBits({wanted}, {read});
    return Status::internal("expected {}, read {}", wanted.desc.toString(), read.desc.toString());
  }

  static Result<Tensor> tensorIn(const fs::path& path) {
    OPKIT_ASSIGN(const auto bytes, readFile(path.string()));
    auto tensor = tensorFromProto(bytes);
    if (!tensor) return tensor.error().withContext(path.filename().string());
    return tensor;
  }

  Status checkConformance() const {
    const OpRegistry oracles = withOraclesAlone(registry_);
    OPKIT_ASSIGN(const auto runtime, createRuntime("reference"));
    const CaseResult result =
        runConformance({folder_.string(), folder_.filename().string()}, {&oracles, &rules_, "reference", runtime});
    if (result.status == CaseStatus::Pass) return Status::ok();
    return Status::internal("conformance on reference: {}: {}", nameOf(result.status), result.reason);
  }

  fs::path folder_;
  const ExportedModel& model_;
  const OpRegistry& registry_;
  const OnnxRules& rules_;
};

}  // namespace

Status checkRoundTrip(const std::string& folder, const ExportedModel& model, const OpRegistry& registry,
                      const OnnxRules& rules) {
  return RoundTripCheck(folder, model, registry, rules).run();
}

}  // namespace opkit::harness
