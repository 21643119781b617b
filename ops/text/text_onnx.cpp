#include "engine/import/onnx/onnx_rules.h"
#include "ops/text/normalizer_generated.h"
#include "ops/text/regex_generated.h"
#include "ops/text/text_generated.h"

namespace opkit::ops::text {
namespace {

Status split(OnnxNode& node) {
  StringSplitParamsT params;
  params.delimiter = node.stringAttribute("delimiter", "");
  params.max_splits = node.intAttribute("maxsplit", -1);
  if (params.max_splits < -1) return Status::invalidArgument("maxsplit must be 0 or more, got {}", params.max_splits);
  return node.emit("StringSplit", node.inputs(), packParams(params));
}

Status normalizer(OnnxNode& node) {
  StringNormalizerParamsT params;
  OPKIT_ASSIGN(params.case_change,
               choiceAttribute<CaseChange>(
                   node, "case_change_action",
                   {{"NONE", CaseChange::none}, {"LOWER", CaseChange::lower}, {"UPPER", CaseChange::upper}}));
  params.case_sensitive = node.intAttribute("is_case_sensitive", 0) != 0;
  params.stop_words = node.stringsAttribute("stopwords");
  return node.emit("StringNormalizer", node.inputs(), packParams(params));
}

Status regex(OnnxNode& node) {
  RegexParamsT params;
  params.pattern = node.stringAttribute("pattern", "");
  return node.emit("RegexFullMatch", node.inputs(), packParams(params));
}

}  // namespace

/// ops/cast has the rules of casts. The locale of StringNormalizer is not read: letters change by Unicode's tables.
void addOnnx(OnnxRules& rules) {
  rules.add("StringConcat", {}, passThrough("StringConcat"), 20);
  rules.add("StringSplit", {"delimiter", "maxsplit"}, split, 20);
  rules.add("StringNormalizer", {"case_change_action", "is_case_sensitive", "locale", "stopwords"}, normalizer, 10);
  rules.add("RegexFullMatch", {"pattern"}, regex, 20);
}

}  // namespace opkit::ops::text
