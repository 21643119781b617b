#include "harness/cases/case_writer.h"

#include <nlohmann/json.hpp>

#include "harness/cases/case_text.h"

namespace opkit::harness {
namespace {

using Ordered = nlohmann::ordered_json;  // keys in the order in which people write them

Ordered formsOf(const std::vector<std::string>& texts) {
  Ordered forms = Ordered::array();
  for (const std::string& form : texts) forms.push_back(form.empty() ? Ordered(nullptr) : Ordered::parse(form));
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
  if (!c.data.empty()) entry["data"] = formsOf(c.data);
  if (!c.constants.empty()) entry["constant"] = c.constants;
  if (c.outputs != 0) entry["outputs"] = c.outputs;
  if (c.seed != kDefaultSeed) entry["seed"] = c.seed;
  if (!c.fallback.empty()) entry["fallback"] = c.fallback;
  if (!c.unproved.empty()) entry["unproved"] = c.unproved;
  if (!c.anyLoops.empty())
    entry["loops"] = {{"any", c.anyLoops}};
  else if (c.loops != 0 && c.loops != kUsualLoops)
    entry["loops"] = c.loops;
  if (c.boundScale != 1) {
    entry["boundScale"] = c.boundScale;
    entry["reason"] = c.reason;
  }
  if (c.bench) entry["bench"] = true;
  if (!c.expected.empty()) {
    entry["expected"] = formsOf(c.expected);
    entry["source"] = c.source;
  }
  return entry;
}

}  // namespace

std::string caseEntry(const Case& c) { return spaced(entryOf(c)); }

std::string caseFileText(std::span<const Case> cases) {
  std::string text = "{\n  \"cases\": [";
  for (size_t i = 0; i < cases.size(); ++i)
    text += fmt::format("{}\n    {}", i == 0 ? "" : ",",
                        entryOf(cases[i]).dump(-1, ' ', false, Ordered::error_handler_t::replace));
  return text + "\n  ]\n}\n";
}

}  // namespace opkit::harness
