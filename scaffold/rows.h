// Rows: operators that are one row of a family (unary, binary) instead of a folder of their own.
//
// A row is a handful of blocks of text, each put at a fixed place of one of the family's files: the table, the ONNX
// rules, the cases, the page. Taking the blocks out again gives the files back to the byte.
#pragma once

#include <kainjow/mustache.hpp>

#include "scaffold/plan.h"
#include "scaffold/spec.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

/// The changes that add the row; none when every block is there already. InvalidArgument when the row exists with
/// another text, or a file has lost the place where rows go.
Result<Plan> planRow(const Tree& tree, const Templates& templates, const Spec& spec, kainjow::mustache::data& context);
/// The file without the block; nothing when the block is not in it as it was written.
std::optional<std::string> withoutBlock(const std::string& text, const std::string& block);
/// The file of a family without what mentions the operator, edited or not; nothing for a file that is no family's.
std::optional<std::string> withoutMentions(const std::string& path, const std::string& text, const std::string& type);

}  // namespace opkit::scaffold
