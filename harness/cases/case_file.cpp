#include "harness/cases/case_file.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "harness/cases/case_rules.h"
#include "harness/cases/stored_shapes.h"
#include "harness/cases/stored_values.h"

namespace opkit::harness {
namespace {

Status unknownOperator(const std::string& op) {
  const bool isForeign = op.find("::") != std::string::npos;
  return Status::invalidArgument("unknown operator \"{}\"{}", op,
                                 isForeign ? "; name the library of its plugin with --plugin" : "");
}

using Json = nlohmann::json;
using Letters = std::map<char, std::string>;  // 'T' -> "f32"

bool isLetterKey(const std::string& key) { return key.size() == 1 && key[0] >= 'A' && key[0] <= 'Z'; }

Result<std::vector<std::optional<TensorDesc>>> readInputs(const Json& list, const Letters& letters) {
  if (!list.is_array())
    return Status::invalidArgument("a shape set must be a list of descriptions, got {}", list.dump());
  std::vector<std::optional<TensorDesc>> inputs;
  for (const Json& item : list) {
    if (!item.is_string())
      return Status::invalidArgument("expected a description such as \"f32[2,3]\", got {}", item.dump());
    std::string text = item.get<std::string>();
    if (text.size() > 1 && text[1] == '[') {
      const auto letter = letters.find(text[0]);
      if (letter == letters.end()) return Status::invalidArgument("'{}' uses a letter without dtypes", text);
      text.replace(0, 1, letter->second);
    }
    OPKIT_ASSIGN(auto one, parseInputList(text));
    if (one.size() != 1) return Status::invalidArgument("expected one description, got '{}'", text);
    inputs.push_back(std::move(one[0]));
  }
  return inputs;
}

Result<std::vector<size_t>> readIndices(const Json& list) {
  if (!list.is_array())
    return Status::invalidArgument("\"constant\" must be a list of input indices, got {}", list.dump());
  std::vector<size_t> indices;
  for (const Json& item : list) {
    if (!item.is_number_unsigned())
      return Status::invalidArgument("\"constant\" must be a list of input indices, got {}", list.dump());
    indices.push_back(item.get<size_t>());
  }
  return indices;
}

/// "data", a form per input, or "expected", a form per output
Result<std::vector<std::string>> readForms(const Json& entry, const char* key, const char* port,
                                           Status (*check)(const std::string&)) {
  std::vector<std::string> forms;
  if (!entry.contains(key)) return forms;
  if (!entry[key].is_array())
    return Status::invalidArgument("\"{}\" must be a list, one form or null per {}, got {}", key, port,
                                   entry[key].dump());
  for (const Json& form : entry[key]) {
    forms.push_back(form.is_null() ? "" : form.dump());
    if (!form.is_null()) OPKIT_TRY(check(forms.back()));
  }
  return forms;
}

Result<std::string> readString(const Json& entry, const char* key, const std::string& fallback = "") {
  if (!entry.contains(key)) return fallback;
  if (!entry[key].is_string())
    return Status::invalidArgument("\"{}\" must be a string, got {}", key, entry[key].dump());
  return entry[key].get<std::string>();
}

Status checkKeys(const Json& entry, std::initializer_list<std::string_view> known, bool letters) {
  if (!entry.is_object()) return Status::invalidArgument("expected an object, got {}", entry.dump());
  for (const auto& [key, value] : entry.items()) {
    if (letters && isLetterKey(key)) continue;
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Status::invalidArgument("unknown key \"{}\"; known are {}", key, fmt::join(known, ", "));
  }
  return Status::ok();
}

/// {"backend": "reason"}, or another text per backend
Result<std::map<std::string, std::string>> readReasons(const Json& entry, const char* key, const char* meaning) {
  std::map<std::string, std::string> reasons;
  if (!entry.contains(key)) return reasons;
  const Json& object = entry[key];
  if (!object.is_object())
    return Status::invalidArgument("\"{}\" must be an object, one text per backend, got {}", key, object.dump());
  for (const auto& [backend, reason] : object.items()) {
    if (!reason.is_string() || reason.get<std::string>().empty())
      return Status::invalidArgument("\"{}\" of {} must be {}", key, backend, meaning);
    reasons[backend] = reason.get<std::string>();
  }
  return reasons;
}

/// The fields that every case of the entry shares.
/// The bounds of the access profile (harness/trace/case_access.h).
Status readAccess(const Json& entry, Case& base) {
  for (const char* key : {"efficiency", "requests", "banks"})
    if (entry.contains(key) && (!entry[key].is_number() || !(entry[key].get<double>() > 0)))
      return Status::invalidArgument("\"{}\" must be a positive number, got {}", key, entry[key].dump());
  base.efficiency = entry.value("efficiency", 0.0);
  base.requests = entry.value("requests", 0.0);
  base.banks = entry.value("banks", 0.0);
  if (base.efficiency > 1)
    return Status::invalidArgument("\"efficiency\" must be at most 1, got {}", entry["efficiency"].dump());
  OPKIT_ASSIGN(base.uncoalesced, readString(entry, "uncoalesced"));
  const bool stated = base.efficiency > 0 || base.requests > 0 || base.banks > 0;
  if (entry.contains("uncoalesced") && (base.uncoalesced.empty() || !stated))
    return Status::invalidArgument(
        "\"uncoalesced\" must be the reason for the \"efficiency\", \"requests\" or \"banks\" beside it");
  return Status::ok();
}

/// A number, or {"any": "why a device may refuse however many iterations it allows"}.
Status readLoops(const Json& entry, Case& base) {
  base.loops = kUsualLoops;
  if (!entry.contains("loops")) return Status::ok();
  const Json& loops = entry["loops"];
  if (loops.is_number_unsigned() && loops > 0) {
    base.loops = loops.get<uint64_t>();
    return Status::ok();
  }
  const bool isAny = loops.is_object() && loops.size() == 1 && loops.contains("any") && loops["any"].is_string();
  if (!isAny || loops["any"].get<std::string>().empty())
    return Status::invalidArgument("\"loops\" must be a whole number above 0 or {{\"any\": \"the reason\"}}, got {}",
                                   loops.dump());
  base.loops = 0;
  base.anyLoops = loops["any"].get<std::string>();
  return Status::ok();
}

Result<Case> readBase(const Json& entry) {
  Case base;
  OPKIT_ASSIGN(base.op, readString(entry, "op"));
  OPKIT_ASSIGN(base.name, readString(entry, "name"));
  OPKIT_ASSIGN(base.reason, readString(entry, "reason"));
  if (entry.contains("constant")) {
    OPKIT_ASSIGN(base.constants, readIndices(entry["constant"]));
  }
  OPKIT_ASSIGN(base.data, readForms(entry, "data", "input", checkDataForm));
  OPKIT_ASSIGN(base.expected, readForms(entry, "expected", "output", checkStoredForm));
  OPKIT_ASSIGN(base.source, readString(entry, "source"));
  if (entry.contains("expected") && std::ranges::all_of(base.expected, &std::string::empty))
    return Status::invalidArgument("\"expected\" holds no values");
  if ((base.expected.empty() && !entry.contains("shapes")) == !base.source.empty())
    return Status::invalidArgument(
        R"("expected" or "shapes" and "source", which says where they are from, belong together)");
  OPKIT_ASSIGN(base.fallback, readReasons(entry, "fallback", "part of the reason it refuses with"));
  OPKIT_ASSIGN(base.unproved, readReasons(entry, "unproved", "the reason why it has no kernel of its own"));
  OPKIT_ASSIGN(base.kernel, readReasons(entry, "kernel", "the kernel that must run it, such as \"opkit/fused\""));
  for (const auto& [backend, kernel] : base.kernel)
    if (base.fallback.contains(backend))
      return Status::invalidArgument("\"kernel\" says that {0} runs the case, \"fallback\" that {0} refuses it",
                                     backend);
  for (const char* key : {"outputs", "seed"})
    if (entry.contains(key) && !entry[key].is_number_unsigned())
      return Status::invalidArgument("\"{}\" must be a whole number, got {}", key, entry[key].dump());
  base.outputs = entry.value("outputs", size_t{0});
  base.seed = entry.value("seed", kDefaultSeed);
  OPKIT_TRY(readLoops(entry, base));
  if (entry.contains("bench") && !entry["bench"].is_boolean())
    return Status::invalidArgument("\"bench\" must be true or false, got {}", entry["bench"].dump());
  base.bench = entry.value("bench", false);
  OPKIT_ASSIGN(base.size, readString(entry, "size"));
  OPKIT_ASSIGN(base.slow, readString(entry, "slow"));
  OPKIT_ASSIGN(base.costly, readString(entry, "costly"));
  if (entry.contains("slow") && (base.slow.empty() || base.size.empty()))
    return Status::invalidArgument("\"slow\" must be the reason why an entry with a \"size\" stays below the floor");
  if (entry.contains("size") && base.size != "typical" && base.size != "large")
    return Status::invalidArgument("\"size\" must be \"typical\" or \"large\", got {}", entry["size"].dump());
  OPKIT_TRY(readAccess(entry, base));
  if (entry.contains("boundScale")) {
    if (!entry["boundScale"].is_number() || !(entry["boundScale"].get<double>() >= 0))
      return Status::invalidArgument("\"boundScale\" must be a number of at least 0, got {}",
                                     entry["boundScale"].dump());
    base.boundScale = entry["boundScale"].get<double>();
    if (base.reason.empty()) return Status::invalidArgument("\"boundScale\" needs a \"reason\" beside it");
  }
  return base;
}

Result<std::vector<std::string>> readParams(const Json& entry, const OpDef& def) {
  std::vector<std::string> list;
  if (!entry.contains("params")) return std::vector<std::string>{"{}"};
  const Json params = entry["params"].is_array() ? entry["params"] : Json::array({entry["params"]});
  for (const Json& item : params) {
    if (!item.is_object())
      return Status::invalidArgument("\"params\" must be an object or a list of them, got {}", item.dump());
    OPKIT_TRY(paramsFromJson(def.params, item.dump()).error());
    list.push_back(item.dump());
  }
  return list;
}

Result<std::vector<Lane>> readLanes(const Json& entry) {
  if (!entry.contains("lanes")) return std::vector<Lane>{entry.contains("data") ? Lane::Designed : Lane::Normal};
  std::vector<Lane> lanes;
  for (const Json& item : entry["lanes"]) {
    const auto lane = laneFromName(item.is_string() ? item.get<std::string>() : "");
    if (!lane)
      return Status::invalidArgument("\"lanes\" must be a list of normal, exact, designed, specials, edges, got {}",
                                     item.dump());
    lanes.push_back(*lane);
  }
  return lanes;
}

/// Every combination of the dtypes of the entry's letters.
Result<std::vector<Letters>> readLetters(const Json& entry) {
  std::vector<Letters> combinations(1);
  for (const auto& [key, value] : entry.items()) {
    if (!isLetterKey(key)) continue;
    const Json names = value.is_array() ? value : Json::array({value});
    std::vector<Letters> extended;
    for (const Json& name : names) {
      if (!name.is_string() || !dtypeFromName(name.get<std::string>()))
        return Status::invalidArgument("\"{}\" must list dtypes such as f32, got {}", key, name.dump());
      for (Letters letters : combinations) {
        letters[key[0]] = name.get<std::string>();
        extended.push_back(std::move(letters));
      }
    }
    combinations = std::move(extended);
  }
  return combinations;
}

/// Cases with equal keys differ in extents only and may share a Session.
std::string walkKey(const Case& c) {
  std::string key;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i])
      key += "-,";
    else if (c.isConstant(i))
      key += c.inputs[i]->toString() + ",";
    else
      key += fmt::format("{}:{},", opkit::nameOf(c.inputs[i]->dtype), c.inputs[i]->shape.size());
  }
  return key;
}

