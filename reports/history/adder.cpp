#include "reports/history/adder.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "reports/history/keys.h"
#include "reports/results/common.h"

namespace opkit::reports {
namespace {

constexpr double kWholeNs = 1e5;  // larger times are kept as whole ns, which SQLite stores in fewer bytes

std::string nightOf(const Run& run) { return run.night.empty() ? run.facts.started.substr(0, 10) : run.night; }

/// Devices that are the processor have the same uuid everywhere, or none.
std::string machineOf(const RunRecord& facts, const DeviceRecord& device) {
  return device.software || device.uuid.empty() ? fmt::format("{}, {} cores", facts.cpu, facts.cores) : "";
}

std::string optionsOf(const RunRecord& facts, const CaseRecord& record) {
  const std::string options = deviceOptions(facts.command);
  const std::string threads = record.threads ? fmt::format("--threads {}", record.threads) : "";
  return options + (options.empty() || threads.empty() ? "" : " ") + threads;
}

Result<std::string> compressed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                             text.size(), 6);
  if (code != Z_OK) return Status::internal("zlib cannot compress {} bytes", text.size());
  bytes.resize(size);
  return bytes;
}

}  // namespace

Result<Adder> Adder::create(const Database& database) {
  Adder adder(database);
  OPKIT_TRY(adder.prepare());
  return adder;
}

