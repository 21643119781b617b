// The sections of the page about what changed.
#pragma once

#include <kainjow/mustache.hpp>

#include "reports/history/judged.h"
#include "reports/history/nights.h"

namespace opkit::reports {

/// The findings of the newest night, each with its line over the nights, and the noise of tonight; false for null.
kainjow::mustache::data findingsData(const Judged* judged);

/// Changes of status since the night before, vanished cases, and the nights; false for null.
kainjow::mustache::data nightsData(const Nights* nights);

}  // namespace opkit::reports
