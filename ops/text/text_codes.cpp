// EncodeStrings, FindStrings and DecodeStrings: strings as numbers, for operators that compare or move elements.
#include <algorithm>
#include <functional>

#include "ops/text/text.h"

namespace opkit::ops::text {

/// Output 0 is the dictionary, sorted by bytes and without repetitions; the others are the places in it of each input's
/// strings.
Result<std::vector<Tensor>> runEncode(const ControlArgs& args) {
  std::vector<std::string_view> words;
  for (const Tensor& input : args.inputs) std::ranges::copy(stringsOf(input), std::back_inserter(words));
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const auto count = static_cast<int64_t>(words.size());
  std::vector<Tensor> outputs{stringTensor({count}, {words.begin(), words.end()})};
  for (const Tensor& input : args.inputs) {
    OPKIT_ASSIGN(Tensor numbers, Tensor::onHost({DType::Int64, input.desc.shape}));
    std::ranges::transform(stringsOf(input), numbers.data<int64_t>().begin(), [&](const std::string& text) {
      return std::ranges::lower_bound(words, text) - words.begin();
    });
    outputs.push_back(std::move(numbers));
  }
  return outputs;
}

/// The places of strings in a dictionary, which has no repetitions; the number of its words for strings that it lacks.
Result<std::vector<Tensor>> runFind(const ControlArgs& args) {
  const std::vector<std::string>& words = stringsOf(args.inputs[1]);
  if (std::ranges::adjacent_find(words, std::greater_equal<>()) != words.end())
    return Status::invalidArgument("the dictionary must be sorted, without repetitions");
  OPKIT_ASSIGN(Tensor places, Tensor::onHost({DType::Int64, args.inputs[0].desc.shape}));
  std::ranges::transform(stringsOf(args.inputs[0]), places.data<int64_t>().begin(), [&](const std::string& text) {
    const auto found = std::ranges::lower_bound(words, text);
    return found != words.end() && *found == text ? found - words.begin() : std::ssize(words);
  });
  return std::vector{std::move(places)};
}

Result<std::vector<Tensor>> runDecode(const ControlArgs& args) {
  const std::vector<std::string>& words = stringsOf(args.inputs[1]);
  std::vector<std::string> strings;
  for (const int64_t number : args.inputs[0].data<int64_t>()) {
    if (number < 0 || number >= static_cast<int64_t>(words.size()))
      return Status::invalidArgument("places must be in [0, {}), got {}", words.size(), number);
    strings.push_back(words[static_cast<size_t>(number)]);
  }
  return std::vector{stringTensor(args.inputs[0].desc.shape, std::move(strings))};
}

}  // namespace opkit::ops::text
