// Kinds of files that `op-harness` reads: case files, capsules, expectations, evidence, bounds of exported cases.
#include <filesystem>

#include "engine/model/tensor_file.h"
#include "fuzz/mutate_text.h"
#include "fuzz/text_kinds.h"
#include "harness/cases/case_file.h"
#include "harness/cases/case_rules.h"
#include "harness/cases/case_text.h"
#include "harness/cases/costs.h"
#include "harness/cases/data.h"
#include "harness/check/check.h"
#include "harness/check/shrink.h"
#include "harness/export/bound_file.h"
#include "harness/run/evidence.h"
#include "harness/run/expectation_writer.h"
#include "ops/builtin_ops.h"
#include "scaffold/kernel_case.h"

namespace opkit::fuzz {
namespace {

using namespace harness;

constexpr int64_t kMostElements = 4096;  // of a case that is run
constexpr size_t kMostPrepared = 8;      // cases of a file

bool isSmall(const Case& c) {
  int64_t elements = 0;
  for (const auto& input : c.inputs) {
    if (input && input->elements() > kMostElements) return false;
    elements += input ? input->elements() : 0;
  }
  return elements <= kMostElements;
}

/// Makes inputs and expected outputs of a small case; that its kernel refuses it, or it is too large, is no fault of
/// the file.
void prepare(const Case& c, const OpRegistry& registry) {
  const OpDef& def = *registry.find(c.op);
  static_cast<void>(workOf(c, def));
  if (!isSmall(c)) return;
  const auto params = paramsFromJson(def.params, c.params);
  const auto inputs = makeInputs(c, def);
  if (params && inputs) static_cast<void>(expectedOutputs(def, *params, *inputs, c.outputs, kMostElements).has_value());
}

/// The id must lead to the same case.
Status checkId(const Case& c) {
  const auto again = parseCaseId(c.id());
  if (!again) return again.error().withContext("FAULT: the id of a case is none: " + c.id());
  return again->id() == c.id() ? Status::ok() : Status::internal("FAULT: '{}' became '{}'", c.id(), again->id());
}

Status useCases(const std::string& text) {
  const OpRegistry& registry = ops::builtinOps();
  static_cast<void>(brokenCaseRules(text));
  static_cast<void>(withCases(text, "    {},\n"));
  static_cast<void>(withoutCases(text, [](const nlohmann::json& entry) { return entry.contains("name"); }));
  for (const char* type : {"Softmax", "Transpose"})
    static_cast<void>(scaffold::kernelCaseOf(text, type, "cpu", "fused").has_value());
  OPKIT_ASSIGN(Catalogue catalogue, parseCaseFile("x.cases.json", text, registry));
  size_t prepared = 0;
  for (const auto* groups : {&catalogue.groups, &catalogue.sized, &catalogue.shapes})
    for (const CaseGroup& group : *groups)
      for (const Case& c : group.cases) {
        OPKIT_TRY(checkId(c));
        if (prepared++ < kMostPrepared) prepare(c, registry);
      }
  for (const ErrorCase& error : catalogue.errors) OPKIT_TRY(checkId(error.asCase()));
  return applyFilter(std::move(catalogue), {.text = "x"}, registry).error();
}

}  // namespace

TextKind casesKind(const std::string&) {
  const std::vector<Bytes> seeds = {sourceFile("ops/softmax/softmax.cases.json"),
                                    sourceFile("ops/transpose/transpose.cases.json"),
                                    sourceFile("ops/range/range.cases.json"), sourceFile("ops/split/split.cases.json"),
                                    sourceFile("ops/det/det.cases.json")};
  return {seeds, mutateText, [](const std::string& text) { return Trial{useCases(text), {}}; }};
}

namespace {

/// As `replay` uses it: on the CPU, in this process, if it is small.
Status useCapsule(const std::string& path, const std::shared_ptr<Runtime>& runtime) {
  const OpRegistry& registry = ops::builtinOps();
  OPKIT_ASSIGN(const Capsule capsule, readCapsule(path, registry));
  for (const Case& c : capsule.group.cases) OPKIT_TRY(checkId(c));
  if (!std::ranges::all_of(capsule.group.cases, isSmall)) return Status::ok();
  static_cast<void>(dataHashOf(capsule.group, registry));
  for (const Case& c : capsule.group.cases) prepare(c, registry);
  Checker checker(registry, "cpu", runtime);
  static_cast<void>(checker.checkGroup(prepareGroup(capsule.group, registry, true)));
  OPKIT_TRY(writeCapsule(path, capsule));
  return readCapsule(path, registry).error().withContext("FAULT: what was written again");
}

}  // namespace

TextKind capsuleKind(const std::string& folder) {
  const auto runtime = createRuntime("cpu", {});
  OPKIT_CHECK(runtime);
  constexpr const char* kWalk =
      R"({"opcase": 1, "backend": "cpu", "check": "resize", "reason": "r", "mask": "", "commit": "c", "dataHash": "00",
  "cases": ["Softmax{\"axis\":1}/f32[2,3]/normal/seed=7", "Softmax{\"axis\":1}/f32[4,3]/specials/seed=8"], "boundScale": 1,
  "expected": [], "source": ""})";
  constexpr const char* kStored =
      R"({"opcase": 1, "backend": "cpu", "check": "stored", "reason": "r", "mask": "no-fp16", "commit": "c", "dataHash": "00",
  "cases": ["Transpose{\"perm\":[1,0]}/f32[2,2]/designed/seed=7/data=[{\"values\":[1,2,3,4]}]"],
  "expected": ["{\"values\":[1,3,2,4]}"], "source": "by hand", "boundScale": 2})";
  const auto attempt = [folder, shared = *runtime](const std::string& text) {
    return Trial{useCapsule(place(folder, "x.opcase", text), shared), {}};
  };
  return {{sourceFile("harness/testing/fixtures/Softmax-cpu-accuracy.opcase"), bytesOf(kWalk), bytesOf(kStored)},
          mutateText,
          attempt};
}

