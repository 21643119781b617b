// Every form of operator that `op-scaffold new` writes, for tests: each kind as it is, and kinds with inputs, rows and
// parameters of further forms.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "scaffold/kinds.h"

namespace opkit::scaffold {

struct Form {
  std::string name;
  Spec spec;
};

/// Names the form in the output of GoogleTest.
inline void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

/// "x:T=floats" and so on; REQUIRES inputs that parse.
inline Spec formOf(const std::string& kind, const std::vector<std::string>& inputs) {
  Spec spec{.name = "Thing", .kind = kind};
  for (const std::string& input : inputs) spec.inputs.push_back(*parsePort(input));
  return spec;
}

inline std::vector<Form> everyForm() {
  std::vector<Form> forms;
  for (const Kind& kind : kinds()) forms.push_back({kind.name, {.name = "Thing", .kind = kind.name}});
  forms.push_back({"columns", formOf("rowwise", {"x:T=floats", "scale:T", "bias:T?"})});
  forms.push_back({"from_axis", formOf("rowwise", {"x", "scale:=x?", "bias:=x?"})});
  forms.back().spec.rows = "from-axis";
  forms.push_back({"groups", formOf("rowwise", {"x:f32", "scale:f32", "bias:f32"})});
  forms.back().spec.rows = "groups";
  forms.push_back({"choices", formOf("elementwise", {"x", "weight?"})});
  forms.back().spec.attributes = {*parseAttribute("mode:string=nearest|SAME_UPPER"), *parseAttribute("slope:float=2")};
  forms.push_back({"contents", formOf("copy", {"x:any", "like:=x", "sizes:i64:contents", "axes:contents?"})});
  forms.push_back({"table", formOf("custom", {"x", "sizes:i64:contents", "scale?", "gain:=x?", "shares:f32?"})});
  forms.back().spec.attributes = {*parseAttribute("mode:string=nearest|linear")};
  forms.push_back({"reduce_axes", formOf("reduce", {"x", "axes:i64?:contents"})});
  forms.push_back({"layout_sizes", formOf("layout", {"x", "sizes:i64:contents"})});
  return forms;
}

}  // namespace opkit::scaffold
