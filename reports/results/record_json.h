// Records as JSON: one object per line. The only place where results are made into JSON and read from it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "engine/base/status.h"
#include "reports/results/records.h"

namespace opkit::reports {

/// The object without "record" and without a check for required fields: between processes.
nlohmann::json toJson(const CaseRecord& record);
/// Fields of another type are skipped: between processes of one program there are none.
CaseRecord caseFromJson(const nlohmann::json& object);

/// A line of a results file, without the newline. Bytes that are no UTF-8 are replaced.
std::string toLine(const RunRecord& record);
std::string toLine(const PlanRecord& record);
std::string toLine(const DeviceRecord& record);
std::string toLine(const CommonRecord& record);
std::string toLine(const CaseRecord& record);
std::string toLine(const MutantRecord& record);
std::string toLine(const SummaryRecord& record);

/// Null for a kind of line that only later schemas know.
using Record = std::variant<std::monostate, RunRecord, PlanRecord, DeviceRecord, CommonRecord, CaseRecord, MutantRecord,
                            SummaryRecord>;

/// Corrupt names the field that is missing or has another type. Unsupported for another schema version.
Result<Record> recordFromJson(const nlohmann::json& object);

/// Names of all fields that records may have, "accuracy.margin" for a nested one, by kind of line; members of lists and
/// maps have their own names: "layers.op", "times.median".
std::map<std::string, std::vector<std::string>> fieldsOfRecords();

}  // namespace opkit::reports
