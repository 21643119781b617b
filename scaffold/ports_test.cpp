#include "scaffold/ports.h"

#include <gtest/gtest.h>

#include "engine/backend/combined.h"
#include "scaffold/generate.h"
#include "scaffold/names.h"
#include "scaffold/testing/forms.h"
#include "scaffold/testing/scratch_tree.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

PortSpec port(const std::string& name, const std::string& dtypes = "") { return {name, dtypes}; }

TEST(InputText, Forms) {
  PortSpec expected = port("x", "floats");
  expected.variable = "T";
  EXPECT_EQ(*parsePort("x:T=floats"), expected);
  expected = port("x");
  expected.variable = "T";
  EXPECT_EQ(*parsePort("x:T"), expected);
  expected.optional = true;
  EXPECT_EQ(*parsePort("x:T?"), expected);
  expected = port("bias");
  expected.same = "x";
  EXPECT_EQ(*parsePort("bias:=x"), expected);
  expected.optional = true;
  EXPECT_EQ(*parsePort("bias:=x?"), expected);
  expected = port("bias");
  expected.optional = true;
  EXPECT_EQ(*parsePort("bias?"), expected);
  expected = port("axes", "i64");
  expected.contents = true;
  EXPECT_EQ(*parsePort("axes:i64:contents"), expected);
  expected.optional = true;
  EXPECT_EQ(*parsePort("axes:i64?:contents"), expected);
  EXPECT_EQ(*parsePort("axes:i64:contents?"), expected);
  expected.dtypes.clear();
  EXPECT_EQ(*parsePort("axes:contents?"), expected);
}

TEST(InputText, RefusesEverythingElse) {
  for (const char* text : {"", ":", "x:", "x:?", ":f32", "?", "x:=", "x:T=", "x:f32:", "x:f32:values", "x:contents:i64",
                           "x:f32:contents:contents", "x:f32:i64", ":contents"}) {
    const auto parsed = parsePort(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(),
              std::string("an input is NAME[:TYPES][?][:contents], such as x:f32|f16, scale:=x, bias:=x? or "
                          "axes:i64:contents, got '") +
                  text + "'");
  }
  EXPECT_EQ(parseOutput("y:f32").error().message(),
            "--output y: outputs have the type of the first input, leave 'f32' away");
  EXPECT_EQ(parseOutput("y?").error().message(),
            "--output y: outputs have the type of the first input, leave '?' away");
  EXPECT_FALSE(parseOutput(""));
  EXPECT_EQ(*parseOutput("y"), port("y"));
}

TEST(Choices, TheFirstIsTheDefault) {
  const auto mode = parseAttribute("mode:string=nearest|half_pixel|SAME_UPPER");
  ASSERT_TRUE(mode) << mode.error().message();
  EXPECT_EQ(mode->initial, "nearest");
  EXPECT_EQ(mode->choices, (std::vector<std::string>{"nearest", "half_pixel", "SAME_UPPER"}));
  EXPECT_EQ(choiceName("half_pixel"), "HalfPixel");
  EXPECT_EQ(choiceName("SAME_UPPER"), "SameUpper");
  EXPECT_EQ(choiceName("round-half"), "RoundHalf");
  EXPECT_TRUE(parseAttribute("label:string=abc")->choices.empty());
}

TEST(Choices, RefusesWhatIsNoEnum) {
  for (const char* text :
       {"mode:string=|a", "mode:string=a|", "mode:string=a||b", "mode:string=a|b c", "mode:string=a|2d",
        "mode:string=a|b_", "mode:string=a|a", "mode:string=a|A", "mode:string=half_pixel|half-pixel", "mode:int=1|2"})
    EXPECT_FALSE(parseAttribute(text)) << text;
  EXPECT_EQ(parseAttribute("mode:string=a|b c").error().message(),
            "--attr mode: a choice is a word such as half_pixel, got 'b c' in 'a|b c'");
  EXPECT_EQ(parseAttribute("mode:string=a|A").error().message(),
            "--attr mode: the choices must differ by more than case and '_', got 'a|A'");
}

std::string refusal(const Spec& spec) {
  const auto whole = completed(spec);
  return whole ? checkNames(*whole).message() : whole.error().message();
}

TEST(CompletePorts, GivesEachInputItsType) {
  const Spec spec = *completed(formOf("custom", {"x:T=f32|f16", "a:T", "b:=a?", "axes:contents?"}));
  EXPECT_EQ(spec.inputs[1].dtypes, "f32|f16");
  EXPECT_EQ(spec.inputs[1].same, "x") << "a type variable is the input that declares it";
  EXPECT_EQ(spec.inputs[2].same, "x") << "so is the type of an input that has it";
  EXPECT_EQ(spec.inputs[3].dtypes, "index");
  EXPECT_EQ(spec.inputs[0].variable, "");
  EXPECT_EQ(completed(formOf("rowwise", {"x:T", "scale:T"}))->inputs[1].dtypes, "floats");
}

