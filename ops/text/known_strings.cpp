#include "ops/text/known_strings.h"

#include <algorithm>

#include "engine/tensor/objects.h"

namespace opkit::ops::text {

KnownStrings emitKnownStrings(OnnxNode& node, size_t input, const std::vector<std::string>& list) {
  std::vector<std::string> sorted = list;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  KnownStrings known{.places = {}, .words = {}, .count = std::ssize(sorted)};
  for (const std::string& word : list) known.words.push_back(std::ranges::lower_bound(sorted, word) - sorted.begin());
  const TensorId dictionary = node.addConstant("dictionary", stringTensor({known.count}, std::move(sorted)));
  known.places = node.emitIntermediate("FindStrings", {node.input(input), dictionary});
  return known;
}

Status requireNumbers(const OnnxNode& node, size_t input, const std::string& reason) {
  if (!node.isObject(input)) return Status::ok();
  return Status::invalidArgument("{}: input {} must hold numbers, as {} does, got strings", node.opType(), input,
                                 reason);
}

}  // namespace opkit::ops::text
