// Expectations: which cases are known to fail, to flake or to be left out on a device (reports/expectations/README.md).
//
// A folder holds up to three files per device, `vulkan-llvmpipe.fails`, `.flakes` and `.skips`, and per backend,
// `vulkan.fails`. One line is one expectation. Used by one thread; workers read it after the fork.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "harness/run/driver_range.h"
#include "harness/run/results.h"

namespace opkit::harness {

enum class ExpectationKind { Fail, Flake, Skip };
inline constexpr std::array<const char*, 3> kExpectationEndings = {"fails", "flakes", "skips"};

/// One line: `[KIND ]PATTERN | [driver RANGE | ]REASON`.
struct Expectation {
  std::string caseKind = "check";      // or "conformance"
  std::string pattern;                 // of case ids; * stands for any characters
  std::optional<DriverRange> drivers;  // every driver without it
  std::string reason;
  ExpectationKind kind = ExpectationKind::Fail;
  std::string path, file;  // of the file, and its name
  size_t line = 0;

  bool matches(const std::string& kindOfCase, const std::string& id) const;
  /// "vulkan-llvmpipe.fails:12"
  std::string where() const;
  /// The line without its reason, by which the lines of a file are ordered.
  std::string key() const;
};

/// Nothing for a blank line and for a comment. InvalidArgument says what is wrong.
Result<std::optional<Expectation>> parseExpectation(const std::string& text);

/// "vulkan-llvmpipe" of llvmpipe (LLVM 15.0.6, 256 bits): backend and name in small letters and digits with hyphens
/// between, without (R), (TM) and parentheses that hold a version.
std::string fileNameOf(const DeviceInfo& device);

/// The lines of one file. InvalidArgument begins with `PATH:LINE: `.
Result<std::vector<Expectation>> parseExpectations(const std::string& path, const std::string& text);

class Expectations {
 public:
  /// Expects nothing.
  Expectations() = default;
  /// Reads the whole folder, so that a wrong line is found on any device, and keeps the lines for these devices and
  /// the versions of their drivers. InvalidArgument is one line with file and line. `backends`: names of all backends.
  static Result<Expectations> read(const std::string& folder, const std::vector<DeviceInfo>& devices,
                                   const std::vector<std::string>& backends);

  /// "expectations: DIR/vulkan-llvmpipe.fails: 3 lines for this driver" for each file that was read for the devices,
  /// and the devices without one.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The line by which the case is left out; null if none.
  const Expectation* skipOf(const std::string& kind, const std::string& id, const std::string& backend) const;

  /// Sets status and expectation of a result that a line names, and counts what the line met. `partial`: other cases of
  /// its group crashed, so that a pass is no news.
  void judge(CaseRecord& record, bool partial = false);

  /// One line per `fails` line some of whose cases passed, with the place of the line and what to do.
  std::vector<std::string> unexpectedPasses() const;
  /// One record per line for cases of `kind` that met none, for a run of all cases.
  std::vector<CaseRecord> staleLines(const std::string& kind) const;

 private:
  struct Known {
    Expectation line;
    std::string backend;
    size_t met = 0, failed = 0, passed = 0;  // cases
    std::string passedId = "";               // the first one
  };
  Result<size_t> keep(const std::vector<Expectation>& lines, const DeviceInfo& device);
  Known* find(ExpectationKind kind, const CaseRecord& record);

  std::vector<Known> known_;
  std::vector<std::string> notes_;
};

}  // namespace opkit::harness
