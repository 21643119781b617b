// The output and the records of op-run about a run.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/runtime/session.h"
#include "engine/tools/device_peaks.h"
#include "engine/tools/trace.h"

namespace opkit {

/// One resize of the inputs and the runs that followed.
struct RunStep {
  std::vector<std::string> inputs;  // "x f32[1,3,224,224]"
  double resizeNs = 0;
  std::vector<double> runNs;
  std::vector<std::pair<std::string, Tensor>> outputs;  // copies
  std::vector<Placement> placement;
  SessionStatistics statistics;
  size_t measurements = 0;        // measurements of the session so far: for tuning and for placement by cost
  std::vector<TracedRun> traced;  // with --trace
};

void printDevice(const DeviceInfo& device);
/// One line per graph pass of the registry: its position and its changes in this model.
void printPasses(const Interpreter& interpreter);
void printStep(const RunStep& step);
/// One line per command: where it ran, and every refusal below it.
void printPlacement(const RunStep& step);
/// Per backend: the peak rates of its device.
using PeaksOf = std::map<std::string, DevicePeaks>;

/// One line per command, most expensive first: time (the device's, else the host's), share of the run, rates, share of
/// the device's peak; then totals per operator type.
void printProfile(const RunStep& step, const PeaksOf& peaks);

/// One line per backend: the plan's peak, the lower bound, and the parts of the peak.
void printMemory(const RunStep& step);

nlohmann::json deviceJson(const DeviceInfo& device);
/// With `peaks`, a command that was timed has its "peakShare".
nlohmann::json stepJson(const RunStep& step, const PeaksOf& peaks);
nlohmann::json peaksJson(const PeaksOf& peaks);

}  // namespace opkit
