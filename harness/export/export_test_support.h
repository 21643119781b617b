// For tests of exported cases: models that are built by hand, without exportGroup.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_writer.h"
#include "engine/op/op_registry.h"
#include "harness/cases/rng.h"
#include "harness/check/prepared.h"
#include "harness/export/case_folder.h"
#include "ops/builtin_ops.h"

namespace opkit::harness::exporting {

inline constexpr const char* kSoftmax = "Softmax/f32[3,5]/normal/seed=7";
inline constexpr const char* kSoftmaxLarger = "Softmax/f32[4,9]/normal/seed=7";
inline constexpr const char* kSoftmaxSpecials = "Softmax/f32[3,5]/specials/seed=7";
inline constexpr const char* kRelu = "Relu/f32[3,4]/normal/seed=7";

/// An empty folder of the running test.
inline std::filesystem::path emptyFolder() {
  const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
  const auto folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("export_{}_{}", test.test_suite_name(), test.name());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

/// Cases of one operator without constants as the sets of a model of one node, whose inputs are those of the cases.
inline ExportedModel modelByHand(const std::vector<std::string>& ids, const std::string& type, int opset) {
  ExportedModel model;
  model.form = {type, opset, {}, {}};
  std::vector<std::optional<OnnxPort>> inputs;
  std::vector<OnnxPort> outputs;
  for (const std::string& id : ids) {
    const PreparedCase c = prepareCase(*parseCaseId(id), ops::builtinOps());
    EXPECT_TRUE(c.status.isOk()) << c.status.message();
    const OpDef& def = *ops::builtinOps().find(c.description.op);
    ExportedSet set{c.description, {}, c.expected, {}, {}};
    const bool isFirst = model.sets.empty();
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      set.inputs.push_back(*c.inputs[i]);
      set.hidden.emplace_back();
      if (!isFirst) continue;
      model.inputs.push_back(fmt::format("in{}", i));
      model.form.inputs.emplace_back().emplace<size_t>(i);
      inputs.push_back(OnnxPort{model.inputs.back(), c.inputs[i]->desc, {}, nullptr});
    }
    for (const OracleTensor& output : c.expected) {
      set.tolerances.push_back(toleranceOf(def, c.description.lane, output));
      if (!isFirst) continue;
      model.outputs.push_back(fmt::format("out{}", model.outputs.size()));
      outputs.push_back({model.outputs.back(), output.desc, {}, nullptr});
    }
    model.sets.push_back(std::move(set));
  }
  const auto free = [](OnnxPort& port) {
    for (size_t axis = 0; axis < port.desc.shape.size(); ++axis) port.symbols.push_back(fmt::format("n{}", axis));
  };
  if (ids.size() > 1) {
    for (auto& input : inputs) free(*input);
    for (OnnxPort& output : outputs) free(output);
  }
  model.bytes = *writeOnnx(model.form, inputs, outputs);
  return model;
}

inline Tensor tensorIn(const std::filesystem::path& path) {
  const auto bytes = readFile(path.string());
  EXPECT_TRUE(bytes) << bytes.error().message();
  auto tensor = tensorFromProto(*bytes);
  EXPECT_TRUE(tensor) << tensor.error().message();
  return *std::move(tensor);
}

inline void putTensor(const std::filesystem::path& path, const Tensor& tensor) {
  EXPECT_TRUE(writeFile(path.string(), *tensorToProto(tensor)).isOk());
}

inline void putText(const std::filesystem::path& path, std::string_view text) {
  EXPECT_TRUE(writeFile(path.string(), std::vector<uint8_t>(text.begin(), text.end())).isOk());
}

/// Two cases with one folder name: of 100,000 hashes of 32 bits some are equal.
inline std::pair<Case, Case> casesOfOneName() {
  Rng draws(1);
  std::map<std::string, uint64_t> seeds;
  Case c = *parseCaseId(kRelu), other = c;
  for (int i = 0; i < 1'000'000; ++i) {
    c.seed = draws.next() >> 2;
    const auto [known, isNew] = seeds.emplace(folderName(c), c.seed);
    other.seed = known->second;
    if (!isNew && other.seed != c.seed) break;
  }
  EXPECT_NE(c.seed, other.seed);
  return {other, c};
}

/// Relative paths of everything in a folder that is no folder, sorted.
inline std::vector<std::string> filesIn(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(std::filesystem::relative(entry.path(), folder).string());
  std::ranges::sort(files);
  return files;
}

}  // namespace opkit::harness::exporting