TEST(CompletePorts, RefusesInputsThatDoNotFit) {
  EXPECT_EQ(refusal(formOf("custom", {"x", "y:=z"})),
            "--input y: '=z' expects an input before it, or its type variable");
  EXPECT_EQ(refusal(formOf("custom", {"x:=x"})), "--input x: '=x' expects an input before it, or its type variable");
  EXPECT_EQ(refusal(formOf("custom", {"x:T=f32", "b:T=f16"})), "--input b: T is the type of x already, write b:T");
  EXPECT_EQ(refusal(formOf("rowwise", {"x?"})), "--input x: kind rowwise needs this input, leave '?' away");
  EXPECT_EQ(refusal(formOf("matmul", {"a", "b?"})), "--input b: kind matmul needs this input, leave '?' away");
  EXPECT_EQ(refusal(formOf("rowwise", {"x", "scale?", "bias"})),
            "--input bias: follows an optional input, so it must be optional: add '?'");
  EXPECT_EQ(refusal(formOf("elementwise", {"x", "axes:i64:contents"})),
            "--input axes: contents are for further inputs of the kinds reduce, layout, copy, custom, got one of "
            "kind elementwise");
  EXPECT_NE(refusal(formOf("custom", {"axes:i64:contents"})).find("got the first of kind custom"), std::string::npos);
  EXPECT_EQ(refusal(formOf("layout", {"x", "b"})),
            "--input b: further inputs of kind layout are read at resize, write b:i64:contents");
  EXPECT_EQ(refusal(formOf("layout", {"x", "b:f32:contents"})), "--input b: contents are i64 or i32, got f32");
  EXPECT_EQ(refusal(formOf("rowwise", {"x:f32", "scale:f16"})),
            "--input scale: inputs of kind rowwise are of one type, got f32 and f16");
  EXPECT_NE(refusal(formOf("custom", {"x", "b:f33?"})).find("got 'f33'"), std::string::npos);
  Spec clash = formOf("custom", {"x", "bias?"});
  clash.attributes = {{"has_bias", "bool", ""}};
  EXPECT_NE(refusal(clash).find("says has_bias for an optional input"), std::string::npos);
  clash = formOf("custom", {"x"});
  clash.attributes = {*parseAttribute("cpu:string=a|b")};
  EXPECT_NE(refusal(clash).find("the enum's name is used"), std::string::npos);
}

TEST(CompletePorts, RowsAreForRowwise) {
  Spec spec = formOf("reduce", {"x"});
  spec.rows = "groups";
  EXPECT_EQ(refusal(spec), "--rows is for kind rowwise, got kind reduce");
  spec = formOf("rowwise", {"x"});
  spec.rows = "column";
  EXPECT_EQ(refusal(spec), "--rows: expected one of axis, from-axis, groups, got 'column'");
  spec.rows = "groups";
  EXPECT_EQ(completed(spec)->attributes[0].name, "num_groups");
  EXPECT_EQ(refusal(spec), "");
}

TEST(SpecJson, HasEveryForm) {
  for (const Form& form : everyForm()) {
    const auto whole = completed(form.spec);
    ASSERT_TRUE(whole) << form.name << ": " << whole.error().message();
    const auto asWritten = specFromJson(specToJson(form.spec).dump());
    ASSERT_TRUE(asWritten) << form.name << ": " << asWritten.error().message();
    EXPECT_EQ(*completed(*asWritten), *whole) << form.name;
    const auto back = specFromJson(specToJson(*whole).dump());
    ASSERT_TRUE(back) << form.name << ": " << back.error().message();
    EXPECT_EQ(*back, *whole) << form.name;
    EXPECT_EQ(*completed(*back), *whole) << form.name;
  }
}

