#include "reports/results/record_json.h"

#include "reports/results/json_fields.h"

namespace opkit::reports {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, kStatusCount> kStatusNames = {
    "pass",     "fail",     "crash", "hang",       "unsupported", "skip",     "fallback", "mistrusted",
    "unproved", "expected", "flake", "unexpected", "refused",     "unstable", "leak"};

template <class T>
std::string lineOf(const T& record) {
  Json line = fields::encode(record);
  line["record"] = T::kName;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Result<Record> readAs(const Json& object) {
  T record;
  const std::string missing = fields::missingField(object, record);
  if (!missing.empty()) return Status::corrupt("a {} record lacks the field '{}'", T::kName, missing);
  OPKIT_TRY(fields::decodeFields(object, record).withContext(fmt::format("a {} record", T::kName)));
  return Record(std::move(record));
}

Status checkSchema(const Json& object) {
  const int found = object.contains("schema") && object["schema"].is_number_integer() ? object["schema"].get<int>() : 0;
  if (found >= kOldestSchema && found <= kSchema) return Status::ok();
  return Status::unsupported("expected schema {} to {}, found {}", kOldestSchema, kSchema, found);
}

template <class T>
void addNames(std::map<std::string, std::vector<std::string>>& all) {
  all[T::kName].emplace_back("record");
  fields::collectNames<T>("", all[T::kName]);
}

}  // namespace

const char* nameOf(CaseStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

std::optional<CaseStatus> statusFromName(std::string_view name) {
  for (size_t i = 0; i < kStatusNames.size(); ++i)
    if (name == kStatusNames[i]) return static_cast<CaseStatus>(i);
  return name == "xfail" ? std::optional(CaseStatus::Pass) : std::nullopt;
}

bool isFailure(CaseStatus status) {
  return isExecuted(status) && status != CaseStatus::Pass && status != CaseStatus::Expected &&
         status != CaseStatus::Flake;
}

bool isExecuted(CaseStatus status) {
  return status != CaseStatus::Unsupported && status != CaseStatus::Skip && status != CaseStatus::Unproved;
}

Json toJson(const CaseRecord& record) { return fields::encode(record); }

CaseRecord caseFromJson(const Json& object) {
  CaseRecord record;
  record.status = CaseStatus::Fail;  // unless it says otherwise
  static_cast<void>(fields::decodeFields(object, record));
  return record;
}

std::string toLine(const RunRecord& record) { return lineOf(record); }
std::string toLine(const PlanRecord& record) { return lineOf(record); }
std::string toLine(const DeviceRecord& record) { return lineOf(record); }
std::string toLine(const CommonRecord& record) { return lineOf(record); }
std::string toLine(const CaseRecord& record) { return lineOf(record); }
std::string toLine(const MutantRecord& record) { return lineOf(record); }
std::string toLine(const SummaryRecord& record) { return lineOf(record); }

Result<Record> recordFromJson(const Json& object) {
  const auto kind = object.is_object() ? object.find("record") : object.end();
  if (kind == object.end() || !kind->is_string())
    return Status::corrupt("expected an object with a field 'record', found {}",
                           object.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60));
  const std::string& name = kind->get_ref<const std::string&>();
  if (name == RunRecord::kName) OPKIT_TRY(checkSchema(object));
  if (name == RunRecord::kName) return readAs<RunRecord>(object);
  if (name == PlanRecord::kName) return readAs<PlanRecord>(object);
  if (name == DeviceRecord::kName) return readAs<DeviceRecord>(object);
  if (name == CommonRecord::kName) return readAs<CommonRecord>(object);
  if (name == CaseRecord::kName) return readAs<CaseRecord>(object);
  if (name == MutantRecord::kName) return readAs<MutantRecord>(object);
  if (name == SummaryRecord::kName) return readAs<SummaryRecord>(object);
  return Record{};
}

std::map<std::string, std::vector<std::string>> fieldsOfRecords() {
  std::map<std::string, std::vector<std::string>> all;
  addNames<RunRecord>(all);
  addNames<PlanRecord>(all);
  addNames<DeviceRecord>(all);
  addNames<CommonRecord>(all);
  addNames<CaseRecord>(all);
  addNames<MutantRecord>(all);
  addNames<SummaryRecord>(all);
  return all;
}

}  // namespace opkit::reports
