// Demo cases: the cases of the demonstration: real operators and ids, with invented figures of a quiet night.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace opkit::reports::demo {

struct DemoCase {
  const char* op;
  const char* params;       // "" or compact JSON
  const char* checkInputs;  // of the case that is checked
  const char* timedInputs;  // of the case that is timed
  const char* rest;         // of both ids, behind the inputs
  const char* cpuKernel;
  double kflops, kbytes;   // of one execution of the timed case: thousands
  double cpuUs, vulkanUs;  // executeWall
  double margin, maxUlp;

  std::string checkedId() const;
  /// The n-th of the cases that differ in the seed of their data; 0 is the case itself.
  std::string timedId(size_t n = 0) const;
};

std::span<const DemoCase> demoCases();

}  // namespace opkit::reports::demo
