// Records: the lines of a results file, one struct per kind of line (reports/schema.md).
//
// Workers, op-harness and op-report use these structs only; JSON is made and read in one place (record_json.h). Each
// struct describes its fields once, for writing, reading and the test of the schema page. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opkit::reports {

inline constexpr int kSchema = 3;        // that is written
inline constexpr int kOldestSchema = 1;  // that is read

/// RunRecord::tool of runs that measured nothing: their figures were drawn.
inline constexpr const char* kDemonstrationTool = "op-report demo";

/// Whether a line must have a field.
enum class Presence {
  Required,  // a line without it is refused
  Always,    // written always; a reader takes the default if it is absent
  Optional,  // written if it is not empty and not zero
};

/// Unproved: the kernel is the oracle, so that nothing was compared; declared in the case file. In conformance: nobody
/// can reproduce the expected values (harness/conformance/declared.txt). Expected, Flake: a failure that an
/// expectation file names (harness/run/expectations.h). Unexpected: a pass that such a file calls a failure, or a line
/// of it that matches no case. Of other engines (harness/guest): Refused: the provider claimed the case and gave an
/// error; Unstable: runs gave other answers; Leak: memory grows with each run.
enum class CaseStatus {
  Pass,
  Fail,
  Crash,
  Hang,
  Unsupported,
  Skip,
  Fallback,
  Mistrusted,
  Unproved,
  Expected,
  Flake,
  Unexpected,
  Refused,
  Unstable,
  Leak
};
inline constexpr size_t kStatusCount = 15;

const char* nameOf(CaseStatus status);
/// "xfail", which older programs wrote, is a pass.
std::optional<CaseStatus> statusFromName(std::string_view name);
/// True if the status makes a run fail.
bool isFailure(CaseStatus status);
/// True if a kernel ran and was compared: unsupported, skipped and unproved cases do not count as executed.
bool isExecuted(CaseStatus status);

/// A document that this library passes on without reading it.
struct JsonText {
  std::string text;
};

using Counts = std::map<std::string, size_t>;

/// Once per invocation, first.
struct RunRecord {
  static constexpr const char* kName = "run";
  std::string run;  // 16 hexadecimal digits
  int schema = kSchema;
  std::string tool, version, command;
  std::optional<Counts> planned;  // lines of cases or mutants, by backend
  std::string started;            // UTC, 2026-01-31T12:00:00Z
  std::string commit;
  bool dirty = false;
  std::string compiler, build, host, os, cpu;
  size_t cores = 0;
  uint64_t seed = 0;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("schema", self.schema, Presence::Required);
    visit("tool", self.tool, Presence::Always);
    visit("version", self.version, Presence::Always);
    visit("command", self.command, Presence::Always);
    visit("planned", self.planned, Presence::Optional);
    visit("started", self.started, Presence::Always);
    visit("commit", self.commit, Presence::Always);
    visit("dirty", self.dirty, Presence::Always);
    visit("compiler", self.compiler, Presence::Always);
    visit("build", self.build, Presence::Always);
    visit("host", self.host, Presence::Always);
    visit("os", self.os, Presence::Always);
    visit("cpu", self.cpu, Presence::Always);
    visit("cores", self.cores, Presence::Always);
    visit("seed", self.seed, Presence::Always);
  }
};

/// More lines of a run, or the number of runs of a file.
struct PlanRecord {
  static constexpr const char* kName = "plan";
  std::string run;
  std::optional<Counts> planned;
  std::optional<size_t> runs;
  std::string night;  // of the runs that begin below the line
  std::string shard;  // "2/3" if the file is the second of three parts of the night

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("planned", self.planned, Presence::Optional);
    visit("runs", self.runs, Presence::Optional);
    visit("night", self.night, Presence::Optional);
    visit("shard", self.shard, Presence::Optional);
  }
};

/// Speeds of plain loops at the beginning of a run that measures: how fast the machine and the device are today.
struct CalibrationRecord {
  double loopNs = 0;          // of a fixed loop of multiply-adds on one thread
  double copyBytesPerNs = 0;  // of a copy that exceeds the caches, read and written bytes, on one thread
  double flopsPerNs = 0;      // best rate of the device's kernels; 0 if not measured
  double bytesPerNs = 0;      // of the device's memory; 0 if not measured

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("loopNs", self.loopNs, Presence::Always);
    visit("copyBytesPerNs", self.copyBytesPerNs, Presence::Always);
    visit("flopsPerNs", self.flopsPerNs, Presence::Optional);
    visit("bytesPerNs", self.bytesPerNs, Presence::Optional);
  }
};

