#include "harness/cases/reach_catalogue.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "engine/base/interrupt.h"
#include "engine/base/thread_pool.h"
#include "harness/cases/accept.h"
#include "harness/cases/edges.h"
#include "harness/cases/features.h"
#include "harness/cases/reach.h"

namespace opkit::harness {
namespace {

using Examples = std::vector<const Case*>;

constexpr uint64_t kEdgeDays = 4;      // the day's set draws each operator's edges every fourth day
constexpr double kTypicalDraw = 0.06;  // estimated seconds of a draw on the built-in backends together

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

/// All draws for one operator at one place.
struct Spot {
  size_t first = 0, count = 0;  // of the draws
  uint64_t hash = 0;
};

std::vector<Spot> spotsOf(const std::deque<Draw>& draws) {
  std::vector<Spot> spots;
  for (size_t i = 0; i < draws.size(); ++i) {
    const bool isNew = i == 0 || draws[i].def != draws[i - 1].def || draws[i].place != draws[i - 1].place;
    if (isNew) spots.push_back({i, 0, hashText(draws[i].def->type + draws[i].place->name)});
    ++spots.back().count;
  }
  return spots;
}

/// As many as fit, others the next day.
void keepDay(const DrawsOfDay& of, std::vector<Spot>& spots) {
  const size_t fit = std::max<size_t>(static_cast<size_t>(of.seconds / kTypicalDraw), 1);
  const size_t days = (spots.size() + fit - 1) / fit;
  std::erase_if(spots, [&](const Spot& spot) { return spot.hash % days != of.day % days; });
}

/// The draws, and the order in which they become cases: edges, then draws.
class Reach {
 public:
  Reach(const Catalogue& base, const OpRegistry& registry, const std::vector<std::string>& ops, uint64_t seed,
        const ReachOptions& options)
      : registry_(registry), options_(options), examples_(examplesOf(base)), infinities_(operatorsOfInfinities(base)) {
    for (const OpDef* def : registry.all()) {
      const bool wanted = ops.empty() || std::ranges::find(ops, def->type) != ops.end();
      const auto own = examples_.find(def->type);
      if (!wanted || own == examples_.end()) continue;
      if (isDayOfEdges(*def)) edges_.push_back({def, &own->second, {}});
      if (!def->shapeOnly && !def->control) addDraws(*def, own->second, seed);
      if (!def->shapeOnly && !def->control) drawn_.push_back(def);
    }
    spots_ = spotsOf(draws_);
    allSpots_ = spots_.size();
    if (options.ofDay && allSpots_ > 0) keepDay(*options.ofDay, spots_);
    for (const Spot& spot : spots_) addChains(spot);
    for (const OpDef* def : drawn_) addPairs(*def, seed);
  }

  /// Each draw has its own seed, so that neither the number of threads nor their order matters. The dearest draws begin
  /// first, for no thread to be left with one of minutes at the end: those of large tensors, which is the first place.
  void draw() {
    std::ranges::stable_sort(chains_, std::less(), [](const Chain& chain) { return chain.front()->place; });
    const size_t pieces = chains_.size() + edges_.size();
    std::atomic<size_t> next = 0;
    std::mutex telling;
    size_t done = 0;
    ThreadPool(options_.threads, ThreadManner::Sleeps).parallelFor(pieces, [&](size_t, size_t) {
      const size_t piece = next++;
      if (interrupted()) return;
      if (piece < chains_.size())
        drawFirst(chains_[piece]);
      else
        drawEdges(edges_[piece - chains_.size()]);
      const std::lock_guard lock(telling);
      ++done;
      if (options_.progress) options_.progress(done, pieces);
    });
  }

  std::vector<CaseGroup> groups() {
    std::vector<CaseGroup> groups;
    for (Edges& edges : edges_)
      for (Case& c : edges.found) groups.push_back({{std::move(c)}});
    std::set<std::string> seen;
    for (Draw& draw : draws_)
      if (draw.found && seen.insert(draw.found->id()).second) groups.push_back({{*std::move(draw.found)}});
    return groups;
  }

