// RecordedMargins: the worst error of written cases, as a share of its bound, that each kernel had when it was
// recorded.
//
// `check` fails a case whose margin has grown by kMostGrowth, though it is within the bound: the sub-check `margin`.
// A line of margins.tsv stands for the cases of one operator, dtype, kernel and lane that differ in shapes alone; its
// columns are environments, since instruction sets and drivers round differently. `op-harness margins` records them.
// Nothing fails in an environment without a column.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "harness/run/results.h"

namespace opkit::harness {

/// A correct change of a kernel moves a few roundings: that doubles a margin at most. Losing two bits makes it four
/// times.
constexpr double kMostGrowth = 4;
/// Margins below count as this one. The bounds are those of the worst case, 10 to 50 roundings. Smaller margins come
/// from errors that happen to cancel; a harmless change of the kernel may end that.
constexpr double kLeastMargin = 0.02;

/// Why the sub-check did not run on a device that is not as it is.
inline constexpr const char* kNotWritten = "margins are recorded of written cases with their own data";
inline constexpr const char* kOtherDevice = "the device is masked, or taken for one of another class";

struct MarginKey {
  std::string op, dtype, lane, kernel;  // "opkit/vector"
  std::string entry;                    // 6 hexadecimal digits: parameters, constants, data

  auto operator<=>(const MarginKey&) const = default;
};

/// "cpu/AVX3" (instruction set), "vulkan/llvmpipe-22" (driver and major version of a software device),
/// "vulkan/NAME OF THE DEVICE (radv-25)". A driver without a readable version stands with its whole text, see
/// driverSeriesOf(). Without any text of a driver the device's name alone is left.
std::string marginEnvironment(const DeviceInfo& device);

/// Nullopt for cases that are not compared with the record: drawn ones, other seeds, and specials.
std::optional<MarginKey> marginKeyOf(const Case& c, const std::string& dtype, const std::string& provider,
                                     const std::string& kernel);
/// The same for a result; nullopt too if the sub-check `margin` took the case for none of these.
std::optional<MarginKey> marginKeyOf(const CaseRecord& record);

/// "Exp f32 normal opkit/vector 012345"
std::string nameOf(const MarginKey& key);

/// False for results without errors: integers, classes Exact and Cast, and the lane `exact` of classes that have it.
bool hasMargin(const OpDef& def, Lane lane, const std::string& dtype);

/// True if the sub-check `margin` of a case ran, or lacked a record alone, and no other sub-check failed before it.
bool isMeasured(const CaseRecord& record);
/// True if the device was not as it is, so that `margin` did not run.
bool isMasked(const CaseRecord& record);
/// True if `margin` did not run because the record has no figures of the case's environment.
bool isOfNewEnvironment(const CaseRecord& record);

class RecordedMargins {
 public:
  /// The text of margins.tsv: a line with the names of columns, then fields separated by tabs; "-" where nothing was
  /// recorded. InvalidArgument names the first wrong line.
  static Result<RecordedMargins> parse(const std::string& text);
  static const RecordedMargins& builtin();

  std::optional<double> find(const MarginKey& key, const std::string& environment) const;
  /// True if there is a figure of any operator.
  bool knows(const std::string& environment) const;
  /// Keeps the larger one.
  void raise(const MarginKey& key, const std::string& environment, double margin);
  using Scopes = std::set<std::pair<std::string, std::string>>;  // operator and environment
  /// Takes all figures of these operators in these environments from `other`.
  void replaceBy(const RecordedMargins& other, const Scopes& renewed);
  /// Lines "Exp f32 normal opkit/vector 012345 cpu/AVX3: 0.08 -> 0.3" where a margin became another; "none" stands for
  /// no figure.
  std::vector<std::string> changesTo(const RecordedMargins& other) const;
  /// The rows of an operator in an environment that are not in `met`.
  std::vector<MarginKey> unmet(const std::string& op, const std::string& environment,
                               const std::set<MarginKey>& met) const;
  /// Without margins of 1/4 and more: what grows from there by kMostGrowth is outside the bound.
  std::string text() const;
  bool empty() const { return margins_.empty(); }

 private:
  std::set<std::string> environments() const;
  std::map<MarginKey, std::map<std::string, double>> margins_;
};

/// The record in a file. InvalidArgument names file and line.
Result<RecordedMargins> readMargins(const std::string& file);

/// The sub-check `margin` of a case that ran on the device; Unsupported if there is no record, which is no fault.
Status checkMargin(const RecordedMargins& recorded, const DeviceInfo& device, const OpDef& def, const Case& c,
                   const CaseResult& result);

}  // namespace opkit::harness