/// Rates of plain shaders on a Vulkan device (harness/probes/device_roof.h).
struct DeviceRoofRecord {
  double flopsPerNs = 0;       // multiply-adds from registers
  double bytesPerNs = 0;       // a copy from memory, read and written bytes
  double cacheBytesPerNs = 0;  // the fastest copy
  double launchNs = 0;         // a dispatch of one work group
  double clockRatio = 0;       // device time / host time of a long dispatch; 0 if the device has no clock

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("flopsPerNs", self.flopsPerNs, Presence::Always);
    visit("bytesPerNs", self.bytesPerNs, Presence::Always);
    visit("cacheBytesPerNs", self.cacheBytesPerNs, Presence::Always);
    visit("launchNs", self.launchNs, Presence::Always);
    visit("clockRatio", self.clockRatio, Presence::Optional);
  }
};

/// Once per backend of a run.
struct DeviceRecord {
  static constexpr const char* kName = "device";
  std::string run;
  std::string backend, name, driver, uuid;
  bool software = false;
  JsonText profile;  // harness/probes/device_profile.h
  std::optional<CalibrationRecord> calibration;
  std::optional<DeviceRoofRecord> roof;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("backend", self.backend, Presence::Required);
    visit("name", self.name, Presence::Always);
    visit("driver", self.driver, Presence::Always);
    visit("uuid", self.uuid, Presence::Always);
    visit("software", self.software, Presence::Always);
    visit("profile", self.profile, Presence::Optional);
    visit("calibration", self.calibration, Presence::Optional);
    visit("roof", self.roof, Presence::Optional);
  }
};

/// The errors of a case's outputs.
struct AccuracyRecord {
  int64_t elements = 0, failed = 0;
  double maxAbs = 0, maxRel = 0, maxUlp = 0, nmse = 0, margin = 0, tolerance = 0;
  int64_t nan = 0, nanExpected = 0, inf = 0, infExpected = 0;
  std::optional<int64_t> worstIndex;
  std::string worst;
  std::optional<double> expected, got;
  std::map<std::string, int64_t> ulps;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("elements", self.elements, Presence::Always);
    visit("failed", self.failed, Presence::Optional);
    visit("maxAbs", self.maxAbs, Presence::Optional);
    visit("maxRel", self.maxRel, Presence::Optional);
    visit("maxUlp", self.maxUlp, Presence::Optional);
    visit("nmse", self.nmse, Presence::Optional);
    visit("margin", self.margin, Presence::Always);
    visit("tolerance", self.tolerance, Presence::Optional);
    visit("nan", self.nan, Presence::Optional);
    visit("nanExpected", self.nanExpected, Presence::Optional);
    visit("inf", self.inf, Presence::Optional);
    visit("infExpected", self.infExpected, Presence::Optional);
    visit("worstIndex", self.worstIndex, Presence::Optional);
    visit("worst", self.worst, Presence::Optional);
    visit("expected", self.expected, Presence::Optional);
    visit("got", self.got, Presence::Optional);
    visit("ulps", self.ulps, Presence::Optional);
  }
};

/// Nanoseconds of one figure.
struct TimeRecord {
  double min = 0, median = 0, mad = 0;
  std::vector<double> samples;
  std::optional<double> cpu;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("min", self.min, Presence::Always);
    visit("median", self.median, Presence::Always);
    visit("mad", self.mad, Presence::Always);
    visit("samples", self.samples, Presence::Always);
    visit("cpu", self.cpu, Presence::Optional);
  }
};

struct CaseSize {
  int64_t elements = 0;
  size_t rank = 0;
  int64_t batch = 0;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("elements", self.elements, Presence::Always);
    visit("rank", self.rank, Presence::Always);
    visit("batch", self.batch, Presence::Always);
  }
};

struct DiagnosisRecord {
  std::string kind, text;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("kind", self.kind, Presence::Always);
    visit("text", self.text, Presence::Always);
  }
};

struct FallbackRecord {
  std::string node, op, reason;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("node", self.node, Presence::Always);
    visit("op", self.op, Presence::Always);
    visit("reason", self.reason, Presence::Always);
  }
};

struct LayerRecord {
  std::string tensor, op;
  double maxAbs = 0, maxUlp = 0, nmse = 0, margin = 0;
  CaseStatus status = CaseStatus::Pass;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("tensor", self.tensor, Presence::Always);
    visit("op", self.op, Presence::Always);
    visit("maxAbs", self.maxAbs, Presence::Always);
    visit("maxUlp", self.maxUlp, Presence::Always);
    visit("nmse", self.nmse, Presence::Always);
    visit("margin", self.margin, Presence::Always);
    visit("status", self.status, Presence::Always);
  }
};

/// The line of an expectation file that applies to a case.
struct ExpectationRecord {
  std::string line;                      // "vulkan-llvmpipe.fails:12"
  std::string reason;                    // of the line
  CaseStatus status = CaseStatus::Pass;  // of the case without the line

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("line", self.line, Presence::Always);
    visit("reason", self.reason, Presence::Always);
    visit("status", self.status, Presence::Always);
  }
};