namespace {

/// As `check` uses a folder of expectations, and as --emit-expectations adds to it.
Status useExpectations(const std::string& folder, const std::string& text, std::vector<std::string>& notes) {
  const std::vector<DeviceInfo> devices = {{"cpu", 0, "AMD EPYC (AVX3)", "opkit with Highway", "", false},
                                           {"vulkan", 0, "llvmpipe (LLVM 15.0.6)", "llvmpipe Mesa 22.3.6", "", true}};
  place(folder, "vulkan-llvmpipe.fails", text);
  OPKIT_ASSIGN(Expectations expected, Expectations::read(folder, devices, {"cpu", "vulkan"}));
  OPKIT_ASSIGN(ExpectationWriter writer, ExpectationWriter::open(folder, devices, {"cpu", "vulkan"}));
  for (const char* id :
       {"Softmax{\"axis\":0}/f32[3,5,7]/normal/seed=7", "MatMul/f16[4,4],f16[4,4]/normal/seed=7", "error: a|b"}) {
    CaseRecord record;
    record.kind = "check", record.backend = "vulkan", record.id = id, record.status = CaseStatus::Fail;
    static_cast<void>(expected.skipOf("check", id, "vulkan"));
    writer.add(record);
    expected.judge(record);
    record.status = CaseStatus::Pass;
    expected.judge(record);
  }
  for (const auto& more : {expected.notes(), expected.unexpectedPasses()})
    notes.insert(notes.end(), more.begin(), more.end());
  static_cast<void>(expected.staleLines("check"));
  OPKIT_TRY(writer.write().error());
  return Expectations::read(folder, devices, {"cpu", "vulkan"}).error().withContext("FAULT: what was written again");
}

}  // namespace

