// The page of one device, as Markdown: what was checked and measured on it, and kernels beside the estimates of their
// least time. Written by `op-report device`.
#pragma once

#include <string>
#include <vector>

#include "reports/results/reader.h"

namespace opkit::reports {

/// The estimate for the device itself (`op-harness shaders --access --gpu measured`) beside the time that `bench` took
/// there.
struct EstimatedTime {
  const CaseRecord* access = nullptr;
  const CaseRecord* bench = nullptr;
  double estimateNs = 0;
  double timeNs = 0;  // median by the device's clock, else the host's

  double ratio() const { return timeNs / estimateNs; }
};
/// Of each case that has both on one device; the largest ratio first.
std::vector<EstimatedTime> estimatedTimes(const Results& results);

/// One section for each Vulkan device of the results; empty if there is none.
std::string devicePages(const Results& results);

}  // namespace opkit::reports
