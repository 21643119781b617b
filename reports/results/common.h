// Common: fields that many case lines of a run share are written once, and put back by the reader.
#pragma once

#include "reports/results/records.h"

namespace opkit::reports {

/// True for a pass without measurements, layers, notes or departures: its line holds no detail.
bool isPlainPass(const CaseRecord& record);

/// Shortens the line of a case that passed or did not run; other lines stay whole. Moves shared fields out of `record`
/// and returns them; of the accuracy of a pass stay elements, margin, maxAbs, maxUlp and nmse; the duration becomes
/// whole nanoseconds.
std::optional<CommonRecord> shorten(CaseRecord& record);

/// The command with `{id}` in place of the quoted id; the command itself if the id does not stand in it.
std::string reproForm(const std::string& repro, const std::string& id);
/// The command of a form.
std::string reproOf(const std::string& form, const std::string& id);

/// Puts shared fields back.
void complete(CaseRecord& record, const CommonRecord& common);

}  // namespace opkit::reports