Status checkCase(const Case& c) {
  for (const size_t index : c.constants)
    if (index >= c.inputs.size() || !c.inputs[index])
      return Status::invalidArgument("\"constant\" names input {}, the shape set '{}' has none there", index,
                                     c.inputText());
  if (c.data.size() > c.inputs.size())
    return Status::invalidArgument("\"data\" has an entry per input; it has {}, and '{}' has {} inputs", c.data.size(),
                                   c.inputText(), c.inputs.size());
  return Status::ok();
}

/// The outputs of shape set `set`, where the entry stores shapes.
Result<std::vector<TensorDesc>> readShapes(const Json& entry, size_t set, const Letters& letters) {
  std::vector<TensorDesc> shapes;
  if (!entry.contains("shapes")) return shapes;
  const Json& all = entry["shapes"];
  if (!all.is_array() || all.size() != entry["inputs"].size() || !all[set].is_array() || all[set].empty())
    return Status::invalidArgument(R"("shapes" must hold {} list{} of outputs such as ["f32[2,3]"], one per shape set)",
                                   entry["inputs"].size(), entry["inputs"].size() == 1 ? "" : "s");
  OPKIT_ASSIGN(const auto outputs, readInputs(all[set], letters));
  for (const auto& output : outputs) {
    if (!output) return Status::invalidArgument(R"("shapes" must describe every output, got "-")");
    shapes.push_back(*output);
  }
  return shapes;
}

