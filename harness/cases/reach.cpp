#include "harness/cases/reach.h"

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "engine/base/json_text.h"
#include "harness/cases/accept.h"
#include "harness/cases/vary.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;
using Examples = std::vector<const Case*>;

constexpr size_t kSlowTries = 8;  // slow candidates, the cheapest of which is taken

std::vector<Case> manyElements(const Case& c, const OpDef&, const Examples&, size_t turn, Rng& rng) {
  const Shape* shape = firstShape(c);
  if (!shape || turn >= shape->size()) return {};
  return grown(c, 0, turn, rng.integer(70000, 75000));
}

/// Turn 0 is the last axis, turn 1 the one before it.
std::vector<Case> longRows(const Case& c, const OpDef&, const Examples&, size_t turn, Rng& rng) {
  const Shape* shape = firstShape(c);
  if (!shape || turn >= shape->size()) return {};
  return grown(c, 0, shape->size() - 1 - turn, rng.integer(1100, 4200));
}

std::vector<Case> manyMatrices(const Case& c, const OpDef&, const Examples&, size_t, Rng& rng) {
  const Shape* shape = firstShape(c);
  if (!shape || shape->size() < 3) return {};
  constexpr std::array<int64_t, 4> kBatches = {5, 7, 11, 16};
  const int64_t to = pick(kBatches, rng), from = (*shape)[0];
  Case alone = c, together = c;
  alone.inputs[0]->shape[0] = to;
  for (auto& input : together.inputs)
    if (input && input->shape.size() == shape->size() && input->shape[0] == from) input->shape[0] = to;
  return {together, alone};
}

bool isPermutation(const Json& list) {
  std::vector<int64_t> sorted, axes(list.size());
  for (const Json& item : list) sorted.push_back(item.is_number_integer() ? item.get<int64_t>() : -1);
  std::sort(sorted.begin(), sorted.end());
  std::iota(axes.begin(), axes.end(), 0);
  return sorted == axes;
}

Json shuffledAxes(size_t rank, Rng& rng) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = rank; i-- > 1;) std::swap(axes[i], axes[rng.next() % (i + 1)]);
  return axes;
}

/// Parameters for `more` axes before the others: lists of one or two values per axis get `added` for them.
std::string withMoreAxes(const std::string& params, size_t rank, size_t more, int64_t added, Rng& rng) {
  Json json = parseJson(params);
  for (auto& [name, value] : json.items()) {
    if (!value.is_array() || rank == 0 || (value.size() != rank && value.size() != 2 * rank)) continue;
    if (value.size() == rank && rank > 1 && isPermutation(value)) {
      value = shuffledAxes(rank + more, rng);
      continue;
    }
    Json longer = Json::array();
    for (size_t i = 0; i < value.size(); ++i) {
      for (size_t k = 0; i % rank == 0 && k < more; ++k) longer.push_back(added);
      longer.push_back(value[i]);
    }
    value = longer;
  }
  return json.dump();
}

/// The same for an input whose values the shape rule reads.
void addValues(Case& c, size_t input, size_t rank, const Shape& before, int64_t added) {
  if (!hasForm(c, input) || c.inputs[input]->shape != Shape{static_cast<int64_t>(rank)}) return;
  Json form = parseJson(c.data[input]);
  if (!form.contains("values") || form["values"].size() != rank) return;
  Json values = Json::array();
  for (const int64_t extent : before) values.push_back(added < 0 ? extent : added);
  for (const Json& value : form["values"]) values.push_back(value);
  c.data[input] = Json{{"values", values}}.dump();
  c.inputs[input]->shape[0] = static_cast<int64_t>(values.size());
}

/// Turn 0 adds one axis, turn 1 fills up to six.
std::vector<Case> moreAxes(const Case& c, const OpDef& def, const Examples&, size_t turn, Rng& rng) {
  const Shape* shape = firstShape(c);
  if (!shape || shape->size() > 5) return {};
  const size_t rank = shape->size(), more = turn == 0 ? 1 : 6 - rank;
  Shape before;
  for (size_t i = 0; i < more; ++i) before.push_back(rng.integer(2, 3));
  std::vector<Case> candidates;
  for (const bool all : {true, false})
    for (const int64_t added : {-1, 0, 1}) {
      Case varied = c;
      varied.params = withMoreAxes(c.params, rank, more, std::max<int64_t>(added, 0), rng);
      for (size_t i = 0; i < c.inputs.size(); ++i) {
        if (!c.inputs[i]) continue;
        if (!isData(c, def, i))
          addValues(varied, i, rank, before, added);
        else if (i == 0 || (all && c.inputs[i]->shape.size() == rank))
          varied.inputs[i]->shape.insert(varied.inputs[i]->shape.begin(), before.begin(), before.end());
      }
      candidates.push_back(std::move(varied));
    }
  return candidates;
}

