#include "harness/cases/fuzz.h"

#include <set>

#include "engine/base/thread_pool.h"
#include "harness/cases/accept.h"
#include "harness/cases/draw_params.h"
#include "harness/cases/reach.h"
#include "harness/cases/rng.h"
#include "harness/cases/vary.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {
namespace {

constexpr size_t kTriesPerCase = 60;
constexpr size_t kReachEvery = 3;  // draws, one of which goes to a place of reach.h
constexpr int64_t kExtents[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
constexpr DType kAllDTypes[] = {DType::Float32, DType::Float32, DType::Float16, DType::Float64, DType::Int8,
                                DType::UInt8,   DType::Int16,   DType::UInt16,  DType::Int32,   DType::UInt32,
                                DType::Int64,   DType::UInt64,  DType::Bool};

class Drawer {
 public:
  Drawer(const OpDef& def, const std::vector<const Case*>& examples, uint64_t seed)
      : def_(def), examples_(examples), rng_(hashText(fmt::format("fuzz/{}/{}", def.type, seed))) {}

  Case draw() {
    Case c = !examples_.empty() && rng_.integer(0, 1) == 0 ? varied() : fromCard();
    c.seed = rng_.next() % kSeeds;
    markDrawn(c, "drawn by --fuzz");
    return c;
  }

  std::optional<Case> drawAtSomePlace(const OpRegistry& registry) {
    const Place& place = places()[rng_.next() % places().size()];
    const size_t turn = rng_.next() % place.turns;
    return drawAt(place, turn, def_, examples_, registry, rng_, true);
  }

 private:
  template <class List>
  auto pick(const List& list) {
    return list[rng_.next() % std::size(list)];
  }

  /// An example with some extents replaced.
  Case varied() {
    Case c = *pick(examples_);
    for (const int64_t extent : extentsOf(c))
      if (rng_.integer(0, 1) == 0) c = withExtent(c, extent, pick(kExtents));
    return c;
  }

  Case fromCard() {
    Case c;
    c.op = def_.type;
    c.lane = rng_.integer(0, 3) == 0 && hasExactLane(def_.numeric) ? Lane::Exact : Lane::Normal;
    const auto rank = static_cast<size_t>(rng_.integer(0, 3) == 0 ? rng_.integer(5, 7) : rng_.integer(0, 4));
    for (size_t d = 0; d < rank; ++d) shape_.resize(d + 1), shape_[d] = pick(kExtents);
    shape_.resize(rank);
    const DType dtype = drawDType(def_.inputs.empty() ? kAnyDType : def_.inputs[0].dtypes);
    for (const Port& port : def_.inputs) {
      if (port.kind == Port::Kind::Optional && rng_.integer(0, 1) == 0) break;
      const int64_t copies = port.kind == Port::Kind::Variadic ? rng_.integer(1, 9) : 1;
      for (int64_t k = 0; k < copies; ++k) addInput(port, dtype, c);
    }
    c.params = drawParams(def_.params, rank, rng_);
    return c;
  }

  void addInput(const Port& port, DType common, Case& c) {
    const DType dtype = port.dtypes.contains(common) ? common : drawDType(port.dtypes);
    if (!port.contents) {
      c.inputs.push_back(TensorDesc{dtype, c.inputs.empty() ? shape_ : drawRelated()});
      return;
    }
    const int64_t length = rng_.integer(0, 2) == 0 ? 1 : static_cast<int64_t>(shape_.size());
    std::string values;
    for (int64_t i = 0; i < std::max<int64_t>(length, 1); ++i)
      values += fmt::format("{}{}", i ? "," : "", rng_.integer(-1, 4));
    c.data.resize(c.inputs.size() + 1);
    c.data.back() = fmt::format("{{\"values\":[{}]}}", values);
    if (rng_.integer(0, 1) == 0) c.constants.push_back(c.inputs.size());
    c.inputs.push_back(TensorDesc{dtype, length == 1 && rng_.integer(0, 3) == 0 ? Shape{} : Shape{length}});
  }

  /// The first input's shape, something that broadcasts against it, or another order of it.
  Shape drawRelated() {
    Shape shape = shape_;
    switch (rng_.integer(0, 4)) {
      case 0:
        for (int64_t& extent : shape) extent = rng_.integer(0, 1) ? extent : 1;
        break;
      case 1:
        if (!shape.empty()) shape.erase(shape.begin());
        break;
      case 2: std::reverse(shape.begin(), shape.end()); break;
      case 3:
        if (shape.size() > 1) shape = {shape[1]};
        break;
      default: break;
    }
    return shape;
  }

  DType drawDType(const DTypeSet& allowed) {
    DType dtype = pick(kAllDTypes);
    while (!allowed.contains(dtype)) dtype = pick(kAllDTypes);
    return dtype;
  }

  const OpDef& def_;
  const std::vector<const Case*>& examples_;
  Rng rng_;
  Shape shape_;
};

Status checkRefusal(const Case& c, const Status& refusal) {
  if (!refusal.message().empty() && refusal.message().find('\n') == std::string::npos) return Status::ok();
  return Status::internal("{}: a refusal must be one line, got '{}'", c.id(), refusal.message());
}

/// The draws for one operator.
struct Drawn {
  const OpDef* def;
  std::vector<const Case*> examples;
  std::vector<CaseGroup> groups;
  Status status;
};

Status drawFor(Drawn& drawn, const FuzzOptions& options, const OpRegistry& registry) {
  Drawer drawer(*drawn.def, drawn.examples, options.seed);
  std::set<std::string> seen;
  const auto keep = [&](Case c) {
    const std::string id = c.id();
    const bool matches =
        id.find(options.filter) != std::string::npos || c.name.find(options.filter) != std::string::npos;
    if (matches && seen.insert(id).second) drawn.groups.push_back({{std::move(c)}});
  };
  for (size_t attempt = 0; attempt < options.count * kTriesPerCase && drawn.groups.size() < options.count; ++attempt) {
    if (attempt % kReachEvery == 0)
      if (std::optional<Case> c = drawer.drawAtSomePlace(registry)) {
        keep(*std::move(c));
        continue;
      }
    Case c = drawer.draw();
    if (const Status status = acceptDrawn(*drawn.def, registry, c, {}); !status.isOk()) {
      OPKIT_TRY(checkRefusal(c, status));
      continue;
    }
    keep(std::move(c));
  }
  return Status::ok();
}

}  // namespace

Result<Catalogue> fuzzCatalogue(Catalogue base, const Catalogue& written, const OpRegistry& registry,
                                const FuzzOptions& options) {
  std::map<std::string, std::vector<const Case*>> examples = examplesOf(written);
  std::vector<Drawn> draws;
  for (const OpDef* def : registry.all()) {
    const bool wanted = options.ops.empty() || std::ranges::find(options.ops, def->type) != options.ops.end();
    if (wanted && !def->shapeOnly && !def->control)  // neither has a kernel
      draws.push_back({def, std::move(examples[def->type]), {}, {}});
  }
  ThreadPool(0, ThreadManner::Sleeps).parallelFor(draws.size(), [&](size_t i, size_t) {
    draws[i].status = drawFor(draws[i], options, registry);
  });
  std::vector<CaseGroup> groups;
  std::vector<std::string> none;
  for (Drawn& drawn : draws) {
    OPKIT_TRY(drawn.status);
    if (drawn.groups.empty()) none.push_back(drawn.def->type);
    std::ranges::move(drawn.groups, std::back_inserter(groups));
  }
  base.notes.push_back(fmt::format("--fuzz drew {} cases for {} operators with seed {}{}", groups.size(), draws.size(),
                                   options.seed,
                                   none.empty() ? "" : fmt::format("; nothing valid for {}", fmt::join(none, ", "))));
  OPKIT_TRY(addDrawn(std::move(groups), base));
  return base;
}

}  // namespace opkit::harness
