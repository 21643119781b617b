// Peer times: networks beside ONNX Runtime, as the last recorded run of reports/peers/onnxruntime.sh found them.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::reports {

struct PeerTime {
  std::string network, threads, theirs, ours;  // milliseconds; a network that was not timed has none
  double ratio = 0;                            // ours / theirs
  std::string dearestOurs, dearestTheirs;      // nodes; of a network that was not timed the first is the reason
};

struct PeerTimes {
  std::vector<std::string> about;  // date, commit, versions, processor
  std::vector<PeerTime> rows;

  /// "0.74 of ONNX Runtime's time at 1 thread (12 of 49 networks above 1), 0.70 at 2 (9 above)": geometric means.
  std::string summary() const;
};

/// Reads what onnxruntime.sh --record wrote (reports/schema.md). InvalidArgument names file and line.
Result<PeerTimes> readPeerTimes(const std::string& path);

}  // namespace opkit::reports
