#include "engine/runtime/cost_placement.h"

#include "engine/backend/cost.h"
#include "engine/backend/op_runner.h"
#include "engine/base/duration.h"
#include "engine/runtime/min_cut.h"

namespace opkit {
namespace {

constexpr double kImpossible = MinCut::kInfinity;

/// One of the two backends, and a twin of it to measure on.
struct Side {
  BackendIndex index = kMainBackend;
  Backend* backend = nullptr;
  Runtime* runtime = nullptr;
  std::unique_ptr<Backend> twin = nullptr;  // made at the first measurement
  std::string configuration = {};
};

/// The part of the configuration that affects speed.
std::string textOf(const SessionConfig& config) {
  return fmt::format("threads {} precision {} memory {} power {}", config.threads, static_cast<int>(config.precision),
                     static_cast<int>(config.memory), static_cast<int>(config.power));
}

class CostPlacer {
 public:
  CostPlacer(const Model& model, const EncodedGraph& graph, const SessionConfig& config, BackendSet& backends)
      : model_(model), graph_(graph), config_(config), backends_(backends), homes_(graph.descs.size()) {}

  Result<CostPlan> place() {
    if (backends_.main().name() == "cpu") return CostPlan{};
    OPKIT_ASSIGN(const BackendIndex cpu, backends_.fallback());
    OPKIT_ASSIGN(main_, sideOf(kMainBackend));
    OPKIT_ASSIGN(other_, sideOf(cpu));
    for (const EncodedCommand& command : graph_.commands)
      OPKIT_TRY(addCosts(command).withContext(fmt::format("cost of node '{}'", model_.nodes[command.node].name)));
    OPKIT_ASSIGN(copies_, knownCopyCosts(*main_.runtime, *main_.twin));
    // Every tensor that enters may add a segment.
    copies_.up.latencyNs += submitNs_;
    cut();
    for (const Side* side : {&main_, &other_})
      side->backend->counters().measurements += side->twin->counters().measurements;
    return std::move(plan_);
  }

 private:
  Result<Side> sideOf(BackendIndex index) {
    Side side{index, &backends_.at(index), &backends_.runtime(index)};
    side.configuration = textOf(config_);
    OPKIT_ASSIGN(side.twin, backends_.twin(index));
    return side;
  }

  Status addCosts(const EncodedCommand& command) {
    Layout layout = Layout::NCHW;
    OPKIT_ASSIGN(const double main, costOn(main_, command, &layout));
    OPKIT_ASSIGN(const double other, costOn(other_, command, nullptr));
    mainNs_.push_back(main == kImpossible && other == kImpossible ? 0 : main);  // the scheduler reports the reason
    otherNs_.push_back(other);
    for (const TensorId tensor : command.outputs) {
      if (!tensor || main == kImpossible) continue;
      homes_.backend[tensor] = main_.index;
      homes_.layout[tensor] = layout;
    }
    return Status::ok();
  }

  /// As if everything before ran on the session's backend; kImpossible if no kernel accepts the command.
  Result<double> costOn(Side& side, const EncodedCommand& command, Layout* layout) {
    const CommandView view(command, model_, graph_, config_, *side.backend, side.index, homes_);
    const CreateArgs args = view.args();
    const Choice choice = chooseCreator(side.backend->creators(args.def), args, config_.providers,
                                        fitsOn(*side.twin, args, view.contents()));
    if (!choice.creator) return kImpossible;
    const MeasureArgs what{args, *choice.creator, view.contents()};
    if (layout) *layout = choice.creator->layout;
    const Result<Cost> cost = knownCost(*side.runtime, *side.twin, side.configuration, what);
    if (!cost && (cost.error().code() == StatusCode::Unsupported || cost.error().code() == StatusCode::OutOfMemory))
      return kImpossible;
    OPKIT_TRY(cost.error());
    if (&side == &main_ && cost->submitNs > 0)
      submitNs_ = submitNs_ == 0 ? cost->submitNs : std::min(submitNs_, cost->submitNs);
    return cost->runNs;
  }

