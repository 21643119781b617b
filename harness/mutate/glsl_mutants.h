// Mutants of a GLSL file: small edits that a careless author might make.
#pragma once

#include <string>
#include <vector>

namespace opkit::harness {

struct Mutant {
  size_t line = 0;     // from 1
  std::string kind;    // "bound", "operator", "guard", "barrier", "constant", "component", "function", "logic"
  std::string before;  // the line, trimmed
  std::string after;
  std::string text;  // of the whole file

  /// "if (row >= rows) return; => (dropped)": matched with marks of equivalent mutants.
  std::string change() const { return before + " => " + (after.empty() ? "(dropped)" : after); }
};

/// All of them, in the order of the lines. Comments, preprocessor lines and interface declarations are not mutated.
std::vector<Mutant> mutantsOf(const std::string& glsl);

/// At most `limit` of them, spread evenly over the kinds and lines; 0 is all.
std::vector<Mutant> sample(std::vector<Mutant> mutants, size_t limit);

}  // namespace opkit::harness
