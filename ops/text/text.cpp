// StringConcat, StringSplit, StringNormalizer, RegexFullMatch and casts of strings: operators of the host, since
// strings are no numbers.
#include "ops/text/text.h"

#include <re2/re2.h>

#include <algorithm>

#include "engine/op/op_registry.h"
#include "ops/text/normalizer_generated.h"
#include "ops/text/normalizer_schema.h"
#include "ops/text/number_generated.h"
#include "ops/text/number_schema.h"
#include "ops/text/regex_generated.h"
#include "ops/text/regex_schema.h"
#include "ops/text/text_generated.h"
#include "ops/text/text_schema.h"

namespace opkit::ops::text {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using Strings = std::vector<std::string>;

Outputs runConcat(const ControlArgs& args) {
  const Strings &a = stringsOf(args.inputs[0]), &b = stringsOf(args.inputs[1]);
  const Shape &first = args.inputs[0].desc.shape, &second = args.inputs[1].desc.shape;
  OPKIT_ASSIGN(const Shape shape, broadcastShapes(first, second));
  const auto placeIn = [&](const Shape& own, int64_t i) {
    int64_t place = 0, step = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      const int64_t at = i % shape[d];
      i /= shape[d];
      if (d + own.size() < shape.size()) continue;
      const int64_t extent = own[d + own.size() - shape.size()];
      if (extent != 1) place += at * step;
      step *= extent;
    }
    return static_cast<size_t>(place);
  };
  Strings joined;
  for (int64_t i = 0; i < elementCount(shape); ++i) joined.push_back(a[placeIn(first, i)] + b[placeIn(second, i)]);
  return std::vector{stringTensor(shape, std::move(joined))};
}

constexpr std::string_view kSpace = " \t\n\v\f\r";

/// The parts between runs of white space; after `most` splits the rest is one part.
Strings wordsOf(std::string_view text, int64_t most) {
  Strings words;
  size_t begin = text.find_first_not_of(kSpace);
  while (begin != std::string_view::npos) {
    const bool isRest = most >= 0 && static_cast<int64_t>(words.size()) == most;
    const size_t end =
        isRest ? text.find_last_not_of(kSpace) + 1 : std::min(text.find_first_of(kSpace, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = isRest ? std::string_view::npos : text.find_first_not_of(kSpace, end);
  }
  return words;
}

Strings partsOf(std::string_view text, std::string_view delimiter, int64_t most) {
  Strings parts;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t end = text.find(delimiter);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

/// Output 0 has one more axis; shorter lists end in empty strings. Output 1 counts the parts.
Outputs runSplit(const ControlArgs& args) {
  const Strings& given = stringsOf(args.inputs[0]);
  const auto params = args.params<StringSplitParams>();
  const Shape& shape = args.inputs[0].desc.shape;
  OPKIT_ASSIGN(Tensor counts, Tensor::onHost({DType::Int64, shape}));
  std::vector<Strings> lists;
  size_t longest = 0;
  for (const std::string& text : given) {
    lists.push_back(params.delimiter.empty() ? wordsOf(text, params.max_splits)
                                             : partsOf(text, params.delimiter, params.max_splits));
    counts.data<int64_t>()[lists.size() - 1] = static_cast<int64_t>(lists.back().size());
    longest = std::max(longest, lists.back().size());
  }
  Strings all;
  for (Strings& list : lists) {
    list.resize(longest);
    std::ranges::move(list, std::back_inserter(all));
  }
  Shape wide = shape;
  wide.push_back(static_cast<int64_t>(longest));
  return std::vector{stringTensor(std::move(wide), std::move(all)), std::move(counts)};
}

/// [c] or [1, c] strings without the stop words, in another case; one empty string if none is left.
Outputs runNormalizer(const ControlArgs& args) {
  const Strings& given = stringsOf(args.inputs[0]);
  const auto params = args.params<StringNormalizerParams>();
  Shape shape = args.inputs[0].desc.shape;
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[0] != 1))
    return Status::invalidArgument("x must be [c] or [1, c], got {}", args.inputs[0].desc.toString());
  const auto compared = [&](const std::string& text) { return params.case_sensitive ? text : inLowerCase(text); };
  Strings stops, kept;
  std::ranges::transform(params.stop_words, std::back_inserter(stops), compared);
  for (const std::string& text : given) {
    if (std::ranges::find(stops, compared(text)) != stops.end()) continue;
    kept.push_back(params.case_change == CaseChange::lower   ? inLowerCase(text)
                   : params.case_change == CaseChange::upper ? inUpperCase(text)
                                                             : text);
  }
  if (kept.empty()) kept.emplace_back();
  shape.back() = static_cast<int64_t>(kept.size());
  return std::vector{stringTensor(std::move(shape), std::move(kept))};
}

Outputs runRegex(const ControlArgs& args) {
  const Strings& given = stringsOf(args.inputs[0]);
  const re2::RE2 pattern(args.params<RegexParams>().pattern, re2::RE2::Quiet);
  if (!pattern.ok()) return Status::invalidArgument("pattern '{}': {}", pattern.pattern(), pattern.error());
  OPKIT_ASSIGN(Tensor matches, Tensor::onHost({DType::Bool, args.inputs[0].desc.shape}));
  for (size_t i = 0; i < given.size(); ++i) matches.data<uint8_t>()[i] = re2::RE2::FullMatch(given[i], pattern);
  return std::vector{std::move(matches)};
}

}  // namespace

