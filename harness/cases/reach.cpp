#include "harness/cases/reach.h"

#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "engine/base/thread_pool.h"
#include "harness/cases/accept.h"
#include "harness/cases/edges.h"
#include "harness/cases/vary.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;
using Examples = std::vector<const Case*>;

constexpr size_t kTries = 24;          // examples per place and turn
constexpr size_t kSlowTries = 8;       // slow candidates, the cheapest of which is taken
constexpr uint64_t kEdgeDays = 4;      // the day's set draws each operator's edges every fourth day
constexpr double kTypicalDraw = 0.06;  // estimated seconds of a draw on the built-in backends together

template <class List>
auto pick(const List& list, Rng& rng) {
  return list[rng.next() % std::size(list)];
}

const Shape* firstShape(const Case& c) { return c.inputs.empty() || !c.inputs[0] ? nullptr : &c.inputs[0]->shape; }

bool hasForm(const Case& c, size_t input) { return input < c.data.size() && !c.data[input].empty(); }

/// An input of data: its port needs no values, and no form fixes them.
bool isData(const Case& c, const OpDef& def, size_t input) {
  const Port* port = portOf(def.inputs, input);
  return c.inputs[input] && port && !port->contents;
}

void setForm(Case& c, size_t input, const std::string& form) {
  c.data.resize(std::max(c.data.size(), input + 1));
  c.data[input] = form;
  c.lane = Lane::Designed;
}

/// All extents but `kept` at most `most`.
Case withSmallExtents(const Case& c, int64_t kept, int64_t most) {
  Case small = c;
  for (const int64_t extent : extentsOf(c))
    if (extent != kept && extent > most) small = withExtent(small, extent, std::max<int64_t>(most - extent % 2, 1));
  return small;
}

/// The case with extent `to` along one axis of its first input: with the others as they are, or ever smaller; changed
/// wherever this extent occurs, or along that axis of that input alone.
std::vector<Case> grown(const Case& c, size_t axis, int64_t to) {
  const int64_t from = (*firstShape(c))[axis];
  if (from == 0) return {};
  std::vector<Case> candidates;
  for (const int64_t most : {int64_t{1} << 30, int64_t{3}, int64_t{2}, int64_t{1}}) {
    const Case small = withSmallExtents(c, from, most);
    if (from > 1) candidates.push_back(withExtent(small, from, to));
    candidates.push_back(small);
    candidates.back().inputs[0]->shape[axis] = to;
  }
  return candidates;
}

std::vector<Case> manyElements(const Case& c, const OpDef&, const Examples&, size_t turn, Rng& rng) {
  const Shape* shape = firstShape(c);
  if (!shape || turn >= shape->size()) return {};
  return grown(c, turn, rng.integer(70000, 75000));
}