/// One walk per combination of ranks among the shape sets.
Status addGroups(const Json& entry, const OpDef& def, const Letters& letters, const Case& base,
                 std::vector<CaseGroup>& groups) {
  std::map<std::string, size_t> groupOf;
  for (size_t i = 0; i < entry["inputs"].size(); ++i) {
    Case c = base;
    OPKIT_ASSIGN(c.inputs, readInputs(entry["inputs"][i], letters));
    OPKIT_ASSIGN(c.shapes, readShapes(entry, i, letters));
    OPKIT_TRY(checkCase(c));
    OPKIT_TRY(checkShapeCount(c, def));
    OPKIT_TRY(checkStored(c, def));
    const auto [found, isNew] = groupOf.try_emplace(walkKey(c), groups.size());
    if (isNew) groups.emplace_back();
    groups[found->second].cases.push_back(std::move(c));
  }
  return Status::ok();
}

/// The groups of every combination of the entry's lists, and its "size".
Status expandGroups(const Json& entry, const OpRegistry& registry, std::vector<CaseGroup>& groups) {
  OPKIT_ASSIGN(Case base, readBase(entry));
  const OpDef* def = registry.find(base.op);
  if (!def) return unknownOperator(base.op);
  if (!entry.contains("inputs") || !entry["inputs"].is_array() || entry["inputs"].empty())
    return Status::invalidArgument("\"inputs\" must be a list of shape sets such as [[\"f32[2,3]\"]]");
  OPKIT_ASSIGN(const auto paramsList, readParams(entry, *def));
  OPKIT_ASSIGN(const auto lanes, readLanes(entry));
  OPKIT_ASSIGN(const auto lettersList, readLetters(entry));
  for (const std::string& params : paramsList)
    for (const Letters& letters : lettersList)
      for (const Lane lane : lanes) {
        base.params = params;
        base.lane = lane;
        OPKIT_TRY(addGroups(entry, *def, letters, base, groups));
      }
  return Status::ok();
}