void define(OpRegistry& registry) {
  const Port x{"x", DTypeSet(DType::String)}, y{"y", DTypeSet(DType::String)};
  const Port numbers{"numbers", kNumbers | kBool | DTypeSet(DType::BFloat16)};
  registry.add({.type = "StringConcat",
                .summary = "joins strings pairwise, with broadcasting",
                .inputs = {{"a", x.dtypes}, {"b", x.dtypes}},
                .outputs = {y},
                .control = runConcat});
  registry.add({.type = "StringSplit",
                .summary = "the parts of strings at a delimiter or white space, and their number",
                .params = paramsSchema<StringSplitParams>(kTextSchema),
                .inputs = {x},
                .outputs = {y, {"counts", DTypeSet(DType::Int64)}},
                .control = runSplit});
  registry.add({.type = "StringNormalizer",
                .summary = "strings without stop words, in lower or upper case",
                .params = paramsSchema<StringNormalizerParams>(kNormalizerSchema),
                .inputs = {x},
                .outputs = {y},
                .control = runNormalizer});
  registry.add({.type = "RegexFullMatch",
                .summary = "whether a regular expression matches the whole string",
                .params = paramsSchema<RegexParams>(kRegexSchema),
                .inputs = {x},
                .outputs = {{"matches", kBool}},
                .control = runRegex});
  registry.add({.type = "CastToString",
                .summary = "numbers as decimal text that reads back as the same number",
                .inputs = {numbers},
                .outputs = {y},
                .control = runToString});
  registry.add({.type = "CastFromString",
                .summary = "the numbers that decimal texts stand for",
                .params = paramsSchema<NumberParams>(kNumberSchema),
                .inputs = {x},
                .outputs = {numbers},
                .control = runFromString});
  registry.add({.type = "EncodeStrings",
                .summary = "a sorted dictionary of strings, and their places in it",
                .inputs = {{"x", x.dtypes, Port::Kind::Variadic}},
                .outputs = {{"dictionary", x.dtypes}, {"place", DTypeSet(DType::Int64), Port::Kind::Variadic}},
                .control = runEncode});
  registry.add({.type = "FindStrings",
                .summary = "the places of strings in a sorted dictionary, or the number of its words",
                .inputs = {x, {"dictionary", x.dtypes}},
                .outputs = {{"place", DTypeSet(DType::Int64)}},
                .control = runFind});
  registry.add({.type = "DecodeStrings",
                .summary = "the strings at places of a dictionary",
                .inputs = {{"place", DTypeSet(DType::Int64)}, {"dictionary", x.dtypes}},
                .outputs = {y},
                .control = runDecode});
}

}  // namespace opkit::ops::text
