// What op-run prints and records about a run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/runtime/session.h"
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
  std::vector<TracedRun> traced;  // with --trace
};

void printDevice(const DeviceInfo& device);
/// One line per graph pass of the registry: its position, and what it changed in this model.
void printPasses(const Interpreter& interpreter);
void printStep(const RunStep& step);
/// One line per command: where it ran, and every refusal below it.
void printPlacement(const RunStep& step);
/// One line per command, most expensive first: time (the device's, else the host's), share, rates; then totals per
/// operator type.
void printProfile(const RunStep& step);

/// One line per backend: the plan's peak beside the lower bound, and what it is made of.
void printMemory(const RunStep& step);

nlohmann::json deviceJson(const DeviceInfo& device);
nlohmann::json stepJson(const RunStep& step);

}  // namespace opkit