Status Adder::prepare() {
  const std::pair<Statement*, const char*> statements[] = {
      {&findRun_, "SELECT id, content, lines FROM run WHERE name = ?"},
      {&insertRun_,
       "INSERT INTO run (name, content, lines, night, environment, at, started, outcome, planned, written, command, "
       "version, seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&growRun_, "UPDATE run SET content = ?, lines = ?, outcome = ?, planned = ?, written = ? WHERE id = ?"},
      {&findNight_, "SELECT id FROM night WHERE name = ? AND commit_id = ? AND dirty = ?"},
      {&insertNight_, "INSERT INTO night (name, commit_id, dirty) VALUES (?, ?, ?)"},
      {&findEnvironment_,
       "SELECT id FROM environment WHERE host = ? AND cpu = ? AND cores = ? AND os = ? AND compiler = ? AND build = ?"},
      {&insertEnvironment_,
       "INSERT INTO environment (host, cpu, cores, os, compiler, build) VALUES (?, ?, ?, ?, ?, ?)"},
      {&findDevice_,
       "SELECT id FROM device WHERE backend = ? AND name = ? AND driver = ? AND uuid = ? AND machine = ?"},
      {&insertDevice_, "INSERT INTO device (backend, name, driver, uuid, machine, software) VALUES (?, ?, ?, ?, ?, ?)"},
      {&calibrate_, "INSERT OR REPLACE INTO calibration VALUES (?, ?, ?, ?, ?, ?)"},
      {&findItem_, "SELECT id FROM item WHERE hash = ? AND kind = ? AND case_id = ?"},
      {&insertItem_, "INSERT INTO item (hash, kind, case_id, op, dtype) VALUES (?, ?, ?, ?, ?)"},
      {&findSubject_, "SELECT id FROM subject WHERE item = ? AND device = ? AND options = ?"},
      {&insertSubject_, "INSERT INTO subject (item, device, options) VALUES (?, ?, ?)"},
      {&findConclusion_,
       "SELECT id FROM conclusion WHERE provider = ? AND kernel = ? AND status = ? AND failed_check = ? AND reason = "
       "?"},
      {&insertConclusion_,
       "INSERT INTO conclusion (provider, kernel, status, failed_check, reason) VALUES (?, ?, ?, ?, ?)"},
      {&findCommand_, "SELECT id FROM command WHERE text = ?"},
      {&insertCommand_, "INSERT INTO command (text) VALUES (?)"},
      {&findOutcome_,
       "SELECT variant FROM outcome WHERE subject = ? AND conclusion = ? AND margin IS ? AND max_ulp IS ? AND max_abs "
       "IS ? AND nmse IS ? AND bits IS ? AND shader IS ? AND shader_bytes IS ? AND arena_bytes IS ? AND allocations IS "
       "? AND dispatches IS ?"},
      {&nextVariant_, "SELECT ifnull(max(variant) + 1, 0) FROM outcome WHERE subject = ?"},
      {&insertOutcome_,
       "INSERT INTO outcome (subject, conclusion, margin, max_ulp, max_abs, nmse, bits, shader, shader_bytes, "
       "arena_bytes, allocations, dispatches, variant, command) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&see_, "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?)"},
      {&findSeries_, "SELECT id FROM series WHERE subject = ? AND provider = ? AND metric = ?"},
      {&insertSeries_, "INSERT INTO series (subject, provider, metric) VALUES (?, ?, ?)"},
      {&value_, "INSERT OR REPLACE INTO value VALUES (?, ?, ?)"},
      {&mutation_, "INSERT OR REPLACE INTO mutation VALUES (?, ?, ?, ?, ?, ?, ?)"},
      {&lines_, "INSERT OR REPLACE INTO lines VALUES (?, ?, ?)"},
  };
  for (const auto& [statement, sql] : statements) {
    OPKIT_ASSIGN(*statement, database_.prepare(sql));
  }
  return Status::ok();
}

/// The row that `find` finds, else the one that `insert` makes; both are bound.
Result<int64_t> Adder::idOf(Statement& find, Statement& insert) {
  OPKIT_ASSIGN(const bool known, find.step());
  const int64_t id = known ? find.integer(0) : 0;
  find.reset();
  if (known) return id;
  OPKIT_TRY(insert.run());
  return database_.lastId();
}

Status Adder::add(const RunRecords& records, int64_t at, AddReport& report) {
  OPKIT_ASSIGN(const std::optional<int64_t> run, addRun(records, at, report));
  if (!run) return Status::ok();
  devices_.clear();
  for (const DeviceRecord* device : records.devices) {
    OPKIT_ASSIGN(const int64_t id, addDevice(records.run->facts, *device));
    devices_[device->backend] = id;
    OPKIT_TRY(addCalibration(*run, id, *device));
  }
  for (const CaseRecord* record : records.cases) OPKIT_TRY(addCase(*run, records, *record));
  OPKIT_TRY(addMutants(*run, records));
  return keepLines(*run, *records.run);
}

Result<std::optional<int64_t>> Adder::addRun(const RunRecords& records, int64_t at, AddReport& report) {
  const Run& run = *records.run;
  OPKIT_ASSIGN(const bool known, findRun_.bind(run.facts.run).step());
  if (!known) {
    ++report.added;
    OPKIT_ASSIGN(const int64_t id, insertRun(run, at));
    return std::optional(id);
  }
  const auto content = static_cast<uint64_t>(findRun_.integer(1));
  const auto lines = static_cast<size_t>(findRun_.integer(2));
  if (lines > run.content.size() || run.content[lines - 1] != content)
    return Status::invalidArgument(
        "{}: run {} ({}) is known with other content: expected the {} lines of then, found {}; nothing was added",
        database_.path(), run.facts.run, run.facts.command, lines, run.content.size());
  if (lines == run.content.size()) {
    ++report.known;
    return std::optional<int64_t>();
  }
  ++report.grown;
  const int64_t id = findRun_.integer(0);
  OPKIT_TRY(grow(id, run));
  return std::optional(id);
}

Result<int64_t> Adder::insertRun(const Run& run, int64_t at) {
  const RunRecord& f = run.facts;
  const std::string night = nightOf(run), seed = std::to_string(f.seed);
  findNight_.bind(night, f.commit, f.dirty);
  insertNight_.bind(night, f.commit, f.dirty);
  OPKIT_ASSIGN(const int64_t nightId, idOf(findNight_, insertNight_));
  findEnvironment_.bind(f.host, f.cpu, f.cores, f.os, f.compiler, f.build);
  insertEnvironment_.bind(f.host, f.cpu, f.cores, f.os, f.compiler, f.build);
  OPKIT_ASSIGN(const int64_t environment, idOf(findEnvironment_, insertEnvironment_));
  insertRun_.bind(f.run, run.content.back(), run.content.size(), nightId, environment, at, f.started, run.outcome,
                  run.planned, run.written, f.command, f.version, seed);
  OPKIT_TRY(insertRun_.run());
  return database_.lastId();
}

/// The store has the beginning of the run: its rows stay, the new ones are added.
Status Adder::grow(int64_t id, const Run& run) {
  return growRun_.bind(run.content.back(), run.content.size(), run.outcome, run.planned, run.written, id).run();
}

Result<int64_t> Adder::addDevice(const RunRecord& facts, const DeviceRecord& d) {
  const std::string machine = machineOf(facts, d);
  findDevice_.bind(d.backend, d.name, d.driver, d.uuid, machine);
  insertDevice_.bind(d.backend, d.name, d.driver, d.uuid, machine, d.software);
  return idOf(findDevice_, insertDevice_);
}

Status Adder::addCalibration(int64_t run, int64_t device, const DeviceRecord& record) {
  const CalibrationRecord none, &c = record.calibration ? *record.calibration : none;
  const auto measured = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  return calibrate_
      .bind(run, device, measured(c.loopNs), measured(c.copyBytesPerNs), measured(c.flopsPerNs), measured(c.bytesPerNs))
      .run();
}

/// A run that was stopped early may lack the device's line.
Result<int64_t> Adder::deviceOf(const RunRecords& records, const CaseRecord& record) {
  if (const auto found = devices_.find(record.backend); found != devices_.end()) return found->second;
  DeviceRecord device;
  device.backend = record.backend;
  device.name = record.device;
  OPKIT_ASSIGN(devices_[record.backend], addDevice(records.run->facts, device));
  return devices_[record.backend];
}

Status Adder::addCase(int64_t run, const RunRecords& records, const CaseRecord& c) {
  OPKIT_ASSIGN(const int64_t subject, addSubject(records, c));
  OPKIT_ASSIGN(const int64_t variant, addOutcome(subject, c));
  // A number that is no duration becomes one that fits.
  const double us = std::isnan(c.durationNs) ? 0 : std::clamp(std::round(c.durationNs / 1e3), 0.0, 1e15);
  OPKIT_TRY(see_.bind(run, subject, variant, static_cast<int64_t>(us)).run());
  return addTimes(run, subject, c);
}

Result<int64_t> Adder::addSubject(const RunRecords& records, const CaseRecord& c) {
  const int64_t hash = itemHash(c.kind, c.id);
  findItem_.bind(hash, c.kind, c.id);
  insertItem_.bind(hash, c.kind, c.id, c.op, c.dtype);
  OPKIT_ASSIGN(const int64_t item, idOf(findItem_, insertItem_));
  OPKIT_ASSIGN(const int64_t device, deviceOf(records, c));
  const std::string options = optionsOf(records.run->facts, c);
  findSubject_.bind(item, device, options);
  insertSubject_.bind(item, device, options);
  return idOf(findSubject_, insertSubject_);
}

Result<int64_t> Adder::addOutcome(int64_t subject, const CaseRecord& c) {
  const std::string status = nameOf(c.status), form = reproForm(c.repro, c.id);
  findConclusion_.bind(c.provider, c.kernel, status, c.failedCheck, c.reason);
  insertConclusion_.bind(c.provider, c.kernel, status, c.failedCheck, c.reason);
  OPKIT_ASSIGN(const int64_t conclusion, idOf(findConclusion_, insertConclusion_));
  const AccuracyRecord none, &a = c.accuracy ? *c.accuracy : none;
  const auto given = [&](double value) { return c.accuracy ? std::optional(value) : std::nullopt; };
  const auto counted = [](uint64_t value) { return value > 0 ? std::optional(value) : std::nullopt; };
  const auto bind = [&](Statement& statement, auto... last) {
    statement.bind(subject, conclusion, given(a.margin), given(a.maxUlp), given(a.maxAbs), given(a.nmse),
                   bitsOf(c.digest), bitsOf(c.shader), counted(c.shaderBytes), c.arenaBytes, c.allocations,
                   counted(c.dispatches), last...);
  };
  bind(findOutcome_);
  OPKIT_ASSIGN(const bool known, findOutcome_.step());
  const int64_t found = known ? findOutcome_.integer(0) : 0;
  findOutcome_.reset();
  if (known) return found;
  // The command names paths of a machine: that of the first run with this outcome is kept.
  findCommand_.bind(form);
  insertCommand_.bind(form);
  OPKIT_ASSIGN(const int64_t command, idOf(findCommand_, insertCommand_));
  OPKIT_TRY(nextVariant_.bind(subject).step().error());
  const int64_t variant = nextVariant_.integer(0);
  nextVariant_.reset();
  bind(insertOutcome_, variant, command);
  OPKIT_TRY(insertOutcome_.run());
  return variant;
}

Status Adder::addTimes(int64_t run, int64_t subject, const CaseRecord& c) {
  for (const auto& [metric, time] : c.times) {
    if (!std::isfinite(time.min)) continue;
    findSeries_.bind(subject, c.provider, metric);
    insertSeries_.bind(subject, c.provider, metric);
    OPKIT_ASSIGN(const int64_t series, idOf(findSeries_, insertSeries_));
    OPKIT_TRY(value_.bind(series, run, time.min >= kWholeNs ? std::round(time.min) : time.min).run());
  }
  return Status::ok();
}

Status Adder::addMutants(int64_t run, const RunRecords& records) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, int64_t>> counts;
  for (const MutantRecord* mutant : records.mutants) ++counts[{mutant->backend, mutant->subject}][mutant->fate];
  for (auto& [key, fates] : counts)
    OPKIT_TRY(
        mutation_
            .bind(run, key.first, key.second, fates["killed"], fates["survived"], fates["equivalent"], fates["invalid"])
            .run());
  return Status::ok();
}

Status Adder::keepLines(int64_t run, const Run& source) {
  std::string lines;
  for (size_t line = 0, begin = 0, end = 0; line < source.plain.size(); ++line, begin = end) {
    end = source.lines.find('\n', begin) + 1;
    if (!source.plain[line]) lines += source.lines.substr(begin, end - begin);
  }
  OPKIT_ASSIGN(const std::string text, compressed(lines));
  return lines_.bind(run, lines.size(), Blob{text}).run();
}

}  // namespace opkit::reports
