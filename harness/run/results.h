// Results: the result of one case, layer or measurement, and its record. The schema is reports/schema.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/tensor/tensor.h"
#include "harness/compare/compare.h"
#include "reports/results/writer.h"

namespace opkit::harness {

using reports::CaseRecord;
using reports::CaseStatus;
using reports::isExecuted;
using reports::isFailure;
using reports::statusFromName;

/// One named part of a check.
struct SubCheck {
  std::string name;
  bool ok = true;
  std::string message;  // why not
};

/// A sub-check that a case left out.
struct NotRun {
  std::string name;
  std::string reason;
};

/// Samples in nanoseconds and their robust summary.
struct Timing {
  std::vector<double> samples;
  std::vector<double> cpuSamples;  // of the whole process, per sample; empty if not measured

  double min() const;
  double median() const;
  /// Median absolute deviation from the median.
  double mad() const;
};

/// A node that ran on another backend than asked.
struct FallbackNote {
  std::string node;
  std::string op;
  std::string reason;
  bool byDevice = false;  // see Status::unsupportedByDevice; needs no declaration
};

/// One tensor of a model, compared between two backends.
struct LayerResult {
  std::string tensor;
  std::string op;
  Comparison comparison;
  bool departs = false;
};

struct CaseResult {
  std::string kind;  // "check", "bench", "roof", "access", "conformance", "model"
  std::string id;
  std::string name;  // of the entry in the case file
  std::string op;
  std::string dtype;  // of the first input
  std::string backend;
  std::string device;
  bool software = false;
  std::string provider;                  // of the kernel that ran; "raster" or "folded" if there was none
  std::string kernel;                    // its name within the provider, if it has one
  std::set<std::string> variantKernels;  // of the operator that ran in other device classes: "opkit/image"
  CaseStatus status = CaseStatus::Pass;
  std::string reason;                   // why not pass
  std::string note;                     // notes about a pass
  std::vector<std::string> departures;  // declared and observed: providers whose result is outside the bound
  std::vector<SubCheck> subChecks;
  std::vector<NotRun> notRun;
  size_t furtherStops = 0;  // of these, variations that are no cases
  size_t stops = 0;         // shapes that the walk of the case's group visited; 0 for the other cases of the group
  int64_t elements = 0;     // of its largest tensor
  size_t rank = 0;          // of the tensor of the highest rank
  int64_t batch = 0;        // the product of all extents of the first input but its last two, if it has more than two
  std::optional<Comparison> accuracy;
  Shape worstShape;           // of the output that holds accuracy->worst
  std::string diagnosisKind;  // see harness/compare/diagnose.h; empty if nothing is wrong
  std::string diagnosis;
  std::string map;  // of the errors, lines separated by newlines
  double flops = 0;
  double bytes = 0;
  double roofline = 0;  // share of the device's peak; 0 if unknown
  std::string roof;     // of kind "roof": the rate that binds, "flops" or "bytes"
  size_t threads = 0;   // of kind "roof"
  uint64_t dispatches = 0;
  double durationNs = 0;
  std::vector<std::pair<std::string, Timing>> times;  // create, resizeCold, resizeWarm, executeWall, executeDevice
  std::vector<FallbackNote> fallbacks;
  std::vector<LayerResult> layers;
  std::string digest;                             // of the bits of all outputs, as in digestOf()
  std::string shader;                             // of all shaders that it used, as in ShaderLog::hash()
  size_t shaderBytes = 0;                         // of their SPIR-V
  std::optional<size_t> arenaBytes, allocations;  // planned for the tensors; buffers of the Session's first run
  std::string repro;                              // the command line that repeats the case
  std::optional<reports::AccessRecord> access;    // of kind "access"

  /// Appends a sub-check; a failed one sets the status to `Fail` and the reason to its message, unless there is one.
  void check(const std::string& checkName, const Status& verdict);
  /// Notes why a sub-check cannot run.
  void skip(const std::string& checkName, const std::string& why) { notRun.push_back({checkName, why}); }
  /// True if that sub-check ran and failed.
  bool failed(std::string_view checkName) const;
};

CaseRecord toRecord(const CaseResult& result);

/// 16 hexadecimal digits: a hash of types, shapes and bits of all tensors.
std::string digestOf(const std::vector<Tensor>& outputs);

/// The planned number of lines of cases or mutants of a run, by backend.
using RunPlan = reports::Counts;

/// The results file of this program; does nothing without a path. The first failed write is kept in status(); writers
/// check it and stop.
class ResultFile {
 public:
  /// Opens for appending and writes the run line. InvalidArgument names a path that cannot be written.
  Status open(const std::string& path, const std::string& command, uint64_t seed, const RunPlan& planned);
  /// Adds to the plan of the run line; for a run that learns its size later.
  void plan(const RunPlan& more);
  /// `profile` is JSON text (harness/probes/device_profile.h); empty if there is none.
  void write(const DeviceInfo& device, const std::string& profile = "",
             const std::optional<reports::CalibrationRecord>& calibration = std::nullopt,
             const std::optional<reports::DeviceRoofRecord>& roof = std::nullopt);
  /// A device that another process measured.
  void write(const reports::DeviceRecord& record) { writer_.write(record); }
  void write(const CaseResult& result);
  /// A case that another process ran.
  void write(const CaseRecord& record) { writer_.write(record); }
  void write(const reports::MutantRecord& record) { writer_.write(record); }
  /// Further fields of the closing line.
  reports::SummaryRecord& summary() { return writer_.summary(); }
  /// Writes the closing line: counts of all lines and whether an interrupt ended the run. Without it a reader knows
  /// that the run is incomplete. Returns status().
  Status close();
  /// OK, or the reason why a line could not be written; nothing is written after that.
  const Status& status() const { return writer_.status(); }

 private:
  reports::ResultWriter writer_;
};

}  // namespace opkit::harness
