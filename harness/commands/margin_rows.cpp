#include "harness/commands/margin_rows.h"

#include "engine/base/child_process.h"
#include "engine/model/model.h"

namespace opkit::harness {

Result<MarginRows> MarginRows::read(const std::string& file) {
  MarginRows rows;
  if (file.empty()) return rows;
  rows.file_ = file;
  OPKIT_ASSIGN(rows.own_, readMargins(file));
  return rows;
}

void MarginRows::add(const CaseRecord& one) {
  if (isMasked(one)) masked_.insert(one.backend);
  if (isOfNewEnvironment(one)) new_.insert(one.backend);
  if (const auto key = marginKeyOf(one)) met_[one.backend].insert(*key);
}

std::vector<CaseRecord> MarginRows::unmet(const std::string& op, const DeviceInfo& device) const {
  std::vector<CaseRecord> records;
  if (masked_.contains(device.backend)) return records;
  const auto met = met_.find(device.backend);
  const std::string environment = marginEnvironment(device);
  for (const MarginKey& key :
       recorded().unmet(op, environment, met == met_.end() ? std::set<MarginKey>() : met->second)) {
    CaseRecord record;
    record.kind = "check";
    record.id = "margin:" + nameOf(key);
    record.op = op;
    record.dtype = key.dtype;
    record.provider = key.kernel.substr(0, key.kernel.find('/'));
    if (record.provider != key.kernel) record.kernel = key.kernel.substr(record.provider.size() + 1);
    record.backend = device.backend;
    record.device = device.name;
    record.status = CaseStatus::Unexpected;
    record.reason = fmt::format(
        "no case met the row '{}' of the recorded margins in {}: its entry or kernel has changed. If that is wanted, "
        "record the operator with `op-harness margins`",
        nameOf(key), environment);
    records.push_back(std::move(record));
  }
  return records;
}

std::string MarginRows::recordHint(const DeviceInfo& device, const std::string& options) const {
  if (!new_.contains(device.backend)) return "";
  return fmt::format(
      "{}: no margins are recorded, so none were compared. To record them: op-harness check --written --brief "
      "--backend {}{} --json FILE && op-harness margins FILE --update {}",
      marginEnvironment(device), device.backend, options, shellQuoted(file_));
}

}  // namespace opkit::harness
