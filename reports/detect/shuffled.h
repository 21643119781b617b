// How often the detector is wrong on given series: their nights in another order, judged again.
//
// If a series has one level, its nights could have come in any order. A change that the detector finds at the end of a
// shuffled history is therefore a false alarm. Plain values; deterministic.
#pragma once

#include "reports/detect/judge.h"

namespace opkit::reports::detect {

/// Of shuffled histories.
struct ShuffledAlarms {
  size_t series = 0;   // noisy ones with enough nights to be judged
  size_t nights = 0;   // of the longest of them, joined ones counted as one
  size_t drawn = 0;    // histories
  size_t alarmed = 0;  // ... with a series that is found in the last night and was not found the night before
  size_t found = 0;    // such series, over all histories
};

/// Takes levels that the detector tells apart for real, and removes their differences. A level that lasted fewer than
/// `settings.leastNights` nights and is over counts as noise: it stays. Then draws up to `mostDrawn` orders of the last
/// `settings.window` nights and judges each. Two successive nights (joined ones counted as one) stay together, so that
/// some of what correlates nights remains; an order holds for all series of a timeline, so that a bad night stays bad
/// for all. Draws fewer histories, five at least, where `mostDrawn` would take more than a second or two.
ShuffledAlarms shuffledAlarms(const History& history, const Settings& settings, size_t mostDrawn = 200);

}  // namespace opkit::reports::detect
