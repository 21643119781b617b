#include "reports/time_history.h"

#include <algorithm>
#include <cmath>

#include "reports/history/store.h"

namespace opkit::reports {
namespace {

/// A device without its driver.
using Device = std::tuple<std::string, std::string, std::string>;

/// Series of one case on one device under successive drivers.
struct DeviceTimes {
  NightTimes times;
  std::vector<const Environment*> environments;  // by night, null for a night without a value
  uint32_t last = 0;                             // night with a value
};

void add(const Series& series, const std::vector<Environment>& environments, DeviceTimes& to) {
  to.times.metric = series.key.metric;
  for (const Point& point : series.points) {
    double& value = to.times.values[point.night];
    const double least = std::ranges::min(series.at(point));
    if (!(least >= value)) value = least;
    to.environments[point.night] = &environments[point.environment];
    to.last = std::max(to.last, point.night);
  }
}

/// "driver, host": names of facts that both know and that differ.
std::string movedBetween(const Environment& a, const Environment& b) {
  std::string names;
  const auto compare = [&](const char* name, const std::string& x, const std::string& y) {
    if (!x.empty() && !y.empty() && x != y) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  compare("driver", a.driver, b.driver);
  compare("compiler", a.compiler, b.compiler);
  compare("host", a.host, b.host);
  return names;
}

NightTimes withMoves(DeviceTimes device) {
  const Environment* before = nullptr;
  for (size_t night = 0; night < device.environments.size(); ++night) {
    const Environment* now = device.environments[night];
    if (!now) continue;
    if (std::string facts = before ? movedBetween(*before, *now) : ""; !facts.empty())
      device.times.moves.push_back({night, std::move(facts)});
    before = now;
  }
  return std::move(device.times);
}

}  // namespace

Result<TimeHistory> readTimeHistory(const std::string& path) {
  OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
  OPKIT_ASSIGN(const std::vector<Night> nights, store.nights());
  std::vector<Environment> environments;
  OPKIT_ASSIGN(const std::vector<Series> all,
               store.series({.kind = "bench", .metrics = {"executeDevice", "executeWall"}}, environments));
  TimeHistory history;
  for (const Night& night : nights) history.nights.push_back(night.name);
  for (const char* metric : {"executeDevice", "executeWall"}) {  // the device's clock first
    std::map<TimeHistory::Key, std::map<Device, DeviceTimes>> found;
    for (const Series& one : all) {
      const SeriesKey& key = one.key;
      if (key.metric != metric || !key.options.empty()) continue;
      DeviceTimes& device = found[{key.caseId, key.backend, key.provider}][{key.device, key.uuid, key.machine}];
      device.times.values.resize(nights.size(), NAN);
      device.environments.resize(nights.size(), nullptr);
      add(one, environments, device);
    }
    for (auto& [key, devices] : found) {
      const auto last = std::ranges::max_element(devices, {}, [](const auto& each) { return each.second.last; });
      history.times.try_emplace(key, withMoves(std::move(last->second)));
    }
  }
  return history;
}

}  // namespace opkit::reports
