// ZipMap of ai.onnx.ml makes a map of labels to scores of each row of scores. OpKit has no maps: the result is the
// scores, [rows, labels], and the labels of its columns stand in the model.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model.h"

namespace opkit::ops::features {

/// The labels of the columns of output `index` of an imported model, as text; empty if ZipMap did not make the output.
/// Passes over the model may remove them.
std::vector<std::string> columnLabels(const Model& model, size_t index);

}  // namespace opkit::ops::features
