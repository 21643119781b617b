// CaseCosts: how long `check` takes for a case, estimated before it runs.
//
// The estimate is linear in the size of the case, with rates of its operator on each backend: seconds of one core, on a
// software device. It is at most what was recorded for the operator. `op-harness costs` fits the rates to recorded
// results and finds the core: the cheapest groups of cases that together run every sub-check of every kernel, and,
// checked briefly, every kernel with every dtype. costs.tsv keeps both.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/op/op_def.h"
#include "harness/cases/case_file.h"

namespace opkit::harness {

/// The sizes that decide what a case costs.
struct CaseWork {
  static constexpr size_t kParts = 5;
  double cases = 1;
  double elements = 0;  // of all inputs and outputs, in millions
  double flops = 0;     // by the card, in billions
  double steps = 0;     // the longest extent, in ten thousands: recurrences and loops walk it

  double rows = 0;  // of the outputs, in ten thousands: kernels often give each a work group

  std::array<double, kParts> parts() const { return {cases, elements, flops, steps, rows}; }
};

/// Of a case whose shapes the card accepts; else of its inputs.
CaseWork workOf(const Case& c, const OpDef& def);

/// Of the id of the group's first case, whatever the seed of its data.
uint64_t hashOf(const CaseGroup& group);

/// Seconds per part of CaseWork.
using CostRates = std::array<double, CaseWork::kParts>;

/// Of an operator on a backend.
struct RecordedCost {
  CostRates rates{};
  double most = 0;  // seconds of the dearest case
};

class CaseCosts {
 public:
  /// Lines "operator backend cases elements flops steps rows most", separated by tabs, "*" for operators without a
  /// line; and lines "core hash" and "brief hash" with 16 hexadecimal digits. InvalidArgument names the first wrong
  /// line.
  static Result<CaseCosts> parse(const std::string& text);
  /// Of costs.tsv.
  static const CaseCosts& builtin();

  double seconds(const std::string& op, const CaseWork& work, const std::string& backend) const;
  /// True if the operator has rates of its own on some backend.
  bool knows(const std::string& op) const;
  /// By hashOf.
  bool isCore(uint64_t groupHash) const { return core_.contains(groupHash); }
  /// Of the core, but for what a brief check does.
  bool isBriefCore(uint64_t groupHash) const { return briefCore_.contains(groupHash); }

 private:
  std::map<std::pair<std::string, std::string>, RecordedCost> costs_;  // by operator and backend
  std::set<uint64_t> core_, briefCore_;
};

/// A recorded duration.
struct CostSample {
  CaseWork work;
  double seconds = 0;
};

/// Rates of at least 0 that fit the samples best; the error of a sample counts relative to its duration.
CostRates fitRates(const std::vector<CostSample>& samples);

/// What a group of cases brings at a price.
struct Offer {
  double seconds = 0;
  std::vector<size_t> brings;
};
/// Indices of offers that together bring everything that any of them brings, chosen greedily by what is new per second.
std::vector<size_t> cheapestCover(const std::vector<Offer>& offers);

}  // namespace opkit::harness