/// What the kernels of a case ask of a GPU's memory, by a trace (harness/trace/case_access.h).
struct AccessRecord {
  size_t width = 0;  // of the modelled subgroups
  double efficiency = 0, requestBytes = 0, requests = 0, footprintBytes = 0, bankPasses = 0, lanes = 0;
  uint64_t groups = 0;  // of the dispatch with the most requests
  bool exact = false;
  std::map<std::string, double> estimateNs;   // by GPU
  std::map<std::string, std::string> limits;  // by GPU

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("width", self.width, Presence::Always);
    visit("efficiency", self.efficiency, Presence::Always);
    visit("requestBytes", self.requestBytes, Presence::Always);
    visit("requests", self.requests, Presence::Always);
    visit("footprintBytes", self.footprintBytes, Presence::Always);
    visit("bankPasses", self.bankPasses, Presence::Always);
    visit("lanes", self.lanes, Presence::Always);
    visit("groups", self.groups, Presence::Always);
    visit("exact", self.exact, Presence::Always);
    visit("estimateNs", self.estimateNs, Presence::Always);
    visit("limits", self.limits, Presence::Always);
  }
};

/// Fields that several case lines of a run share (common.h): before the first of them.
struct CommonRecord {
  static constexpr const char* kName = "common";
  std::string run;
  size_t common = 0;  // from 1 on
  std::string device, provider, kernel;
  std::vector<std::string> checks;
  std::map<std::string, std::string> notRun;
  std::string repro;  // `{id}` stands for the id of the case, quoted for a shell

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("common", self.common, Presence::Required);
    visit("device", self.device, Presence::Optional);
    visit("provider", self.provider, Presence::Optional);
    visit("kernel", self.kernel, Presence::Optional);
    visit("checks", self.checks, Presence::Optional);
    visit("notRun", self.notRun, Presence::Optional);
    visit("repro", self.repro, Presence::Optional);
  }
};

/// Once per case and backend.
struct CaseRecord {
  static constexpr const char* kName = "case";
  std::string run;
  size_t common = 0;  // of the CommonRecord that completes the line; 0 if the line is whole
  std::string kind, id, op, backend;
  CaseStatus status = CaseStatus::Pass;
  double durationNs = 0;
  std::string name, dtype, device, provider, kernel, reason, note, opinion;
  std::vector<std::string> departures, checks;
  std::string failedCheck;
  std::map<std::string, std::string> notRun;
  size_t stops = 0, furtherStops = 0;
  std::optional<CaseSize> size;
  std::optional<DiagnosisRecord> diagnosis;
  std::string map;
  std::optional<AccuracyRecord> accuracy;
  uint64_t dispatches = 0;
  std::vector<FallbackRecord> fallbacks;
  std::map<std::string, TimeRecord> times;
  double roofline = 0;
  size_t threads = 0;
  std::string roof;
  std::optional<double> flops, bytes;
  std::optional<bool> software;
  std::vector<LayerRecord> layers;
  std::string digest;  // 16 hexadecimal digits: a hash of the bits of all outputs
  std::string shader;  // 16 hexadecimal digits: a hash of the SPIR-V of all shaders that it used
  size_t shaderBytes = 0;
  std::optional<size_t> arenaBytes, allocations;
  std::string repro;
  std::optional<CaseStatus> rerun;  // of a failure that ran again in a fresh worker; `status` is the first result
  std::optional<ExpectationRecord> expectation;
  std::optional<AccessRecord> access;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("common", self.common, Presence::Optional);
    visit("kind", self.kind, Presence::Required);
    visit("id", self.id, Presence::Required);
    visit("op", self.op, Presence::Always);
    visit("backend", self.backend, Presence::Required);
    visit("status", self.status, Presence::Required);
    visit("durationNs", self.durationNs, Presence::Always);
    visit("name", self.name, Presence::Optional);
    visit("dtype", self.dtype, Presence::Optional);
    visit("device", self.device, Presence::Optional);
    visit("provider", self.provider, Presence::Optional);
    visit("kernel", self.kernel, Presence::Optional);
    visit("reason", self.reason, Presence::Optional);
    visit("note", self.note, Presence::Optional);
    visit("opinion", self.opinion, Presence::Optional);
    visit("departures", self.departures, Presence::Optional);
    visit("checks", self.checks, Presence::Optional);
    visit("failedCheck", self.failedCheck, Presence::Optional);
    visit("notRun", self.notRun, Presence::Optional);
    visit("stops", self.stops, Presence::Optional);
    visit("furtherStops", self.furtherStops, Presence::Optional);
    visit("size", self.size, Presence::Optional);
    visit("diagnosis", self.diagnosis, Presence::Optional);
    visit("map", self.map, Presence::Optional);
    visit("accuracy", self.accuracy, Presence::Optional);
    visit("dispatches", self.dispatches, Presence::Optional);
    visit("fallbacks", self.fallbacks, Presence::Optional);
    visit("times", self.times, Presence::Optional);
    visit("roofline", self.roofline, Presence::Optional);
    visit("threads", self.threads, Presence::Optional);
    visit("roof", self.roof, Presence::Optional);
    visit("flops", self.flops, Presence::Optional);
    visit("bytes", self.bytes, Presence::Optional);
    visit("software", self.software, Presence::Optional);
    visit("layers", self.layers, Presence::Optional);
    visit("digest", self.digest, Presence::Optional);
    visit("shader", self.shader, Presence::Optional);
    visit("shaderBytes", self.shaderBytes, Presence::Optional);
    visit("arenaBytes", self.arenaBytes, Presence::Optional);
    visit("allocations", self.allocations, Presence::Optional);
    visit("repro", self.repro, Presence::Optional);
    visit("rerun", self.rerun, Presence::Optional);
    visit("expectation", self.expectation, Presence::Optional);
    visit("access", self.access, Presence::Optional);
  }
};

