// Strings that a rule compares with a list in the model: labels, categories, words. They become numbers, and the list
// with them.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::text {

struct KnownStrings {
  TensorId places;             // i64: the number of each string of the input; `count` for one that is not listed
  std::vector<int64_t> words;  // the numbers of the list's strings: equal strings have equal numbers
  int64_t count;               // of different strings in the list
};

/// Emits the numbers of the strings in an input.
KnownStrings emitKnownStrings(OnnxNode& node, size_t input, const std::vector<std::string>& list);

/// InvalidArgument if the input holds strings, as far as the file says. `reason` is what asks for numbers.
Status requireNumbers(const OnnxNode& node, size_t input, const std::string& reason);

}  // namespace opkit::ops::text