/// Every second axis of six repeats, is reduced, sliced or moved, so that no two axes merge.
std::vector<Case> manyLoops(const Case& c, const OpDef& def, const Examples&, size_t, Rng& rng) {
  if (!firstShape(c)) return {};
  Shape full;
  for (int i = 0; i < 6; ++i) full.push_back(rng.integer(2, 4));
  std::vector<Case> candidates;
  for (const int64_t length : {3, 6}) {
    Case varied = c;
    Json params = parseJson(c.params);
    for (auto& [name, value] : params.items()) {
      if (!value.is_array()) continue;
      value = name == "perm"                         ? shuffledAxes(6, rng)
              : name.find("axes") == 0               ? Json{0, 2, 4}
              : value.size() % 2 == 0 && length == 6 ? Json{0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0}
                                                     : Json{1, 2, 1, 2, 1, 2};
    }
    varied.params = params.dump();
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (!c.inputs[i]) continue;
      if (isData(c, def, i)) {
        varied.inputs[i]->shape = full;
        for (size_t d = 0; i > 0 && d < full.size(); ++d)
          if (d % 2 == i % 2) varied.inputs[i]->shape[d] = 1;
        continue;
      }
      const std::string& name = portOf(def.inputs, i)->name;
      const Json three = name == "axes" ? Json{0, 2, 4} : name == "ends" ? Json{9, 2, 9} : Json{1, 0, 1};
      varied.inputs[i]->shape = {length};
      varied.data.resize(std::max(varied.data.size(), i + 1));
      varied.data[i] = Json{{"values", length == 3 ? three : Json{2, 1, 2, 1, 2, 1}}}.dump();
    }
    candidates.push_back(std::move(varied));
  }
  return candidates;
}

std::vector<Case> manyInputs(const Case& c, const OpDef& def, const Examples&, size_t, Rng& rng) {
  if (def.inputs.empty() || def.inputs.back().kind != Port::Kind::Variadic || c.inputs.empty()) return {};
  Case varied = c;
  const auto wanted = static_cast<size_t>(rng.integer(7, 10));
  while (varied.inputs.size() < wanted) {
    const size_t like = varied.inputs.size() % c.inputs.size();
    if (hasForm(c, like)) setForm(varied, varied.inputs.size(), c.data[like]);
    varied.inputs.push_back(c.inputs[like]);
  }
  return {varied};
}

/// Turn 0 fills 64-bit integers, turn 1 any others.
std::vector<Case> wholeIntegers(const Case& c, const OpDef& def, const Examples&, size_t turn, Rng& rng) {
  // Integers whose sums overflow, or that pass through floats, have no defined result.
  if (def.numeric == NumericClass::Sum || def.numeric == NumericClass::Transcendental) return {};
  constexpr std::array<DType, 2> kLong = {DType::Int64, DType::UInt64};
  constexpr std::array<DType, 6> kShort = {DType::Int32,  DType::UInt32, DType::Int16,
                                           DType::UInt16, DType::Int8,   DType::UInt8};
  const auto changes = [&](size_t i) { return isData(c, def, i) && c.inputs[i]->dtype != DType::Bool; };
  size_t first = 0;
  while (first < c.inputs.size() && !changes(first)) ++first;
  if (first == c.inputs.size()) return {};
  const DType from = c.inputs[first]->dtype, to = turn == 0 ? pick(kLong, rng) : pick(kShort, rng);
  Case varied = c;
  for (size_t i = first; i < c.inputs.size(); ++i) {
    if (!changes(i) || c.inputs[i]->dtype != from || (i > first && hasForm(c, i))) continue;
    if (!portOf(def.inputs, i)->dtypes.contains(to)) return {};
    varied.inputs[i]->dtype = to;
    setForm(varied, i, R"({"pattern":"bits"})");
  }
  return {varied};
}

/// Turn 0 is a million, or a thousand where products of many factors would overflow; turn 1 is a millionth.
std::vector<Case> magnitudes(const Case& c, const OpDef& def, const Examples&, size_t turn, Rng&) {
  std::vector<size_t> changes;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i] || !isData(c, def, i) || hasForm(c, i) || !isFloat(c.inputs[i]->dtype)) continue;
    if (c.inputs[i]->dtype == DType::Float16) return {};  // it ends at 65,504, and 1e-6 is a denormal
    changes.push_back(i);
  }
  std::vector<Case> candidates;
  for (const double most : turn == 0 ? std::vector{1e6, 1e3} : std::vector{1e-6}) {
    const double least = def.domain.low < 0 ? -most : most / 16;
    Case varied = c;
    for (const size_t i : changes) setForm(varied, i, Json{{"range", {least, most}}}.dump());
    if (!changes.empty()) candidates.push_back(std::move(varied));
  }
  return candidates;
}

