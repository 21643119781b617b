// Strings: letters, splits, expressions, numbers, errors of one line.
#include "ops/text/text.h"

#include <gtest/gtest.h>

#include "ops/builtin_ops.h"
#include "ops/text/normalizer_generated.h"
#include "ops/text/number_generated.h"
#include "ops/text/regex_generated.h"
#include "ops/text/text_generated.h"

namespace opkit::ops::text {
namespace {

using Strings = std::vector<std::string>;

Result<std::vector<Tensor>> call(const char* type, std::vector<Tensor> inputs, const ParamBytes& params = {}) {
  return runOnHost(*builtinOps().find(type), {params, inputs, {}, 1});
}

Strings split(const std::string& text, const std::string& delimiter, int64_t most) {
  StringSplitParamsT params;
  params.delimiter = delimiter;
  params.max_splits = most;
  return stringsOf((*call("StringSplit", {stringTensor({1}, {text})}, packParams(params)))[0]);
}

Result<std::vector<Tensor>> numbers(const Strings& texts, DType to) {
  NumberParamsT params;
  params.to = static_cast<uint8_t>(to);
  return call("CastFromString", {stringTensor({static_cast<int64_t>(texts.size())}, texts)}, packParams(params));
}

TEST(Text, ChangesTheCaseOfUnicodeLetters) {
  EXPECT_EQ(inUpperCase("straße é ж a1"), "STRAßE É Ж A1");
  EXPECT_EQ(inLowerCase("ÄÖ Ж ẞ"), "äö ж ß");
  const std::string broken = "a\xFF\xC3z";
  EXPECT_EQ(inUpperCase(broken), "A\xFF\xC3Z") << "bytes that are no UTF-8 stay";
}

TEST(Text, JoinsWithBroadcasting) {
  const auto joined = call("StringConcat", {stringTensor({2, 1}, {"a", "b"}), stringTensor({3}, {"x", "y", ""})});
  ASSERT_TRUE(joined) << joined.error().toString();
  EXPECT_EQ((*joined)[0].desc.shape, (Shape{2, 3}));
  EXPECT_EQ(stringsOf((*joined)[0]), (Strings{"ax", "ay", "a", "bx", "by", "b"}));
  EXPECT_FALSE(call("StringConcat", {stringTensor({2}, {"a", "b"}), stringTensor({3}, {"x", "y", ""})}));
}

TEST(Text, SplitsAtDelimitersAndAtWhiteSpace) {
  EXPECT_EQ(split(",a,,b,", ",", -1), (Strings{"", "a", "", "b", ""}));
  EXPECT_EQ(split("a--b--c", "--", 1), (Strings{"a", "b--c"}));
  EXPECT_EQ(split("  a \t b  c  ", "", -1), (Strings{"a", "b", "c"}));
  EXPECT_EQ(split("  a \t b  c  ", "", 1), (Strings{"a", "b  c"}));
  const auto two = call("StringSplit", {stringTensor({2}, {"a b", ""})}, packParams(StringSplitParamsT()));
  EXPECT_EQ((*two)[0].desc.shape, (Shape{2, 2}));
  EXPECT_EQ(stringsOf((*two)[0]), (Strings{"a", "b", "", ""}));
  EXPECT_EQ((*two)[1].data<int64_t>()[1], 0);
}

TEST(Text, NormalizesWithoutStopWords) {
  StringNormalizerParamsT params;
  params.case_change = CaseChange::upper;
  params.stop_words = {"MONDAY"};
  const auto normalized = [&](const Tensor& x) { return (*call("StringNormalizer", {x}, packParams(params)))[0]; };
  EXPECT_EQ(stringsOf(normalized(stringTensor({3}, {"monday", "tuesday", "Monday"}))), Strings{"TUESDAY"});
  EXPECT_EQ(normalized(stringTensor({1, 1}, {"monday"})).desc.shape, (Shape{1, 1})) << "one empty string is left";
  params.case_sensitive = true;
  EXPECT_EQ(stringsOf(normalized(stringTensor({2}, {"monday", "MONDAY"}))), Strings{"MONDAY"});
  const auto refused = call("StringNormalizer", {stringTensor({2, 1}, {"a", "b"})}, packParams(params));
  EXPECT_EQ(refused.error().message(), "StringNormalizer: x must be [c] or [1, c], got string[2,1]");
}

TEST(Text, MatchesWholeStrings) {
  RegexParamsT params;
  params.pattern = "(a|b)+";
  const auto matches = call("RegexFullMatch", {stringTensor({3}, {"abba", "abc", ""})}, packParams(params));
  EXPECT_EQ(matches->front().data<uint8_t>()[0], 1);
  EXPECT_EQ(matches->front().data<uint8_t>()[1], 0);
  EXPECT_EQ(matches->front().data<uint8_t>()[2], 0);
  params.pattern = "(a";
  const auto refused = call("RegexFullMatch", {stringTensor({1}, {"a"})}, packParams(params));
  EXPECT_EQ(refused.error().message(), "RegexFullMatch: pattern '(a': missing ): (a");
}

TEST(Text, NumbersReadBackAsTheSame) {
  const Tensor x = *Tensor::fromValues<float>({DType::Float32, {5}}, {0.1f, 1e-30f, -2, INFINITY, 16777216.f});
  const auto texts = call("CastToString", {x});
  EXPECT_EQ(stringsOf((*texts)[0])[0], "0.1");
  EXPECT_EQ(stringsOf((*texts)[0])[3], "INF");
  const auto back = numbers(stringsOf((*texts)[0]), DType::Float32);
  ASSERT_TRUE(back) << back.error().toString();
  EXPECT_TRUE(std::ranges::equal((*back)[0].data<float>(), x.data<float>()));
  EXPECT_EQ((*numbers({"18446744073709551615"}, DType::UInt64))[0].data<uint64_t>()[0], ~uint64_t{0});
  EXPECT_EQ((*numbers({" -9223372036854775808 "}, DType::Int64))[0].data<int64_t>()[0], INT64_MIN);
  EXPECT_EQ((*numbers({"+1E2"}, DType::Int32))[0].data<int32_t>()[0], 100);
  EXPECT_TRUE(std::isnan((*numbers({"NaN"}, DType::Float32))[0].data<float>()[0]));
  EXPECT_EQ(numbers({"ten"}, DType::Float32).error().message(), "CastFromString: 'ten' is no number");
  EXPECT_EQ(numbers({"1e400"}, DType::Float64).error().message(), "CastFromString: '1e400' is no number of this type");
  EXPECT_EQ(call("CastToString", {stringTensor({1}, {"a"})}).error().message(),
            "CastToString: input 0 'numbers' must be one of " +
                builtinOps().find("CastToString")->inputs[0].dtypes.toString() + ", got string");
  EXPECT_EQ(call("StringConcat", {x, x}).error().message(), "StringConcat: input 0 'a' must be one of string, got f32");
}

TEST(Text, EncodesStringsAsPlacesInASortedDictionary) {
  const auto codes = call("EncodeStrings",
                          {stringTensor({2, 1}, {"b", "a"}), stringTensor({0}, {}), stringTensor({3}, {"", "b", "é"})});
  ASSERT_TRUE(codes) << codes.error().toString();
  EXPECT_EQ(stringsOf((*codes)[0]), (Strings{"", "a", "b", "é"}));
  EXPECT_EQ((*codes)[1].desc.shape, (Shape{2, 1}));
  EXPECT_EQ(toInt64((*codes)[1]), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ((*codes)[2].desc.shape, Shape{0});
  EXPECT_EQ(toInt64((*codes)[3]), (std::vector<int64_t>{0, 2, 3}));
}

TEST(Text, FindsStringsInADictionary) {
  const Tensor words = stringTensor({3}, {"", "b", "é"});
  const auto places = call("FindStrings", {stringTensor({2, 2}, {"b", "a", "é", ""}), words});
  ASSERT_TRUE(places) << places.error().toString();
  EXPECT_EQ((*places)[0].desc.shape, (Shape{2, 2}));
  EXPECT_EQ(toInt64((*places)[0]), (std::vector<int64_t>{1, 3, 2, 0}));
  for (const Strings& wrong : {Strings{"b", "a"}, Strings{"a", "a"}})
    EXPECT_EQ(call("FindStrings", {words, stringTensor({2}, wrong)}).error().message(),
              "FindStrings: the dictionary must be sorted, without repetitions");
}

TEST(Text, DecodesPlaces) {
  const Tensor places = *Tensor::fromValues<int64_t>({DType::Int64, {1, 2}}, {1, 0}),
               words = stringTensor({2}, {"a", "b"});
  const auto strings = call("DecodeStrings", {places, words});
  ASSERT_TRUE(strings) << strings.error().toString();
  EXPECT_EQ((*strings)[0].desc.shape, (Shape{1, 2}));
  EXPECT_EQ(stringsOf((*strings)[0]), (Strings{"b", "a"}));
  EXPECT_EQ(call("DecodeStrings", {places, stringTensor({1}, {"a"})}).error().message(),
            "DecodeStrings: places must be in [0, 1), got 1");
}

}  // namespace
}  // namespace opkit::ops::text
