// Adder: writes runs into the tables of a history, within a transaction of the caller. Used by Store::add only.
#pragma once

#include <map>
#include <tuple>

#include "reports/history/store.h"
#include "reports/results/runs.h"

namespace opkit::reports {

class Adder {
 public:
  static Result<Adder> create(const Database& database);

  /// `at` is the run's time in the order of runs.
  Status add(const RunRecords& records, int64_t at, AddReport& report);

 private:
  explicit Adder(const Database& database) : database_(database) {}
  Status prepare();
  Result<int64_t> idOf(Statement& find, Statement& insert);
  /// The id of the run's row, or nothing if the store has all of the run.
  Result<std::optional<int64_t>> addRun(const RunRecords& records, int64_t at, AddReport& report);
  Result<int64_t> insertRun(const Run& run, int64_t at);
  Status grow(int64_t id, const Run& run);
  Result<int64_t> addDevice(const RunRecord& facts, const DeviceRecord& device);
  Status addCalibration(int64_t run, int64_t device, const DeviceRecord& record);
  Result<int64_t> deviceOf(const RunRecords& records, const CaseRecord& record);
  Status addCase(int64_t run, const RunRecords& records, const CaseRecord& record);
  Result<int64_t> addSubject(const RunRecords& records, const CaseRecord& record);
  /// Returns its variant.
  Result<int64_t> addOutcome(int64_t subject, const CaseRecord& record);
  Status addTimes(int64_t run, int64_t subject, const CaseRecord& record);
  Status addMutants(int64_t run, const RunRecords& records);
  Status keepLines(int64_t run, const Run& source);

  const Database& database_;
  std::map<std::string, int64_t> devices_;  // of the run, by backend
  Statement findRun_, insertRun_, growRun_, findNight_, insertNight_, findEnvironment_, insertEnvironment_;
  Statement findDevice_, insertDevice_, calibrate_, findItem_, insertItem_, findSubject_, insertSubject_;
  Statement findConclusion_, insertConclusion_, findCommand_, insertCommand_, findOutcome_, nextVariant_,
      insertOutcome_, see_;
  Statement findSeries_, insertSeries_, value_, mutation_, lines_;
};

}  // namespace opkit::reports
