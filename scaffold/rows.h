// Rows: operators that are one row of a family (unary, binary) instead of a separate folder.
//
// A row is a few blocks of text, each inserted at a fixed place of one of the family's files: the table of the
// kernels, the oracle, the ONNX rules, the cases, the page. Removing the blocks restores the files to the byte.
#pragma once

#include <kainjow/mustache.hpp>

#include "scaffold/plan.h"
#include "scaffold/spec.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

/// The changes that add the row; none if every block exists already. InvalidArgument if the row exists with another
/// text, or a file has lost the insertion point.
Result<Plan> planRow(const Tree& tree, const Templates& templates, const Spec& spec, kainjow::mustache::data& context);
/// The file without the block; nullopt if the block is not in it unchanged.
std::optional<std::string> withoutBlock(const std::string& text, const std::string& block);
/// The file of a family without the lines for the operator, edited or not; nullopt for a file of no family.
std::optional<std::string> withoutMentions(const std::string& path, const std::string& text, const std::string& type);

}  // namespace opkit::scaffold
