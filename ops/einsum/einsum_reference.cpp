// Einsum as it is defined: for each output element the sum over every value of the letters that it does not have.
#include <cmath>
#include <map>

#include "engine/op/oracle_elements.h"
#include "ops/einsum/einsum_parts.h"

namespace opkit::ops::einsum {
namespace {

/// A term with one character per axis: the letters, and for the axes of an ellipsis the digits ...3210.
std::string axesOf(const std::string& term, size_t rank) {
  std::string axes;
  const auto letters = static_cast<size_t>(std::ranges::count_if(term, [](char c) { return c != '.' && c != ' '; }));
  for (const char c : term) {
    if (c == ' ') continue;
    if (c != '.')
      axes += c;
    else if (axes.empty() || (axes.back() != '0' && axes.back() != '.'))
      for (size_t k = rank - letters; k > 0; --k) axes += static_cast<char>('0' + k - 1);
  }
  return axes;
}

struct Names {
  std::vector<std::string> operands;
  std::string output;
  std::string summed;
  std::map<char, int64_t> extents;
};

Names namesOf(const std::string& equation, const OracleArgs& args) {
  Names names;
  std::map<char, int> uses;
  const size_t arrow = equation.find('-');
  std::string left = equation.substr(0, arrow) + ",";
  size_t dots = 0;
  for (const OracleTensor* input : args.inputs) {
    const size_t comma = left.find(',');
    const std::string axes = axesOf(left.substr(0, comma), input->shape().size());
    left.erase(0, comma + 1);
    for (size_t d = 0; d < axes.size(); ++d) {
      int64_t& extent = names.extents.emplace(axes[d], 1).first->second;
      if (extent == 1) extent = input->shape()[d];
      ++uses[axes[d]];
      if (axes[d] <= '9') dots = std::max(dots, static_cast<size_t>(axes[d] - '0') + 1);
    }
    names.operands.push_back(axes);
  }
  if (arrow != std::string::npos) {
    const std::string term = equation.substr(arrow + 2);
    const auto letters = static_cast<size_t>(std::ranges::count_if(term, [](char c) { return c != '.' && c != ' '; }));
    names.output = axesOf(term, letters + dots);
  } else {
    for (size_t k = dots; k > 0; --k) names.output += static_cast<char>('0' + k - 1);
    for (const auto& [name, count] : uses)  // in the order of their codes
      if (name > '9' && count == 1) names.output += name;
  }
  for (const auto& [name, extent] : names.extents)
    if (names.output.find(name) == std::string::npos) names.summed += name;
  return names;
}

Shape extentsOf(const Names& names, const std::string& axes) {
  Shape shape;
  for (const char axis : axes) shape.push_back(names.extents.at(axis));
  return shape;
}

/// The places of one element of each operand, where each name has a value.
std::vector<size_t> placesAt(const Names& names, const OracleArgs& args, const std::map<char, int64_t>& values) {
  std::vector<size_t> places;
  for (size_t i = 0; i < names.operands.size(); ++i) {
    const Shape& shape = args.input(i).shape();
    Coordinates at;
    for (size_t d = 0; d < shape.size(); ++d) at.push_back(shape[d] == 1 ? 0 : values.at(names.operands[i][d]));
    places.push_back(elementAt(shape, at));
  }
  return places;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const Names names = namesOf(args.params<EinsumParams>().equation, args);
  OracleTensor& y = args.output();
  const Shape summed = extentsOf(names, names.summed);
  y.terms = elementCount(summed) + std::max<int64_t>(static_cast<int64_t>(args.inputs.size()) - 2, 0);
  if (y.isReal()) y.magnitude.assign(y.real.size(), 0.0);
  std::map<char, int64_t> values;
  forEachCoordinates(extentsOf(names, names.output), [&](size_t i, const Coordinates& out) {
    for (size_t d = 0; d < out.size(); ++d) values[names.output[d]] = out[d];
    uint64_t whole = 0;
    forEachCoordinates(summed, [&](size_t, const Coordinates& in) {
      for (size_t d = 0; d < in.size(); ++d) values[names.summed[d]] = in[d];
      const std::vector<size_t> places = placesAt(names, args, values);
      double term = 1;
      uint64_t wholeTerm = 1;
      for (size_t k = 0; k < places.size(); ++k)
        if (y.isReal())
          term *= args.input(k).real[places[k]];
        else
          wholeTerm *= static_cast<uint64_t>(args.input(k).integer[places[k]]);
      whole += wholeTerm;
      if (!y.isReal()) return;
      y.real[i] += term;
      y.magnitude[i] += std::fabs(term);
    });
    if (!y.isReal()) y.integer[i] = static_cast<int64_t>(whole);
  });
  return Status::ok();
}

}  // namespace opkit::ops::einsum