TextKind expectationsKind(const std::string& folder) {
  const std::string own = folder + "/expected";
  std::filesystem::create_directories(own);
  constexpr const char* kLines =
      "# Known.\n\n# Above a line.\nSoftmax{\"axis\":0}/f32[3,5,7]/normal/seed=7 | driver 22.3.6 | the last row | is "
      "lost\n"
      "MatMul*/f16[*,*],* | driver 22.3..25.0 | sums in half precision\nAdd*/f16* | driver 22.. | r\nSub* | driver "
      "..23.1 | r\n"
      "conformance node/test_cumsum_* | wrong on every driver\n";
  const auto attempt = [own](const std::string& text) {
    Trial trial;
    trial.status = useExpectations(own, text, trial.notes);
    return trial;
  };
  return {{bytesOf(kLines)}, mutateText, attempt};
}

TextKind boundsKind(const std::string& folder) {
  const std::string own = folder + "/bounds";
  std::filesystem::create_directories(own);
  const auto attempt = [own](const std::string& text) {
    place(own, "bound.json", text);
    const auto read = readBoundFile(own);
    if (!read) return Trial{read.error(), {}};
    Trial trial;
    const auto again = parseBoundFile(toText(**read));
    trial.status = again.error().withContext("FAULT: what was written again");
    for (const BoundSet& set : (*read)->sets)
      for (const OutputBound& output : set.outputs) {
        const auto tolerance = toleranceFrom(output, own, OracleTensor({DType::Float32, {3}}));
        if (!tolerance) trial.notes.push_back(tolerance.error().message());
      }
    return trial;
  };
  const OutputBound one{.name = "out0", .bound = 0x1p-20}, other{.name = "out1", .byClass = true, .signOfZero = true};
  const BoundFile file{.op = "Softmax",
                       .onnx = "Softmax",
                       .domain = "",
                       .opset = 13,
                       .catches = "a row",
                       .sets = {{"test_data_set_0", "Softmax/f32[3]/normal/seed=7", "normal", {"repeat"}, {}, {one}},
                                {"test_data_set_1", "-", "specials", {"hidden"}, {"hidden_0.pb"}, {other, one}}}};
  return {{bytesOf(toText(file))}, mutateText, attempt};
}

TextKind evidenceKind(const std::string& folder) {
  const auto evidenceOf = [](size_t cases) {
    CheckEvidence evidence({"--op", "Relu"}, {"--plugin"});
    evidence.add(DeviceInfo{"cpu", 0, "CPU", "driver", "", false});
    CaseRecord record;
    record.backend = "cpu", record.op = "Relu", record.provider = "opkit", record.status = CaseStatus::Pass;
    for (size_t i = 0; i < cases; ++i) {
      record.id = fmt::format("Relu/f32[{}]/normal/seed=7", i);
      evidence.add(record);
    }
    record.status = CaseStatus::Fail;
    evidence.add(record);
    evidence.close(ops::builtinOps(), {{.name = "plugin"}}, "");
    return evidence;
  };
  const auto attempt = [folder, repeated = evidenceOf(3).json()](const std::string& text) {
    Trial trial;
    const auto read = readEvidence(place(folder, "evidence.md", text));
    if (!read) return Trial{read.error(), {}};
    EvidenceComparison found = compareEvidence(*read, repeated);
    for (auto* more : {&found.differences, &found.notes})
      trial.notes.insert(trial.notes.end(), more->begin(), more->end());
    return trial;
  };
  return {{bytesOf(evidenceOf(2).markdown("x.md")), bytesOf(evidenceOf(2).json().dump() + "\n")}, mutateText, attempt};
}

/// The header of an .npy file is a text.
TextKind tensorKind(const std::string& folder) {
  const auto attempt = [folder](const std::string& bytes) {
    return Trial{loadTensor(place(folder, "x.npy", bytes)).error(), {}};
  };
  return {{sourceFile("harness/testing/fixtures/model_x.npy"), sourceFile("harness/testing/fixtures/model_c.npy")},
          mutateText,
          attempt};
}

}  // namespace opkit::fuzz