Status expandCase(const Json& entry, const OpRegistry& registry, Catalogue& catalogue) {
  OPKIT_TRY(checkKeys(entry, {"name",    "op",          "params",   "inputs", "lanes",  "data",       "constant",
                              "outputs", "fallback",    "unproved", "kernel", "loops",  "boundScale", "reason",
                              "seed",    "bench",       "size",     "slow",   "costly", "efficiency", "requests",
                              "banks",   "uncoalesced", "expected", "shapes", "source"},
                      true));
  return expandGroups(entry, registry, entry.contains("size") ? catalogue.sized : catalogue.groups);
}

/// An entry for the shape rule alone.
Status expandShapes(const Json& entry, const OpRegistry& registry, Catalogue& catalogue) {
  OPKIT_TRY(
      checkKeys(entry, {"name", "op", "params", "inputs", "data", "constant", "outputs", "shapes", "source"}, true));
  if (!entry.contains("shapes"))
    return Status::invalidArgument(R"("shapes" must hold the outputs of each shape set, such as [["f32[2,3]"]])");
  std::vector<CaseGroup> groups;
  OPKIT_TRY(expandGroups(entry, registry, groups));
  if (groups.empty()) return Status::invalidArgument("an entry with an empty list stands for no case");
  const std::string op = groups.front().cases.front().op;
  const auto isOf = [&](const CaseGroup& known) { return known.cases.front().op == op; };
  auto own = std::ranges::find_if(catalogue.shapes, isOf);
  if (own == catalogue.shapes.end()) own = catalogue.shapes.insert(own, CaseGroup());
  for (CaseGroup& group : groups) std::ranges::move(group.cases, std::back_inserter(own->cases));
  return Status::ok();
}