TEST(SpecJson, SaysWhatIsWrongWithAForm) {
  const auto message = [](const std::string& key, const std::string& item) {
    return specFromJson(R"({"version": 1, "name": "X", "kind": "custom", ")" + key + "\": [" + item + "]}")
        .error()
        .message();
  };
  EXPECT_EQ(message("inputs", R"({"name": "x", "optional": 1})"), "spec: 'optional' must be true or false, got 1");
  EXPECT_EQ(message("inputs", R"({"name": "x", "contents": "yes"})"),
            "spec: 'contents' must be true or false, got \"yes\"");
  EXPECT_EQ(message("inputs", R"({"name": "x", "same": 3})"), "spec: 'same' must be a string, got 3");
  EXPECT_EQ(message("inputs", R"({"name": "x", "variable": "Type"})"),
            "spec: 'variable' must be one capital letter, got 'Type'");
  EXPECT_NE(message("inputs", R"({"name": "x", "values": true})").find("unknown key 'values'"), std::string::npos);
  EXPECT_NE(message("outputs", R"({"name": "y", "optional": true})").find("unknown key 'optional'"), std::string::npos);
  EXPECT_NE(message("attrs", R"({"name": "m", "type": "int", "choices": ["a", "b"]})").find("of a string"),
            std::string::npos);
  EXPECT_NE(message("attrs", R"({"name": "m", "type": "string", "choices": ["a"]})").find("two words or more"),
            std::string::npos);
  EXPECT_NE(message("attrs", R"({"name": "m", "type": "string", "choices": ["a", "b|c"]})").find("of a string"),
            std::string::npos);
  EXPECT_EQ(message("attrs", R"({"name": "m", "type": "string", "default": "b", "choices": ["a", "b"]})"),
            "spec: the default is the first of 'choices', expected 'a', got 'b'");
  EXPECT_EQ(message("attrs", R"({"name": "m", "type": "string", "choices": "a"})"),
            "spec: 'choices' must be a list, got \"a\"");
}

/// The text that a file of the operator would have.
std::string textOf(const Spec& spec, const std::string& path) {
  const ScratchTree scratch;
  const auto plan = planNew(scratch.tree(), Templates(), spec, false);
  EXPECT_TRUE(plan) << plan.error().message();
  for (const FileChange& change : *plan)
    if (change.path == path) return *change.after;
  ADD_FAILURE() << spec.kind << " has no " << path;
  return "";
}

std::string textOf(const std::string& form, const std::string& path) {
  for (const Form& each : everyForm())
    if (each.name == form) return textOf(each.spec, path);
  ADD_FAILURE() << "there is no form " << form;
  return "";
}

void expectIn(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in\n" << text;
}

TEST(Summary, GoesToTheCardAndThePage) {
  Spec spec{.name = "Thing", .kind = "rowwise", .summary = "rows of mean 0; and <more>"};
  EXPECT_EQ(*specFromJson(specToJson(*completed(spec)).dump()), *completed(spec));
  const std::string card = textOf(spec, "ops/thing/thing.cpp"), page = textOf(spec, "ops/thing/thing.md");
  EXPECT_NE(card.find(".summary = \"rows of mean 0; and <more>\""), std::string::npos) << card;
  EXPECT_EQ(card.find("SCAFFOLD"), std::string::npos) << card;
  EXPECT_NE(page.find("\n\nRows of mean 0; and <more>. SCAFFOLD: where that is defined"), std::string::npos) << page;

  const auto message = [&](const std::string& kind, const std::string& summary) {
    return completed({.name = "X", .kind = kind, .summary = summary}).error().message();
  };
  for (const char* text : {"a\nb", "a \"b\"", "a\\n", "Ends.", "\t"})
    EXPECT_NE(message("custom", text).find("--summary: expected one line without"), std::string::npos) << text;
  EXPECT_EQ(message("unary", "a"), "--summary: kind unary is a row, its text is in ops/unary/unary.md");
}

TEST(Generated, ChoicesAreAnEnumEverywhere) {
  const std::string schema = textOf("choices", "ops/thing/thing.fbs");
  expectIn(schema, "enum ThingMode : byte {");
  expectIn(schema, "  SameUpper,");
  expectIn(schema, "mode: ThingMode = Nearest;");
  expectIn(textOf("choices", "ops/thing/thing_onnx.cpp"), "{\"SAME_UPPER\", ThingMode::SameUpper}");
  expectIn(textOf("choices", "ops/thing/thing_vulkan.cpp"), "push.mode = static_cast<int64_t>(params_.mode);");
  expectIn(textOf("choices", "shaders/thing/thing.comp"), "uint mode;  // 0 nearest, 1 SAME_UPPER");
}

TEST(Generated, OnnxRulesDeclareTheirAttributes) {
  Spec spec{.name = "Thing", .kind = "elementwise"};
  for (const char* text : {"alpha:float=0.25", "steps:int=3", "label:string=abc", "sizes:ints"})
    spec.attributes.push_back(*parseAttribute(text));
  const std::string rules = textOf(spec, "ops/thing/thing_onnx.cpp");
  expectIn(rules, "#include \"engine/import/onnx/onnx_fields.h\"\n");
  for (const char* field : {"\"alpha\", &Params::alpha", "\"steps\", &Params::steps",
                            "\"label\", &Params::label, \"abc\"", "\"sizes\", &Params::sizes"})
    expectIn(rules, fmt::format("field({})", field));
  expectIn(rules, "\n  rules.add(\"Thing\", nodeOf<Params>(\"Thing\", fields));\n");
  EXPECT_EQ(rules.find("Attribute("), std::string::npos) << "a copy by hand drops bits\n" << rules;

  spec.onnx = "com.acme::Other";
  expectIn(textOf(spec, "ops/thing/thing_onnx.cpp"), "rules.note(\"com.acme::Other\", {\"Thing\"});");
  EXPECT_EQ(rules.find("rules.note("), std::string::npos) << "its own name needs no note\n" << rules;

  const std::string groups = textOf("groups", "ops/thing/thing_onnx.cpp");
  expectIn(groups, "field(required(\"num_groups\"), &Params::num_groups)");
  expectIn(groups, "only<Params>(\"stash_type\", 1)");
}