/// Values of each attribute in the operator's cases, so that they are likely to be valid.
std::map<std::string, std::set<std::string>> attributesIn(const Examples& examples) {
  std::map<std::string, std::set<std::string>> values;
  for (const Case* c : examples) {
    const Json params = parseJson(c->params);
    for (const auto& [name, value] : params.items()) values[name].insert(value.dump());
  }
  return values;
}

/// Each turn is another pair of attributes, both with values of some cases.
std::vector<Case> attributePairs(const Case& c, const OpDef&, const Examples& examples, size_t turn, Rng& rng) {
  const auto values = attributesIn(examples);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (auto a = values.begin(); a != values.end(); ++a)
    for (auto b = std::next(a); b != values.end(); ++b) pairs.emplace_back(a->first, b->first);
  if (turn >= pairs.size()) return {};
  const auto& [first, second] = pairs[pairs.size() * turn / std::min<size_t>(pairs.size(), 8) % pairs.size()];
  Case varied = c;
  Json params = parseJson(c.params);
  for (const std::string& name : {first, second}) {
    const auto& known = values.at(name);
    params[name] = parseJson(*std::next(known.begin(), static_cast<std::ptrdiff_t>(rng.next() % known.size())));
  }
  varied.params = params.dump();
  return {varied};
}

/// Empty and tiny examples vary into empty and tiny cases.
Examples withoutPoor(const Examples& examples) {
  Examples rich;
  for (const Case* c : examples) {
    const auto isEmpty = [](const auto& input) { return input && input->elements() == 0; };
    if (!firstShape(*c) || c->inputs[0]->elements() < 8) continue;
    if (std::none_of(c->inputs.begin(), c->inputs.end(), isEmpty)) rich.push_back(c);
  }
  return rich.empty() ? examples : rich;
}

const Place kPlaces[] = {
    {"more than 65,536 elements", manyElements, 4}, {"rows longer than 1,024", longRows, 2},
    {"five matrices and more", manyMatrices, 2},    {"higher ranks", moreAxes, 2},
    {"more than four loops", manyLoops, 2},         {"seven inputs and more", manyInputs, 2},
    {"all bits of integers", wholeIntegers, 2},     {"magnitudes", magnitudes, 2},
    {"pairs of attributes", attributePairs, 8},
};

}  // namespace

std::span<const Place> places() { return kPlaces; }

std::optional<Case> drawAt(const Place& place, size_t turn, const OpDef& def, const Examples& examples,
                           const OpRegistry& registry, Rng& rng, bool newSeed) {
  const Examples rich = withoutPoor(examples);
  std::multimap<double, Case> slow;  // by seconds
  const auto cheapestSlow = [&]() -> std::optional<Case> {
    for (auto& [seconds, c] : slow)
      if (acceptDrawn(def, registry, c, {.seconds = seconds}).isOk()) return std::move(c);
    slow.clear();
    return std::nullopt;
  };
  for (size_t attempt = 0; attempt < place.tries && !rich.empty(); ++attempt) {
    for (Case& c : place.vary(*pick(rich, rng), def, examples, turn, rng)) {
      markDrawn(c, "drawn for " + place.name);
      if (newSeed) c.seed = rng.next() % kSeeds;
      const double seconds = estimatedSeconds(c, def);
      if (seconds > DrawLimits().seconds) {
        if (std::isfinite(seconds) && !place.isCheap) slow.emplace(seconds, std::move(c));
      } else if (acceptDrawn(def, registry, c, {}).isOk()) {
        return c;
      }
    }
    if (slow.size() >= kSlowTries)
      if (auto c = cheapestSlow()) return c;
  }
  return cheapestSlow();
}

bool mayMatch(const Place& place, size_t turn, const OpDef& def, const Examples& examples, const std::string& filter,
              Rng rng) {
  const Examples rich = withoutPoor(examples);
  for (size_t attempt = 0; attempt < place.tries && !rich.empty(); ++attempt)
    for (Case& c : place.vary(*pick(rich, rng), def, examples, turn, rng)) {
      markDrawn(c, "drawn for " + place.name);
      if (c.id().find(filter) != std::string::npos || c.name.find(filter) != std::string::npos) return true;
    }
  return false;
}

std::map<std::string, Examples> examplesOf(const Catalogue& base) {
  std::map<std::string, Examples> examples;
  for (const CaseGroup& group : base.groups)
    for (const Case& c : group.cases)
      if (c.lane != Lane::Specials && c.boundScale == 1) examples[c.op].push_back(&c);
  return examples;
}

}  // namespace opkit::harness