Status expandError(const Json& entry, const OpRegistry& registry, Catalogue& catalogue) {
  OPKIT_TRY(checkKeys(entry, {"name", "op", "params", "inputs", "data", "constant", "outputs", "error"}, false));
  ErrorCase result;
  OPKIT_ASSIGN(result.op, readString(entry, "op"));
  OPKIT_ASSIGN(result.error, readString(entry, "error"));
  if (!registry.find(result.op)) return unknownOperator(result.op);
  if (result.error.empty()) return Status::invalidArgument("\"error\" must be part of the expected message");
  if (entry.contains("params")) result.params = entry["params"].dump();
  if (entry.contains("constant")) {
    OPKIT_ASSIGN(result.constants, readIndices(entry["constant"]));
  }
  OPKIT_ASSIGN(result.data, readForms(entry, "data", "input", checkDataForm));
  if (!entry.contains("inputs"))
    return Status::invalidArgument("\"inputs\" must be one shape set such as [\"f32[2,3]\"]");
  OPKIT_ASSIGN(result.inputs, readInputs(entry["inputs"], {}));
  if (entry.contains("outputs") && !entry["outputs"].is_number_unsigned())
    return Status::invalidArgument("\"outputs\" must be a whole number, got {}", entry["outputs"].dump());
  result.outputs = entry.value("outputs", size_t{0});
  OPKIT_TRY(checkCase(result.asCase()));
  catalogue.errors.push_back(std::move(result));
  return Status::ok();
}

/// {"provider": "onednn", "cases": ["Softmax*/normal"], "most": 3, "reason": ".."}
Status expandDeparture(const Json& entry, const OpRegistry&, Catalogue& catalogue) {
  if (!entry.is_object()) return Status::invalidArgument("expected an object, got {}", entry.dump());
  for (const auto& [key, value] : entry.items())
    if (key != "provider" && key != "cases" && key != "reason" && key != "most")
      return Status::invalidArgument("unknown key \"{}\"; known are provider, cases, most, reason", key);
  OPKIT_ASSIGN(const std::string provider, readString(entry, "provider"));
  OPKIT_ASSIGN(const std::string reason, readString(entry, "reason"));
  if (provider.empty() || reason.empty())
    return Status::invalidArgument("a departure needs a \"provider\" and a \"reason\"");
  Json most = entry.value("most", Json(0));
  if (most == "inf") most = std::numeric_limits<double>::infinity();
  if (!most.is_number() || (entry.contains("most") && most.get<double>() <= 1))
    return Status::invalidArgument("\"most\" must be a number above 1, the largest error in bounds, or \"inf\", got {}",
                                   most.dump());
  if (!entry.contains("cases") || !entry["cases"].is_array() || entry["cases"].empty())
    return Status::invalidArgument("\"cases\" must be a list of ids without their seed such as \"Softmax*/specials\"");
  for (const Json& pattern : entry["cases"]) {
    if (!pattern.is_string()) return Status::invalidArgument("\"cases\" must be a list of ids, got {}", pattern.dump());
    catalogue.departures.push_back({provider, pattern.get<std::string>(), reason, most.get<double>()});
  }
  return Status::ok();
}

/// {"op": "Gemm", "rules": ["ranks"], "reason": ".."}: read by brokenCaseRules.
Status checkExemption(const Json& entry, const OpRegistry& registry, Catalogue&) {
  if (!entry.is_object()) return Status::invalidArgument("expected an object, got {}", entry.dump());
  OPKIT_TRY(checkKeys(entry, {"op", "rules", "reason"}, false));
  OPKIT_ASSIGN(const std::string op, readString(entry, "op"));
  OPKIT_ASSIGN(const std::string reason, readString(entry, "reason"));
  if (!registry.find(op)) return unknownOperator(op);
  if (reason.empty()) return Status::invalidArgument("an exemption needs a \"reason\"");
  if (!entry.contains("rules") || !entry["rules"].is_array() || entry["rules"].empty())
    return Status::invalidArgument("\"rules\" must be a list of {}", fmt::join(caseRuleNames(), ", "));
  for (const Json& rule : entry["rules"])
    if (std::ranges::find(caseRuleNames(), rule.is_string() ? rule.get<std::string>() : "") == caseRuleNames().end())
      return Status::invalidArgument("\"rules\" must be a list of {}, got {}", fmt::join(caseRuleNames(), ", "),
                                     rule.dump());
  return Status::ok();
}

using Expand = Status (*)(const Json&, const OpRegistry&, Catalogue&);