  std::string note(size_t groups) const {
    std::string text = fmt::format("{} cases were drawn for places that the written ones do not reach", groups);
    if (options_.ofDay)
      text += fmt::format(": at most one of the day for an operator and a kind of place, {} of {}", spots_.size(),
                          allSpots_);
    return text;
  }

 private:
  /// Draws of which the first that finds a case counts.
  using Chain = std::vector<Draw*>;

  /// The edges of an operator.
  struct Edges {
    const OpDef* def;
    const Examples* examples;
    std::vector<Case> found;
  };

  bool isDayOfEdges(const OpDef& def) const {
    return !options_.ofDay || hashText(def.type) % kEdgeDays == options_.ofDay->day % kEdgeDays;
  }

  void addDraws(const OpDef& def, const Examples& own, uint64_t seed) {
    const auto all = std::make_shared<const Examples>(own), floats = std::make_shared<const Examples>(ofFloats(*all));
    for (const Place& place : places())
      for (size_t i = 0; i < 2 * place.turns; ++i)
        draws_.push_back({&def, &place, i / 2, i % 2 == 0 ? floats : all,
                          fmt::format("reach/{}/{}/{}/{}", def.type, place.name, i, seed), std::nullopt});
  }

  /// A draw for each two features; of a day those whose turn it is, in another order for each operator.
  void addPairs(const OpDef& def, uint64_t seed) {
    const Examples& own = examples_.at(def.type);
    const auto all = std::make_shared<const Examples>(own);
    size_t turn = hashText(def.type) % kPairDays;
    for (Place& place : placesOfPairs(def, own, infinities_.contains(def.type))) {
      if (options_.ofDay && turn++ % kPairDays != options_.ofDay->day % kPairDays) continue;
      pairs_.push_back(std::move(place));
      std::string text = fmt::format("reach/{}/{}/{}", def.type, pairs_.back().name, seed);
      draws_.push_back({&def, &pairs_.back(), 0, all, std::move(text), std::nullopt});
      chains_.push_back({&draws_.back()});
    }
  }

  /// A chain per draw; of a day one per spot, which begins with another draw each day.
  void addChains(const Spot& spot) {
    Chain chain;
    const size_t first = options_.ofDay ? options_.ofDay->day + spot.hash : 0;
    for (size_t k = 0; k < spot.count; ++k) {
      chain.push_back(&draws_[spot.first + (k + first) % spot.count]);
      if (!options_.ofDay || k + 1 == spot.count) chains_.push_back(std::exchange(chain, {}));
    }
  }

  void drawOne(Draw& draw) const {
    Rng rng(hashText(draw.text));
    if (!options_.filter.empty() && !mayMatch(*draw.place, draw.turn, *draw.def, *draw.examples, options_.filter, rng))
      return;
    draw.found = drawAt(*draw.place, draw.turn, *draw.def, *draw.examples, registry_, rng);
  }

  void drawEdges(Edges& edges) const { edges.found = edgeCases(*edges.def, *edges.examples, registry_); }

  void drawFirst(const Chain& chain) const {
    for (Draw* const draw : chain) {
      drawOne(*draw);
      if (draw->found) return;
    }
  }

  const OpRegistry& registry_;
  const ReachOptions& options_;
  const std::map<std::string, Examples> examples_;
  const std::set<std::string> infinities_;  // operators
  std::vector<Edges> edges_;
  std::vector<const OpDef*> drawn_;  // operators with draws
  std::deque<Place> pairs_;
  std::deque<Draw> draws_;
  std::vector<Spot> spots_;
  size_t allSpots_ = 0;
  std::vector<Chain> chains_;
};

}  // namespace

Result<Catalogue> reachCatalogue(Catalogue base, const OpRegistry& registry, const std::vector<std::string>& ops,
                                 uint64_t seed, const ReachOptions& options) {
  std::vector<CaseGroup> groups;
  {
    Reach reach(base, registry, ops, seed, options);
    reach.draw();
    groups = reach.groups();
    base.notes.push_back(reach.note(groups.size()));
  }
  OPKIT_TRY(addDrawn(std::move(groups), base));
  return base;
}

}  // namespace opkit::harness
