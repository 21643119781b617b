#include "engine/tools/trace.h"

#include <algorithm>

namespace opkit {
namespace {

using Json = nlohmann::json;

constexpr int kRunTrack = 0;  // tracks are "threads" of the format

/// "cpu" or "vulkan (device)": the name of one track.
std::string trackOf(const Placement& row) { return row.deviceNs >= 0 ? row.backend + " (device)" : row.backend; }

Json eventOf(const Placement& row, int track, double startNs, double durationNs) {
  return {{"name", row.type},
          {"cat", row.raster ? "raster" : "operator"},
          {"ph", "X"},
          {"pid", 1},
          {"tid", track},
          {"ts", startNs / 1000},
          {"dur", durationNs / 1000},
          {"args",
           {{"node", row.node},
            {"backend", row.backend},
            {"provider", row.provider},
            {"outputs", row.outputs},
            {"flops", row.flops},
            {"bytesRead", row.bytesRead},
            {"bytesWritten", row.bytesWritten}}}};
}

Json trackName(int track, const std::string& name) {
  return {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", track}, {"args", {{"name", name}}}};
}

}  // namespace

Json chromeTrace(const std::vector<TracedRun>& runs) {
  Json events = Json::array({trackName(kRunTrack, "runs")});
  std::map<std::string, int> tracks;
  double runStart = 0;
  for (const TracedRun& run : runs) {
    double deviceEnd = runStart, end = runStart + run.durationNs;
    for (const Placement& row : run.placement) {
      const auto [track, isNew] = tracks.try_emplace(trackOf(row), static_cast<int>(tracks.size()) + 1);
      if (isNew) events.push_back(trackName(track->second, track->first));
      const bool onDevice = row.deviceNs >= 0;
      const double start = onDevice ? deviceEnd : runStart + std::max(row.hostStartNs, 0.0);
      const double duration = std::max(onDevice ? row.deviceNs : row.hostNs, 0.0);
      if (onDevice) deviceEnd = start + duration;
      end = std::max(end, start + duration);
      events.push_back(eventOf(row, track->second, start, duration));
    }
    events.push_back({{"name", "run"},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", kRunTrack},
                      {"ts", runStart / 1000},
                      {"dur", (end - runStart) / 1000}});
    runStart = end;
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace opkit