/// The entry once per operator, if its "op" is a list.
Result<std::vector<Json>> perOperator(const Json& entry) {
  if (!entry.is_object() || !entry.contains("op") || !entry["op"].is_array()) return std::vector{entry};
  const std::vector<Json> names = entry["op"];
  if (names.empty()) return Status::invalidArgument("\"op\" must be an operator type or a list of them, got []");
  std::vector<Json> entries;
  for (const Json& name : names) {
    if (std::ranges::count(names, name) > 1) return Status::invalidArgument("\"op\" lists {} twice", name.dump());
    entries.push_back(entry);
    entries.back()["op"] = name;
  }
  return entries;
}

Status expandList(const Json& file, const char* key, Expand expand, const OpRegistry& registry, Catalogue& catalogue) {
  if (!file.contains(key)) return Status::ok();
  if (!file[key].is_array()) return Status::invalidArgument("\"{}\" must be a list", key);
  for (size_t i = 0; i < file[key].size(); ++i) {
    const Json& entry = file[key][i];
    const std::string name = entry.is_object() && entry.contains("name") ? " " + entry["name"].dump() : "";
    const std::string where = fmt::format("{}[{}]{}", key, i, name);
    const Result<std::vector<Json>> entries = perOperator(entry);
    if (!entries) return entries.error().withContext(where);
    for (const Json& one : *entries) OPKIT_TRY(expand(one, registry, catalogue).withContext(where));
  }
  return Status::ok();
}

Status parseInto(const std::string& text, const OpRegistry& registry, Catalogue& catalogue) {
  OPKIT_ASSIGN(const Json file, jsonOf(text));
  if (!file.is_object() || !file.contains("cases"))
    return Status::invalidArgument(
        R"(expected {{"cases": [..], "shapes": [..], "errors": [..], "departures": [..], "exempt": [..]}})");
  OPKIT_TRY(checkKeys(file, {"cases", "shapes", "errors", "departures", "exempt"}, false));
  OPKIT_TRY(expandList(file, "cases", expandCase, registry, catalogue));
  OPKIT_TRY(expandList(file, "shapes", expandShapes, registry, catalogue));
  OPKIT_TRY(expandList(file, "departures", expandDeparture, registry, catalogue));
  OPKIT_TRY(applyDepartures(catalogue.departures, true, catalogue.groups));
  OPKIT_TRY(applyDepartures(catalogue.departures, false, catalogue.sized));
  OPKIT_TRY(expandList(file, "exempt", checkExemption, registry, catalogue));
  return expandList(file, "errors", expandError, registry, catalogue);
}

}  // namespace

Case ErrorCase::asCase() const {
  Case c;
  c.op = op;
  c.params = params;
  c.inputs = inputs;
  c.constants = constants;
  c.outputs = outputs;
  c.data = data;
  return c;
}

void Catalogue::append(Catalogue other) {
  std::move(other.groups.begin(), other.groups.end(), std::back_inserter(groups));
  std::move(other.sized.begin(), other.sized.end(), std::back_inserter(sized));
  std::move(other.shapes.begin(), other.shapes.end(), std::back_inserter(shapes));
  std::move(other.errors.begin(), other.errors.end(), std::back_inserter(errors));
  std::move(other.departures.begin(), other.departures.end(), std::back_inserter(departures));
}

Result<Catalogue> parseCaseFile(const std::string& fileName, const std::string& text, const OpRegistry& registry) {
  Catalogue catalogue;
  OPKIT_TRY(parseInto(text, registry, catalogue).withContext(fileName));
  return catalogue;
}

Result<Catalogue> builtinCatalogue(const OpRegistry& registry, const std::vector<std::string>& ops) {
  const auto isNamedIn = [](std::string_view text) {
    return [text](const std::string& op) { return text.find("\"" + op + "\"") != std::string_view::npos; };
  };
  Catalogue catalogue;
  for (const EmbeddedFile& file : builtinCaseFiles()) {
    if (!ops.empty() && std::ranges::none_of(ops, isNamedIn(file.text))) continue;
    OPKIT_ASSIGN(Catalogue one, parseCaseFile(std::string(file.name), std::string(file.text), registry));
    for (CaseGroup& group : one.groups)
      for (Case& c : group.cases) c.ofTree = true;
    catalogue.append(std::move(one));
  }
  return catalogue;
}

}  // namespace opkit::harness
