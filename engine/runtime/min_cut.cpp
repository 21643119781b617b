#include "engine/runtime/min_cut.h"

#include <algorithm>

#include "engine/base/check.h"

namespace opkit {
namespace {

// Rounding must not keep a saturated edge open: weights are nanoseconds.
constexpr double kNothing = 1e-6;

}  // namespace

size_t MinCut::addNode() {
  first_.push_back(kNone);
  return first_.size() - 1;
}

void MinCut::addEdge(size_t from, size_t to, double weight) {
  OPKIT_CHECK(weight >= 0);
  edges_.push_back({to, weight, first_[from]});
  first_[from] = edges_.size() - 1;
  edges_.push_back({from, 0, first_[to]});
  first_[to] = edges_.size() - 1;
}

bool MinCut::findLevels() {
  level_.assign(first_.size(), kNone);
  std::vector<size_t> queue = {kSource};
  level_[kSource] = 0;
  for (size_t k = 0; k < queue.size(); ++k)
    for (size_t e = first_[queue[k]]; e != kNone; e = edges_[e].next) {
      if (edges_[e].left <= kNothing || level_[edges_[e].to] != kNone) continue;
      level_[edges_[e].to] = level_[queue[k]] + 1;
      queue.push_back(edges_[e].to);
    }
  return level_[kSink] != kNone;
}

/// Sends up to `flow` along one path of growing levels; what was sent.
double MinCut::push(size_t node, double flow) {
  if (node == kSink) return flow;
  for (size_t& e = current_[node]; e != kNone; e = edges_[e].next) {
    Edge& edge = edges_[e];
    if (edge.left <= kNothing || level_[edge.to] != level_[node] + 1) continue;
    const double sent = push(edge.to, std::min(flow, edge.left));
    if (sent <= 0) continue;
    edge.left -= sent;
    edges_[e ^ 1].left += sent;
    return sent;
  }
  return 0;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    current_ = first_;
    while (push(kSource, kInfinity) > 0) {
    }
  }
  std::vector<bool> side;
  for (const size_t level : level_) side.push_back(level != kNone);
  return side;
}

}  // namespace opkit
