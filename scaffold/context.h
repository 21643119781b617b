// The context of templates, by subject; contextOf (generate.h) puts it together.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>
#include <vector>

#include "scaffold/spec.h"

namespace opkit::scaffold {

/// "\"a\", \"b\"".
std::string quoted(const std::vector<std::string>& words);

/// Parameters: lists for the schema, the ONNX rule and the push constants.
void setAttributes(kainjow::mustache::data& context, const Spec& spec);
/// Inputs and outputs: lists for the card, the shape rule, the kernels and the cases.
void setPorts(kainjow::mustache::data& context, const Spec& spec);
/// Of kind rowwise: which elements are a row, and which column a parameter has for each.
void setRows(kainjow::mustache::data& context, const Spec& spec);

}  // namespace opkit::scaffold
