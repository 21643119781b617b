// Planted: the changes that the demonstration hides in its nights, and where its reader finds them.
#pragma once

#include <span>
#include <string>

#include "reports/demo/demo_cases.h"
#include "reports/results/records.h"

namespace opkit::reports::demo {

enum class Change { SlowKernel, LostDigit, Driver, Flake, Mended, Killed, Vanished };
inline constexpr size_t kChangeCount = 7;

/// Nights are counted back from the newest: 0 is tonight.
struct Planted {
  Change change;
  const char* name;
  size_t first;         // night with the change
  const char* op;       // "": many
  const char* backend;  // "": all
  const char* planted;  // what was done
  const char* look;     // where the reader finds it
};

std::span<const Planted> planted();
const Planted& planted(Change change);

/// By what a time of the night is multiplied.
double timeFactor(const std::string& op, const std::string& backend, const std::string& figure, size_t ago);
/// "demonstration driver 24.1.3"
std::string vulkanDriver(size_t ago);
bool isKilled(size_t ago);
/// Whether the timed case is absent.
bool isGone(const std::string& op, const std::string& backend, size_t ago);
/// Changes the record of a check that passed: its errors, bits and status.
void plantInCheck(CaseRecord& record, size_t ago);

}  // namespace opkit::reports::demo
