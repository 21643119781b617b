// Time history: the times of every timed case over the nights of a history.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/status.h"

namespace opkit::reports {

/// The times of one case, one place per night of the history, oldest first.
struct NightTimes {
  struct Move {
    size_t night = 0;   // the first one in the new environment
    std::string facts;  // "driver, compiler, host"
  };

  std::string metric;          // "executeDevice" or "executeWall"
  std::vector<double> values;  // least time of the night's process runs in ns; NaN for a night without one
  std::vector<Move> moves;     // where the environment changed, oldest first
};

struct TimeHistory {
  using Key = std::tuple<std::string, std::string, std::string>;  // case, backend, provider
  std::vector<std::string> nights;                                // names, oldest first
  std::map<Key, NightTimes> times;
};

/// By the device's clock, else the host's; without options that change the device. Successive drivers of a device are
/// one line; of several devices the one measured last counts. Errors are those of Store::open.
Result<TimeHistory> readTimeHistory(const std::string& path);

}  // namespace opkit::reports