TEST(Generated, CardsSayWhatInputsAre) {
  const std::string card = textOf("contents", "ops/thing/thing.cpp");
  expectIn(card, "{\"sizes\", DTypeSet{DType::Int64}, Port::Kind::Required, true}");
  expectIn(card, "{\"axes\", kIndexTypes, Port::Kind::Optional, true}");
  expectIn(card, "requireSameType(args, 1, \"like\", 0)");
  expectIn(card, "requireList(args, 3, \"axes\")");
  expectIn(textOf("columns", "ops/thing/thing.cpp"), "{\"bias\", kFloats, Port::Kind::Optional}");
  expectIn(textOf("from_axis", "ops/thing/thing.cpp"),
           "requireParameter(args, 1, \"scale\", Shape(shape.begin() + axis, shape.end()))");
  expectIn(textOf("groups", "ops/thing/thing.cpp"), "requireParameter(args, 2, \"bias\", Shape{shape[1]})");
}

TEST(Generated, KernelsOfCustomGuardFactorsThatMayBeAbsent) {
  expectIn(textOf("table", "ops/thing/thing.cpp"), "OPKIT_TRY(requireSameType(args, 3, \"gain\", 0));");
  expectIn(textOf("table", "ops/thing/thing.cpp"), "OPKIT_TRY(requireList(args, 1, \"sizes\"));");
  expectIn(textOf("table", "ops/thing/thing.cpp"), "if (args.hasInput(4) && args.input(4).elements() != ");
  const std::string shader = textOf("table", "shaders/thing/thing.comp");
  expectIn(shader, "layout(binding = 2) readonly buffer Shares");
  expectIn(shader, "layout(binding = 4) writeonly buffer Y");
  expectIn(shader, "sum * (push.has_scale != 0u ? scale[plane] : 1.0) * (push.has_shares != 0u ? shares[plane] : 1.0)");
  EXPECT_EQ(shader.find("gain"), std::string::npos) << "kernels bind f32 inputs alone";
  expectIn(textOf("table", "ops/thing/thing.cases.json"), R"(["T[3,5,7]", "i64[2]"], ["T[2,1]", "i64[2]"])");
}

TEST(Choices, OfScatterAreTheEnginesCombine) {
  const Spec spec = *completed({.name = "Thing", .kind = "scatter"});
  const std::vector<std::string>& choices = spec.attributes[1].choices;
  EXPECT_EQ(choices, (std::vector<std::string>{"none", "add", "mul", "max", "min"}));
  const float merged[] = {3, 5, 6, 3, 2};  // of 2 and 3, by number of the choice
  for (size_t i = 0; i < choices.size(); ++i) EXPECT_EQ(combined<float>(static_cast<Combine>(i), 2, 3), merged[i]);
  EXPECT_EQ(spec.inputs[2].same, "data");
  Spec other{.name = "Thing", .kind = "scatter", .attributes = {*parseAttribute("reduction:string=add|none")}};
  EXPECT_EQ(refusal(other), "--attr reduction: kind scatter needs the choices none|add|mul|max|min, got 'add|none'");
  other.attributes = {*parseAttribute("reduction:string=add")};
  EXPECT_NE(refusal(other).find("got 'add'"), std::string::npos);
  other.attributes = {*parseAttribute("reduction:string=none|add|mul|max|min")};
  EXPECT_EQ(refusal(other), "");
}

TEST(Generated, PagesSayWhichInputsMayBeAbsent) {
  expectIn(textOf("contents", "ops/thing/thing.md"),
           "**Inputs.** `sizes` is read at resize; `axes` is read at resize and may be absent.");
  expectIn(textOf("columns", "ops/thing/thing.md"), "**Inputs.** `bias` may be absent.");
  EXPECT_EQ(textOf("groups", "ops/thing/thing.md").find("**Inputs.**"), std::string::npos);
}

TEST(Generated, ErrorCasesHaveEveryInputThatIsRequired) {
  expectIn(textOf("groups", "ops/thing/thing.cases.json"),
           R"(["f32[2,3]", "f32[2]", "f32[3]"], "error": "scale must be [3])");
  expectIn(textOf("columns", "ops/thing/thing.cases.json"), R"(["f32[2,3]", "f32[2]"], "error": "scale must be [3])");
}

}  // namespace
}  // namespace opkit::scaffold
