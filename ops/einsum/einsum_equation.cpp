#include <algorithm>
#include <cctype>

#include "ops/einsum/einsum.h"

namespace opkit::ops::einsum {
namespace {

constexpr std::string_view kArrow = "->", kEllipsis = "...";

bool isDots(Label label) { return label >= kDots; }

/// "ij,jk" as "ij" and "jk".
std::vector<std::string> termsOf(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text)
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  return terms;
}

/// The labels of a term with `dots` axes in the place of its ellipsis.
Result<Labels> labelsOf(const std::string& term, size_t dots) {
  Labels labels;
  bool hasEllipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(term[i]);
      continue;
    }
    if (term.compare(i, kEllipsis.size(), kEllipsis) != 0 || hasEllipsis)
      return Status::invalidArgument("a term of the equation must be letters and at most one '...', got '{}'", term);
    hasEllipsis = true;
    for (size_t k = dots; k-- > 0;) labels.push_back(kDots + static_cast<Label>(k));
    i += kEllipsis.size() - 1;
  }
  return labels;
}

/// The labels of operand `i`: its ellipsis has the axes that its letters leave.
Result<Labels> labelsOfOperand(const std::string& term, size_t i, const Shape& shape) {
  OPKIT_ASSIGN(const Labels letters, labelsOf(term, 0));
  const bool hasEllipsis = term.find('.') != std::string::npos;
  if (letters.size() == shape.size() || (hasEllipsis && letters.size() < shape.size()))
    return labelsOf(term, shape.size() - letters.size());
  return Status::invalidArgument("term '{}' of the equation needs rank {}{}, input {} is {}", term, letters.size(),
                                 hasEllipsis ? " or more" : "", i, toString(shape));
}

/// Without an output term: the axes of ellipses, then the letters that stand once, in the order of their codes.
Labels impliedOutput(const std::vector<Labels>& operands) {
  Labels dots, letters, once;
  for (const Labels& operand : operands)
    for (const Label label : operand) {
      Labels& list = isDots(label) ? dots : letters;
      list.push_back(label);
    }
  std::ranges::sort(dots, std::greater());
  dots.erase(std::unique(dots.begin(), dots.end()), dots.end());
  std::ranges::sort(letters);
  for (const Label letter : letters)
    if (std::ranges::count(letters, letter) == 1) once.push_back(letter);
  dots.insert(dots.end(), once.begin(), once.end());
  return dots;
}

std::string nameOf(Label label) {
  return isDots(label) ? std::string(kEllipsis) : std::string(1, static_cast<char>(label));
}

/// Extents that are equal or 1; in one operand they are equal.
Status addExtent(Equation& equation, Label label, int64_t extent) {
  const auto known = std::ranges::find(equation.extents, label, &std::pair<Label, int64_t>::first);
  if (known == equation.extents.end()) {
    equation.extents.emplace_back(label, extent);
    return Status::ok();
  }
  if (known->second == 1) known->second = extent;
  if (extent == 1 || extent == known->second) return Status::ok();
  return Status::invalidArgument("the extents of '{}' must be equal or 1, got {} and {}", nameOf(label), known->second,
                                 extent);
}

Status addOperand(Equation& equation, const Labels& labels, const Shape& shape) {
  for (size_t d = 0; d < labels.size(); ++d) {
    const auto first = static_cast<size_t>(std::ranges::find(labels, labels[d]) - labels.begin());
    if (shape[first] != shape[d])
      return Status::invalidArgument("the axes '{}' of one operand must be equal, got {}", nameOf(labels[d]),
                                     toString(shape));
    OPKIT_TRY(addExtent(equation, labels[d], shape[d]));
  }
  equation.operands.push_back(labels);
  return Status::ok();
}

Status checkOutput(const Equation& equation) {
  for (const Label label : equation.output) {
    if (std::ranges::count(equation.output, label) > 1)
      return Status::invalidArgument("the output of the equation must have each letter once, '{}' is there twice",
                                     nameOf(label));
    if (std::ranges::find(equation.extents, label, &std::pair<Label, int64_t>::first) == equation.extents.end())
      return Status::invalidArgument("the output of the equation has '{}', which no operand has", nameOf(label));
  }
  return Status::ok();
}

}  // namespace

int64_t Equation::extentOf(Label label) const {
  return std::ranges::find(extents, label, &std::pair<Label, int64_t>::first)->second;
}

Shape Equation::shapeOf(const Labels& labels) const {
  Shape shape;
  for (const Label label : labels) shape.push_back(extentOf(label));
  return shape;
}

Result<Equation> readEquation(const std::string& text, const std::vector<Shape>& shapes) {
  std::string dense = text;
  std::erase(dense, ' ');
  const size_t arrow = dense.find(kArrow);
  const std::vector<std::string> terms = termsOf(dense.substr(0, arrow));
  if (terms.size() != shapes.size())
    return Status::invalidArgument("the equation '{}' has {} terms, there are {} inputs", text, terms.size(),
                                   shapes.size());
  Equation equation;
  size_t dots = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    OPKIT_ASSIGN(const Labels labels, labelsOfOperand(terms[i], i, shapes[i]));
    OPKIT_TRY(addOperand(equation, labels, shapes[i]));
    dots = std::max(dots, static_cast<size_t>(std::ranges::count_if(labels, isDots)));
  }
  if (arrow == std::string::npos) {
    equation.output = impliedOutput(equation.operands);
    return equation;
  }
  OPKIT_ASSIGN(equation.output, labelsOf(dense.substr(arrow + kArrow.size()), dots));
  OPKIT_TRY(checkOutput(equation));
  return equation;
}

}  // namespace opkit::ops::einsum
