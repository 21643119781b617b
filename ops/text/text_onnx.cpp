#include "engine/import/onnx/onnx_fields.h"
#include "ops/text/normalizer_generated.h"
#include "ops/text/regex_generated.h"
#include "ops/text/text_generated.h"

namespace opkit::ops::text {
namespace {

const OnnxFields<StringSplitParamsT>& splitFields() {
  using Params = StringSplitParamsT;
  static const OnnxFields<Params> fields{field("delimiter", &Params::delimiter),
                                         field("maxsplit", &Params::max_splits)};
  return fields;
}

Status split(OnnxNode& node) {
  OPKIT_ASSIGN(const StringSplitParamsT params, readFields(node, splitFields()));
  if (params.max_splits < -1) return Status::invalidArgument("maxsplit must be 0 or more, got {}", params.max_splits);
  return node.emit("StringSplit", node.inputs(), packParams(params));
}

}  // namespace

/// ops/cast has the rules of casts. The locale of StringNormalizer is not read: letters change by Unicode's tables.
void addOnnx(OnnxRules& rules) {
  rules.add("StringConcat", {}, passThrough("StringConcat"), 20);
  rules.add("StringSplit", attributesOf(splitFields()), {split, inverseOf({"StringSplit"}, splitFields())}, 20);
  using Normalizer = StringNormalizerParamsT;
  rules.add("StringNormalizer",
            nodeOf<Normalizer>(
                "StringNormalizer",
                {choice("case_change_action", &Normalizer::case_change,
                        {{"NONE", CaseChange::none}, {"LOWER", CaseChange::lower}, {"UPPER", CaseChange::upper}}),
                 field("is_case_sensitive", &Normalizer::case_sensitive), field("stopwords", &Normalizer::stop_words),
                 ignored<Normalizer>("locale")}),
            10);
  rules.add("RegexFullMatch", nodeOf<RegexParamsT>("RegexFullMatch", {field("pattern", &RegexParamsT::pattern)}), 20);
}

}  // namespace opkit::ops::text
