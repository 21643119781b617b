// MinCut: splits the nodes of a weighted directed graph in two, so that the total weight of the edges from the first
// side to the second is minimal (max-flow min-cut; Dinic's algorithm). Plain data, used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace opkit {

class MinCut {
 public:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr size_t kSource = 0;  // always on the first side
  static constexpr size_t kSink = 1;    // always on the second

  MinCut() : first_(2, kNone) {}
  size_t addNode();
  /// Cost if `from` is on the first side and `to` on the second; at least 0, kInfinity forbids it. REQUIRES that some
  /// cut has a finite weight.
  void addEdge(size_t from, size_t to, double weight);
  /// Per node: true if it is on the first side. Must be the last call.
  std::vector<bool> solve();

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Edge {
    size_t to;
    double left;  // capacity that no flow uses yet
    size_t next;  // of the same node
  };
  bool findLevels();
  double push();

  std::vector<size_t> first_;  // per node: its first edge; an edge and its reverse are neighbours
  std::vector<Edge> edges_;
  std::vector<size_t> level_, current_;
};

}  // namespace opkit