  /// A command on the first side of the cut runs on the session's backend.
  void cut() {
    MinCut cut;
    std::vector<size_t> nodes;
    IndexedVector<TensorId, size_t> producer(graph_.descs.size(),
                                             MinCut::kSink);  // tensors without a producer are on the host
    for (size_t c = 0; c < graph_.commands.size(); ++c) {
      nodes.push_back(cut.addNode());
      cut.addEdge(nodes[c], MinCut::kSink, mainNs_[c]);
      cut.addEdge(MinCut::kSource, nodes[c], otherNs_[c]);
      for (const TensorId tensor : graph_.commands[c].outputs)
        if (tensor) producer[tensor] = nodes[c];
    }
    const Readers readers = readersOf(nodes);
    for (const TensorId t : readers.ids()) addCopies(cut, t, producer[t], readers[t]);
    const std::vector<bool> side = cut.solve();
    for (size_t c = 0; c < graph_.commands.size(); ++c) plan_.commands.push_back({side[nodes[c]], reasonOf(c)});
    plan_.estimate = {estimate(readers, producer, [&](size_t node) { return side[node]; }),
                      estimate(readers, producer, [&](size_t node) { return node != MinCut::kSink && canMain(node); }),
                      estimate(readers, producer, [&](size_t) { return false; })};
  }

  using Readers = IndexedVector<TensorId, std::vector<size_t>>;

  /// Of a tensor that is not known on the host: the commands that read it, and the sink for outputs of the model.
  Readers readersOf(const std::vector<size_t>& nodes) const {
    Readers readers(graph_.descs.size());
    const auto add = [&](TensorId tensor, size_t node) {
      if (!tensor || graph_.contents[tensor]) return;
      readers[graph_.alias[tensor]].push_back(node);
    };
    for (size_t c = 0; c < graph_.commands.size(); ++c)
      for (const TensorId tensor : graph_.commands[c].inputs) add(tensor, nodes[c]);
    for (const TensorId output : model_.outputs) add(output, MinCut::kSink);
    return readers;
  }

  double upNs(TensorId tensor) const { return copies_.up.of(graph_.descs[tensor].sizeBytes()); }
  double downNs(TensorId tensor) const { return copies_.down.of(graph_.descs[tensor].sizeBytes()); }

  /// One node stands for the copy in each direction, so that it is paid once.
  void addCopies(MinCut& cut, TensorId tensor, size_t producer, const std::vector<size_t>& readers) const {
    if (readers.empty()) return;
    const size_t down = cut.addNode(), up = cut.addNode();
    cut.addEdge(producer, down, downNs(tensor));
    cut.addEdge(up, producer, upNs(tensor));
    for (const size_t reader : readers) {
      if (reader == producer) continue;
      cut.addEdge(down, reader, MinCut::kInfinity);
      cut.addEdge(reader, up, MinCut::kInfinity);
    }
  }

  bool canMain(size_t node) const { return mainNs_[node - 2] != kImpossible; }

  /// Nanoseconds of a run with the commands placed as in `onMain`. Nodes of commands follow the two ends in order.
  template <class OnMain>
  double estimate(const Readers& readers, const IndexedVector<TensorId, size_t>& producer, OnMain&& onMain) const {
    double sum = 0;
    for (size_t c = 0; c < graph_.commands.size(); ++c) sum += onMain(c + 2) ? mainNs_[c] : otherNs_[c];
    for (const TensorId t : readers.ids()) {
      bool up = false, down = false;
      for (const size_t reader : readers[t]) {
        up = up || (onMain(reader) && !onMain(producer[t]));
        down = down || (!onMain(reader) && onMain(producer[t]));
      }
      sum += (up ? upNs(t) : 0) + (down ? downNs(t) : 0);
    }
    return sum;
  }

  std::string reasonOf(size_t c) const {
    if (mainNs_[c] == kImpossible || otherNs_[c] == kImpossible) return "";
    return fmt::format("{} {}, {} {}", main_.backend->name(), formatNs(mainNs_[c]), other_.backend->name(),
                       formatNs(otherNs_[c]));
  }

  const Model& model_;
  const EncodedGraph& graph_;
  const SessionConfig& config_;
  BackendSet& backends_;
  TensorHomes homes_;
  Side main_, other_;
  std::vector<double> mainNs_, otherNs_;  // per command
  double submitNs_ = 0;                   // least of all measured ones
  CopyCosts copies_;
  CostPlan plan_;
};

}  // namespace

Result<CostPlan> placeByCost(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
                             BackendSet& backends) {
  return CostPlacer(model, graph, config, backends).place();
}

}  // namespace opkit
