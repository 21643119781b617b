#include "harness/cases/case_writer.h"

#include <nlohmann/json.hpp>

namespace opkit::harness {
namespace {

using Ordered = nlohmann::ordered_json;  // keys in the order in which people write them

Ordered dataOf(const Case& c) {
  Ordered forms = Ordered::array();
  for (const std::string& form : c.data) forms.push_back(form.empty() ? Ordered(nullptr) : Ordered::parse(form));
  return forms;
}

Ordered entryOf(const Case& c) {
  Ordered entry;
  if (!c.name.empty()) entry["name"] = c.name;
  entry["op"] = c.op;
  if (c.params != "{}") entry["params"] = Ordered::parse(c.params);
  Ordered set = Ordered::array();
  for (const auto& input : c.inputs) set.push_back(input ? input->toString() : "-");
  entry["inputs"] = Ordered::array({set});
  entry["lanes"] = {nameOf(c.lane)};
  if (!c.data.empty()) entry["data"] = dataOf(c);
  if (!c.constants.empty()) entry["constant"] = c.constants;
  if (c.outputs != 0) entry["outputs"] = c.outputs;
  if (c.seed != kDefaultSeed) entry["seed"] = c.seed;
  if (!c.fallback.empty()) entry["fallback"] = c.fallback;
  if (!c.unproved.empty()) entry["unproved"] = c.unproved;
  if (c.bench) entry["bench"] = true;
  return entry;
}

}  // namespace

std::string caseFileText(std::span<const Case> cases) {
  std::string text = "{\n  \"cases\": [";
  for (size_t i = 0; i < cases.size(); ++i)
    text += fmt::format("{}\n    {}", i == 0 ? "" : ",",
                        entryOf(cases[i]).dump(-1, ' ', false, Ordered::error_handler_t::replace));
  return text + "\n  ]\n}\n";
}

}  // namespace opkit::harness
