#include "reports/results/writer.h"

#include <algorithm>
#include <ctime>
#include <random>

#include "reports/results/common.h"
#include "reports/results/record_json.h"

namespace opkit::reports {
namespace {

std::string newRunId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// SummaryRecord or MutationRecord.
template <class T>
void countFate(T& counts, const std::string& fate) {
  ++(fate == "killed"       ? counts.killed
     : fate == "survived"   ? counts.survived
     : fate == "equivalent" ? counts.equivalent
                            : counts.invalid);
}

}  // namespace

std::string utcNow() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text = {};
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

template <class T>
bool ResultWriter::append(T& record) {
  if (!file_ || !status_.isOk()) return false;
  record.run = run_;
  const Status written = file_->append(toLine(record));
  if (!written.isOk())
    status_ =
        Status::invalidArgument("{}: {}; {} cases are recorded in it", source_, written.message(), summary_.lines);
  return written.isOk();
}

Status ResultWriter::open(const std::string& path, RunRecord run) {
  auto opened = LineFile::open(path);
  if (!opened) return opened.error().withContext(source_);
  file_.emplace(*std::move(opened));
  run_ = run.run.empty() ? newRunId() : run.run;
  if (run.started.empty()) run.started = utcNow();
  append(run);
  return status_;
}

void ResultWriter::write(PlanRecord record) { append(record); }
void ResultWriter::write(DeviceRecord record) { append(record); }

void ResultWriter::write(CaseRecord record) {
  ++summary_.byStatus[static_cast<size_t>(record.status)];
  summary_.executed += isExecuted(record.status);
  takeCommon(record);
  summary_.lines += append(record);
}

void ResultWriter::takeCommon(CaseRecord& record) {
  std::optional<CommonRecord> common = shorten(record);
  if (!common) return;
  const auto [known, isNew] = commons_.try_emplace(toLine(*common), commons_.size() + 1);
  common->common = record.common = known->second;
  if (isNew) append(*common);
}

void ResultWriter::write(MutantRecord record) {
  countFate(summary_, record.fate);
  MutationRecord& mutation = summary_.mutation[record.backend];
  countFate(mutation, record.fate);
  const auto counted = static_cast<double>(std::max<size_t>(mutation.killed + mutation.survived, 1));
  mutation.score = static_cast<double>(mutation.killed) / counted;
  ++summary_.executed;
  summary_.lines += append(record);
}

Status ResultWriter::close(const std::string& outcome) {
  if (!file_) return status_;
  summary_.outcome = outcome;
  if (summary_.ended.empty()) summary_.ended = utcNow();
  append(summary_);
  if (status_.isOk()) status_ = file_->close().withContext(source_);
  return status_;
}

}  // namespace opkit::reports
