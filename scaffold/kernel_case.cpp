#include "scaffold/kernel_case.h"

#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/json_text.h"
#include "harness/cases/case_text.h"
#include "scaffold/dtypes.h"

namespace opkit::scaffold {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int64_t kMostElements = 65536;

/// One case of an entry: its dtypes chosen, one set of shapes.
struct Choice {
  const json* entry = nullptr;
  json inputs;
  int input = -1;
  TensorDesc desc;
  int rank = 0;  // lower is better
};

/// A text; other values in full, which no reader of cases takes for a tensor.
std::string textOf(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

bool names(const json& entry, const std::string& type) {
  const json op = entry.value("op", json());
  return op == type || (op.is_array() && std::find(op.begin(), op.end(), type) != op.end());
}

/// Not an entry that the backend refuses, that belongs to another kernel, or that says something about its own shapes.
bool isUsable(const json& entry, const std::string& type, const std::string& backend) {
  if (!entry.is_object() || !names(entry, type)) return false;
  for (const char* key : {"size", "loops", "costly", "efficiency", "requests", "banks"})
    if (entry.contains(key)) return false;
  for (const char* key : {"fallback", "unproved", "kernel"})
    if (entry.contains(key) && entry[key].contains(backend)) return false;
  return entry.contains("inputs") && entry["inputs"].is_array();
}

/// The lane to test in: one that compares values.
std::string laneOf(const json& entry) {
  if (!entry.contains("lanes")) return entry.contains("data") ? "designed" : "normal";
  for (const char* lane : {"normal", "designed", "exact"})
    if (std::find(entry["lanes"].begin(), entry["lanes"].end(), lane) != entry["lanes"].end()) return lane;
  return "";
}

/// "T[3,5]" with the dtype that the entry gives to T, f32 if it may.
std::string withDType(const json& entry, std::string text) {
  if (text.size() < 2 || text[1] != '[' || !entry.contains(text.substr(0, 1))) return text;
  const json& given = entry[text.substr(0, 1)];
  const json all = given.is_array() ? given : json::array({given});
  const bool hasFloat = std::find(all.begin(), all.end(), "f32") != all.end();
  return (hasFloat || all.empty() ? "f32" : textOf(all.front())) + text.substr(1);
}

bool isConstant(const json& entry, size_t input) {
  const json constant = entry.value("constant", json::array());
  return std::find(constant.begin(), constant.end(), input) != constant.end();
}

/// Nothing for a set that is empty or large.
std::optional<Choice> choiceOf(const json& entry, const json& set) {
  if (!set.is_array() || !std::all_of(set.begin(), set.end(), [](const json& text) { return text.is_string(); }))
    return std::nullopt;
  Choice choice{.entry = &entry, .inputs = json::array()};
  for (size_t i = 0; i < set.size(); ++i) {
    const std::string text = withDType(entry, set[i].get<std::string>());
    choice.inputs.push_back(text);
    const auto desc = text == "-" ? Result<TensorDesc>(Status::unsupported("absent")) : parseTensorDesc(text);
    if (!desc && text != "-") return std::nullopt;
    if (!desc || isConstant(entry, i)) continue;
    if (desc->elements() == 0 || desc->elements() > kMostElements) return std::nullopt;
    if (choice.input >= 0) continue;
    if (!enumeratorOf(nameOf(desc->dtype))) return std::nullopt;
    choice.input = static_cast<int>(i);
    choice.desc = *desc;
  }
  choice.rank = (choice.desc.dtype == DType::Float32 && choice.input >= 0 ? 0 : 4) +
                (entry["inputs"].size() > 1 ? 0 : 2) + (entry.contains("constant") ? 1 : 0) +
                (choice.input >= 0 && choice.desc.elements() == 1 ? 8 : 0);
  return choice;
}

/// The best choice; `inputs` gets the distinct first inputs of all.
std::optional<Choice> bestOf(const json& file, const std::string& type, const std::string& backend,
                             std::set<std::string>& inputs) {
  std::optional<Choice> best;
  for (const json& entry : file["cases"]) {
    if (!isUsable(entry, type, backend) || laneOf(entry).empty()) continue;
    for (const json& set : entry["inputs"]) {
      auto choice = choiceOf(entry, set);
      if (choice) inputs.insert(choice->desc.toString());
      if (choice && (!best || choice->rank < best->rank)) best = std::move(choice);
    }
  }
  return best;
}

uint64_t seedOf(const std::string& backend, const std::string& name) {
  const std::string text = backend + "/" + name;
  return 1000 + XXH64(text.data(), text.size(), 0) % 9000;
}

}  // namespace

Result<KernelCase> kernelCaseOf(const std::string& text, const std::string& type, const std::string& backend,
                                const std::string& name) {
  OPKIT_TRY(checkJsonDepth(text).withContext(fmt::format("the case file of {}", type)));
  const json file = parseJson(text);
  if (!file.is_object() || !file.contains("cases") || !file["cases"].is_array())
    return Status::invalidArgument("the case file of {} is not JSON with \"cases\"", type);
  std::set<std::string> inputs;
  const auto best = bestOf(file, type, backend, inputs);
  if (!best)
    return Status::invalidArgument("the case file of {} has no case that {} runs with inputs of 1 to {} elements", type,
                                   backend, kMostElements);
  if (best->input >= 0 && inputs.size() == 1)
    return Status::invalidArgument(
        "all cases of {} begin with the input {}, so the new kernel would take every case; write it by hand", type,
        *inputs.begin());
  const json& entry = *best->entry;
  ordered_json made{{"name", fmt::format("the kernel {} on {}", name, backend)}, {"op", type}};
  const json params = entry.value("params", json());
  if (params.is_object() || (params.is_array() && !params.empty()))
    made["params"] = params.is_array() ? params.front() : params;
  made["inputs"] = ordered_json::array({best->inputs});
  if (entry.contains("lanes")) made["lanes"] = ordered_json::array({laneOf(entry)});
  for (const char* key : {"data", "constant", "outputs", "boundScale", "reason"})
    if (entry.contains(key)) made[key] = entry[key];
  made["seed"] = seedOf(backend, name);
  made["kernel"][backend] = "opkit/" + name;
  return KernelCase{"    " + harness::spaced(made) + ",\n", best->input, best->desc};
}

}  // namespace opkit::scaffold
