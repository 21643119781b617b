// ModelJob: the work of `model` in a worker process. The answer returns to the command as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/check/shader_log.h"
#include "harness/commands/commands.h"
#include "harness/model/model_compare.h"

namespace opkit::harness {

struct ModelOptions {
  std::string model;
  BackendOptions backend;
  std::string reference = "cpu";
  std::vector<std::string> resize;
  uint64_t seed = kDefaultSeed;
  bool allowFallback = false;
  bool all = false;  // print every tensor
  std::optional<double> gate;
  double timeoutSeconds = 1800;  // for each of the two runs
  size_t memoryMiB = 0;          // memory limit for them; 0 is unlimited
  std::string bisect;            // where to save the smallest part that departs
  std::string json;
};

/// One network on one backend. The network is read and the reference runs once, when the first part needs them.
class ModelJob {
 public:
  /// As in production, then with every tensor kept. The first may fail although the second passes.
  enum class Part { Outputs, Layers };
  static constexpr Part kParts[] = {Part::Outputs, Part::Layers};
  /// Of the result of a part.
  static std::string idOf(const std::string& model, Part part) {
    return part == Part::Outputs ? model + "/outputs" : model;
  }

  ModelJob(const ModelOptions& options, std::string backend) : options_(options), backend_(std::move(backend)) {}

  /// {"record": the case, "text": printed before its verdict, "messages": of the validation layers, "error": what
  /// the user must fix; absent if there is none}.
  nlohmann::json run(Part part);

 private:
  Status open();
  Status compare(Part part, nlohmann::json& answer);
  Result<std::string> bisect(const CaseResult& result) const;

  const ModelOptions& options_;
  std::string backend_;
  Model model_;
  ModelCompareOptions compareOptions_;
  std::optional<ModelComparison> comparison_;
  std::shared_ptr<ShaderLog> shaders_;  // shared with the Runtime; null if it has none
};

}  // namespace opkit::harness
