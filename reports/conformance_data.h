// conformanceData: the section of the page about ONNX conformance.
#pragma once

#include <kainjow/mustache.hpp>

#include "reports/results/reader.h"

namespace opkit::reports {

/// One row per backend. Its columns, one for each ending that occurs, add up to the models; below are the reasons of
/// models that were not judged.
kainjow::mustache::data conformanceData(const Results& results);

}  // namespace opkit::reports
