// Faults in the inverse of a rule: each must show when the form is read back.
#include <gtest/gtest.h>

#include <functional>

#include "harness/cases/case_file.h"
#include "harness/export/exported_case.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

struct Fault {
  const char* what;
  const char* name;  // of ONNX
  const char* id;    // of a case on which the fault shows
  std::function<void(OnnxForm&)> spoil;
};

/// The rules of the build, where forms of one name have a fault.
OnnxRules withFault(const Fault& fault) {
  OnnxRules rules;
  for (const auto& [name, known] : ops::builtinOnnxRules().names())
    for (const OnnxRules::Entry& entry : known.entries) {
      OnnxRule rule = entry.rule;
      if (name == fault.name && rule.inverse.write)
        rule.inverse.write = [write = rule.inverse.write, spoil = fault.spoil](const OpNode& node,
                                                                               OnnxForm& form) -> Status {
          OPKIT_TRY(write(node, form));
          spoil(form);
          return Status::ok();
        };
      rules.add(name, entry.attributes, std::move(rule), entry.firstOpset, entry.lastOpset);
    }
  return rules;
}

ExportedGroup exported(const char* id, const OnnxRules& rules) {
  const auto c = parseCaseId(id);
  EXPECT_TRUE(c) << c.error().toString();
  return exportGroup({{*c}}, ops::builtinOps(), rules, {});
}

void drop(OnnxForm& form, const char* attribute) { form.attributes.erase(attribute); }

int64_t& integer(OnnxForm& form, const char* attribute) {
  return std::get<int64_t>(form.attributes.try_emplace(attribute, int64_t{0}).first->second);
}

const Fault kFaults[] = {
    {"a default that ONNX does not have", "Softmax", R"(Softmax{"axis":1}/f32[3,5,7]/normal/seed=7)",
     [](OnnxForm& form) { drop(form, "axis"); }},
    {"a sign", "LeakyRelu", R"(LeakyRelu{"alpha":0.25}/f32[3,5]/normal/seed=7)",
     [](OnnxForm& form) { std::get<float>(form.attributes.at("alpha")) *= -1; }},
    {"an axis counted from elsewhere", "Concat", R"(Concat{"axis":0}/f32[2,3,3],f32[2,3,3]/normal/seed=7)",
     [](OnnxForm& form) { integer(form, "axis") += 1; }},
    {"another type", "Cast", R"(Cast{"to":"i32"}/f32[3,5]/normal/seed=7)",
     [](OnnxForm& form) { integer(form, "to") = 7; }},
    {"an optional input that is lost", "Conv", R"(Conv/f32[1,2,5,5],f32[3,2,3,3],f32[3]/normal/seed=7)",
     [](OnnxForm& form) { form.inputs.resize(2); }},
    {"inputs exchanged", "Sub", R"(Sub/f32[3,5],f32[3,5]/normal/seed=7)",
     [](OnnxForm& form) { std::swap(form.inputs[0], form.inputs[1]); }},
    {"a list turned round", "Conv", R"(Conv{"pads":[0,1,2,3]}/f32[1,2,5,5],f32[3,2,3,3]/normal/seed=7)",
     [](OnnxForm& form) { std::ranges::reverse(std::get<std::vector<int64_t>>(form.attributes.at("pads"))); }},
    {"another word", "Resize",
     R"(Resize{"mode":"Linear"}/f32[1,1,3,3],-,f32[4]/designed/seed=7/data=[null,null,{"values":[1,1,2,2]}])",
     [](OnnxForm& form) { form.attributes["mode"] = "nearest"; }},
    {"another name", "Max", R"(Max/f32[3,5],f32[3,5]/normal/seed=7)", [](OnnxForm& form) { form.type = "Min"; }},
    {"another version", "Hardmax", R"(Hardmax{"axis":1}/f32[2,3,4]/normal/seed=7)",
     [](OnnxForm& form) { form.opset = 1; }},
    {"another constant", "Clip", R"(Clip{"alpha":-1,"beta":2}/f32[3,5]/normal/seed=7)",
     [](OnnxForm& form) {
       if (form.inputs.size() == 3) std::swap(form.inputs[1], form.inputs[2]);
     }},
    {"a flag that is not set", "Mod", R"(FMod/f32[3,5],f32[3,5]/normal/seed=7)",
     [](OnnxForm& form) { drop(form, "fmod"); }},
    {"an attribute of another type", "Elu", R"(Elu{"alpha":2}/f32[3,5]/normal/seed=7)",
     [](OnnxForm& form) { form.attributes["alpha"] = int64_t{2}; }},
    {"slices along another axis", "NonZero", R"(NonZero/f32[3,5]/designed/seed=7/data=[{"values":[1,0,2]}])",
     [](OnnxForm& form) { form.outputs[0].axis = 0; }},
};

TEST(PlantedForms, CasesWithoutAFaultHaveForms) {
  for (const Fault& fault : kFaults) {
    const ExportedGroup group = exported(fault.id, ops::builtinOnnxRules());
    EXPECT_TRUE(group.left.empty()) << fault.id << ": " << group.left[0].second;
  }
}

TEST(PlantedForms, EachFaultIsFound) {
  for (const Fault& fault : kFaults) {
    const ExportedGroup group = exported(fault.id, withFault(fault));
    EXPECT_EQ(group.left.size(), 1u) << fault.what << " in " << fault.name << " was not found by " << fault.id;
    if (group.left.empty()) continue;
    // Reasons of the specification would hide a fault behind a case that is left out.
    const std::string& reason = group.left[0].second;
    const bool isLoud = reason.starts_with("ONNX means something else: ") ||
                        reason.find("in the specification") != std::string::npos ||
                        reason.find("slices of axis") != std::string::npos;
    EXPECT_TRUE(isLoud) << fault.what << ": " << reason;
  }
}

}  // namespace
}  // namespace opkit::harness