/// Turn 0 is the last axis, turn 1 the one before it.
std::vector<Case> longRows(const Case& c, const OpDef&, const Examples&, size_t turn, Rng& rng) {
  const Shape* shape = firstShape(c);
  if (!shape || turn >= shape->size()) return {};
  return grown(c, shape->size() - 1 - turn, rng.integer(1100, 4200));
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
  Json json = Json::parse(params);
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
  Json form = Json::parse(c.data[input]);
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
    Json params = Json::parse(c.params);
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
    const Json params = Json::parse(c->params);
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
  Json params = Json::parse(c.params);
  for (const std::string& name : {first, second}) {
    const auto& known = values.at(name);
    params[name] = Json::parse(*std::next(known.begin(), static_cast<std::ptrdiff_t>(rng.next() % known.size())));
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

/// The examples of f32, the dtype that most kernels are written for.
Examples ofFloats(const Examples& examples) {
  Examples floats;
  for (const Case* c : examples)
    if (std::any_of(c->inputs.begin(), c->inputs.end(),
                    [](const auto& input) { return input && input->dtype == DType::Float32; }))
      floats.push_back(c);
  return floats;
}

/// One turn at one place. Turns alternate between examples of floats and all examples.
struct Draw {
  const OpDef* def;
  const Place* place;
  size_t turn;
  std::shared_ptr<const Examples> examples;
  std::string text;  // seeds the draw
  std::optional<Case> found;
};

constexpr Place kPlaces[] = {
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
  for (size_t attempt = 0; attempt < kTries && !rich.empty(); ++attempt) {
    for (Case& c : place.vary(*pick(rich, rng), def, examples, turn, rng)) {
      markDrawn(c, std::string("drawn for ") + place.name);
      if (newSeed) c.seed = rng.next() % kSeeds;
      const double seconds = estimatedSeconds(c, def);
      if (seconds > DrawLimits().seconds) {
        if (std::isfinite(seconds)) slow.emplace(seconds, std::move(c));
      } else if (acceptDrawn(def, registry, c, {}).isOk()) {
        return c;
      }
    }
    if (slow.size() >= kSlowTries)
      if (auto c = cheapestSlow()) return c;
  }
  return cheapestSlow();
}

/// True if a candidate of the draw matches the filter. Much cheaper than to check whether candidates are accepted.
static bool mayMatch(const Draw& draw, const std::string& filter, Rng rng) {
  const Examples rich = withoutPoor(*draw.examples);
  for (size_t attempt = 0; attempt < kTries && !rich.empty(); ++attempt)
    for (Case& c : draw.place->vary(*pick(rich, rng), *draw.def, *draw.examples, draw.turn, rng)) {
      markDrawn(c, std::string("drawn for ") + draw.place->name);
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

/// All draws for one operator at one place.
struct Spot {
  size_t first = 0, count = 0;  // of the draws
  uint64_t hash = 0;
};

static std::vector<Spot> spotsOf(const std::deque<Draw>& draws) {
  std::vector<Spot> spots;
  for (size_t i = 0; i < draws.size(); ++i) {
    const bool isNew = i == 0 || draws[i].def != draws[i - 1].def || draws[i].place != draws[i - 1].place;
    if (isNew) spots.push_back({i, 0, hashText(draws[i].def->type + draws[i].place->name)});
    ++spots.back().count;
  }
  return spots;
}

/// As many as fit, others the next day.
static void keepDay(const DrawsOfDay& of, std::vector<Spot>& spots) {
  const size_t fit = std::max<size_t>(static_cast<size_t>(of.seconds / kTypicalDraw), 1);
  const size_t days = (spots.size() + fit - 1) / fit;
  std::erase_if(spots, [&](const Spot& spot) { return spot.hash % days != of.day % days; });
}

Result<Catalogue> reachCatalogue(Catalogue base, const OpRegistry& registry, const std::vector<std::string>& ops,
                                 uint64_t seed, const std::string& filter, const std::optional<DrawsOfDay>& ofDay) {
  const auto examples = examplesOf(base);
  std::deque<Draw> draws;
  for (const OpDef* def : registry.all()) {
    const auto own = examples.find(def->type);
    const bool wanted = ops.empty() || std::ranges::find(ops, def->type) != ops.end();
    if (!wanted || def->shapeOnly || def->control || own == examples.end()) continue;
    const auto all = std::make_shared<const Examples>(own->second),
               floats = std::make_shared<const Examples>(ofFloats(*all));
    for (const Place& place : kPlaces)
      for (size_t i = 0; i < 2 * place.turns; ++i)
        draws.push_back({def, &place, i / 2, i % 2 == 0 ? floats : all,
                         fmt::format("reach/{}/{}/{}/{}", def->type, place.name, i, seed), std::nullopt});
  }
  std::vector<Spot> spots = spotsOf(draws);
  const size_t all = spots.size();
  if (ofDay && all > 0) keepDay(*ofDay, spots);
  ThreadPool(0, ThreadManner::Sleeps).parallelFor(spots.size(), [&](size_t s, size_t) {
    const Spot& spot = spots[s];
    for (size_t k = 0; k < spot.count; ++k) {
      Draw& draw = draws[spot.first + (k + (ofDay ? ofDay->day + spot.hash : 0)) % spot.count];
      Rng rng(hashText(draw.text));
      if (!filter.empty() && !mayMatch(draw, filter, rng)) continue;
      draw.found = drawAt(*draw.place, draw.turn, *draw.def, *draw.examples, registry, rng);
      if (ofDay && draw.found) break;
    }
  });
  std::vector<CaseGroup> groups;
  for (const OpDef* def : registry.all()) {
    const auto own = examples.find(def->type);
    const bool wanted = ops.empty() || std::ranges::find(ops, def->type) != ops.end();
    const bool isToday = !ofDay || hashText(def->type) % kEdgeDays == ofDay->day % kEdgeDays;
    if (own == examples.end() || !wanted || !isToday) continue;
    for (Case& c : edgeCases(*def, own->second, registry)) groups.push_back({{std::move(c)}});
  }
  std::set<std::string> seen;
  for (Draw& draw : draws)
    if (draw.found && seen.insert(draw.found->id()).second) groups.push_back({{*std::move(draw.found)}});
  base.notes.push_back(fmt::format("{} cases were drawn for places that the written ones do not reach", groups.size()));
  if (ofDay)
    base.notes.back() +=
        fmt::format(": at most one of the day for an operator and a kind of place, {} of {}", spots.size(), all);
  OPKIT_TRY(addDrawn(std::move(groups), base));
  return base;
}

}  // namespace opkit::harness
