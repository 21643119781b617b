#include "reports/results/common.h"

#include <cmath>

#include "engine/base/child_process.h"

namespace opkit::reports {
namespace {

constexpr std::string_view kId = "{id}";

AccuracyRecord errorsOf(const AccuracyRecord& all) {
  AccuracyRecord errors;
  errors.elements = all.elements;
  errors.margin = all.margin, errors.maxAbs = all.maxAbs, errors.maxUlp = all.maxUlp, errors.nmse = all.nmse;
  return errors;
}

}  // namespace

std::string reproForm(const std::string& repro, const std::string& id) {
  const std::string quoted = shellQuoted(id);
  const size_t at = repro.find(quoted);
  if (at == std::string::npos || repro.find(kId) != std::string::npos) return repro;
  return std::string(repro).replace(at, quoted.size(), kId);
}

std::string reproOf(const std::string& form, const std::string& id) {
  const size_t at = form.find(kId);
  return at == std::string::npos ? form : std::string(form).replace(at, kId.size(), shellQuoted(id));
}

bool isPlainPass(const CaseRecord& c) {
  return c.status == CaseStatus::Pass && c.reason.empty() && c.note.empty() && c.opinion.empty() &&
         c.departures.empty() && c.fallbacks.empty() && c.times.empty() && c.layers.empty() && c.roof.empty() &&
         !c.access && !c.rerun && !c.expectation;
}

std::optional<CommonRecord> shorten(CaseRecord& record) {
  if (record.status != CaseStatus::Pass && isExecuted(record.status)) return std::nullopt;
  CommonRecord common;
  common.device = std::exchange(record.device, {});
  common.provider = std::exchange(record.provider, {});
  common.kernel = std::exchange(record.kernel, {});
  common.checks = std::exchange(record.checks, {});
  common.notRun = std::exchange(record.notRun, {});
  common.repro = reproForm(std::exchange(record.repro, {}), record.id);
  if (record.status == CaseStatus::Pass && record.accuracy) record.accuracy = errorsOf(*record.accuracy);
  record.durationNs = std::round(record.durationNs);
  return common;
}

void complete(CaseRecord& record, const CommonRecord& common) {
  record.device = common.device;
  record.provider = common.provider;
  record.kernel = common.kernel;
  record.checks = common.checks;
  record.notRun = common.notRun;
  record.common = 0;
  record.repro = reproOf(common.repro, record.id);
}

}  // namespace opkit::reports
