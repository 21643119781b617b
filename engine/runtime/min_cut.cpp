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

/// Sends the possible flow along one path of growing levels; returns it. Not recursive: a path may be as long as the
/// model.
double MinCut::push() {
  std::vector<size_t> path;  // edges
  for (size_t node = kSource; node != kSink;) {
    size_t& e = current_[node];
    while (e != kNone && (edges_[e].left <= kNothing || level_[edges_[e].to] != level_[node] + 1)) e = edges_[e].next;
    if (e != kNone) {
      path.push_back(e);
      node = edges_[e].to;
      continue;
    }
    if (path.empty()) return 0;
    node = edges_[path.back() ^ 1].to;  // a dead end: back, and on to the next edge
    current_[node] = edges_[path.back()].next;
    path.pop_back();
  }
  double flow = kInfinity;
  for (const size_t e : path) flow = std::min(flow, edges_[e].left);
  for (const size_t e : path) {
    edges_[e].left -= flow;
    edges_[e ^ 1].left += flow;
  }
  return flow;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    current_ = first_;
    while (push() > 0) {
    }
  }
  std::vector<bool> side;
  for (const size_t level : level_) side.push_back(level != kNone);
  return side;
}

}  // namespace opkit