/// Once per mutant of `mutate`.
struct MutantRecord {
  static constexpr const char* kName = "mutant";
  std::string run;
  std::string subject, backend, where, before, after, fate, by;
  bool wrongMark = false;
  std::string repro;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("subject", self.subject, Presence::Required);
    visit("backend", self.backend, Presence::Required);
    visit("where", self.where, Presence::Always);
    visit("before", self.before, Presence::Always);
    visit("after", self.after, Presence::Always);
    visit("fate", self.fate, Presence::Required);
    visit("by", self.by, Presence::Always);
    visit("wrongMark", self.wrongMark, Presence::Optional);
    visit("repro", self.repro, Presence::Optional);
  }
};

struct ReachRecord {
  size_t cases = 0, over65536Elements = 0, rank5 = 0, batch5 = 0, stops = 0, furtherStops = 0;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("cases", self.cases, Presence::Always);
    visit("over65536Elements", self.over65536Elements, Presence::Always);
    visit("rank5", self.rank5, Presence::Always);
    visit("batch5", self.batch5, Presence::Always);
    visit("stops", self.stops, Presence::Always);
    visit("furtherStops", self.furtherStops, Presence::Always);
  }
};

struct SubCheckTotal {
  size_t ran = 0, notRun = 0;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("ran", self.ran, Presence::Always);
    visit("notRun", self.notRun, Presence::Always);
  }
};

/// Mutants of one backend, and the share of killed ones among those that count.
struct MutationRecord {
  size_t killed = 0, survived = 0, equivalent = 0, invalid = 0;
  double score = 0;

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("killed", self.killed, Presence::Always);
    visit("survived", self.survived, Presence::Always);
    visit("equivalent", self.equivalent, Presence::Always);
    visit("invalid", self.invalid, Presence::Always);
    visit("score", self.score, Presence::Always);
  }
};

/// The end of a run.
struct SummaryRecord {
  static constexpr const char* kName = "summary";
  std::string run;
  std::string outcome;  // "complete" or "interrupted"; older programs did not say
  std::string ended;
  std::string part;  // of a whole that the run did, in words; empty if all
  size_t lines = 0, executed = 0;
  std::array<size_t, kStatusCount> byStatus{};
  size_t killed = 0, survived = 0, equivalent = 0, invalid = 0;  // mutants
  std::optional<ReachRecord> reach;
  std::map<std::string, SubCheckTotal> subChecks;
  std::map<std::string, MutationRecord> mutation;  // by backend

  template <class Self, class Visit>
  static void describe(Self& self, Visit&& visit) {
    visit("run", self.run, Presence::Optional);
    visit("outcome", self.outcome, Presence::Optional);
    visit("ended", self.ended, Presence::Always);
    visit("part", self.part, Presence::Optional);
    visit("lines", self.lines, Presence::Always);
    visit("executed", self.executed, Presence::Always);
    for (size_t i = 0; i < kStatusCount; ++i)
      visit(nameOf(static_cast<CaseStatus>(i)), self.byStatus[i], Presence::Always);
    visit("killed", self.killed, Presence::Optional);
    visit("survived", self.survived, Presence::Optional);
    visit("equivalent", self.equivalent, Presence::Optional);
    visit("invalid", self.invalid, Presence::Optional);
    visit("reach", self.reach, Presence::Optional);
    visit("subChecks", self.subChecks, Presence::Optional);
    visit("mutation", self.mutation, Presence::Optional);
  }
};

}  // namespace opkit::reports
