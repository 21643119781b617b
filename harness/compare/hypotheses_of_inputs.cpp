// Imitator: inputs that are left out, exchanged, read at other indices, or without their ends.
#include <cmath>

#include "harness/compare/imitator.h"

namespace opkit::harness {
namespace {

constexpr int64_t kVectorElements = 1 << 21;  // computed in all, when a vector is tried one element at a time
constexpr int64_t kLongestVector = 96;

std::string ordinal(int64_t count) { return count == 1 ? "element" : fmt::format("{} elements", count); }

}  // namespace

/// A NaN or an infinity among the inputs that is taken for another value.
void Imitator::specialInputs() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < e_.inputs.size(); ++i) {
    if (!e_.inputs[i] || !isFloat(e_.inputs[i]->desc.dtype)) continue;
    const auto replaced = [](auto&& isOne, double value) {
      return [=](OracleTensor& t) {
        for (double& v : t.real) v = isOne(v) ? value : v;
      };
    };
    const auto isNaN = [](double v) { return std::isnan(v); };
    for (const double value : {kInfinity, -kInfinity, 0.0})
      tryInput("special", fmt::format("a NaN in {} is taken for {}", nameOf(i), value), i, replaced(isNaN, value));
    const auto isInfinite = [](double v) { return std::isinf(v); };
    tryInput("special", fmt::format("an infinity in {} is taken for NaN", nameOf(i)), i,
             replaced(isInfinite, std::numeric_limits<double>::quiet_NaN()));
    tryInput("special", fmt::format("an infinity in {} is taken for zero", nameOf(i)), i, replaced(isInfinite, 0.0));
  }
}

/// An input left out, read as if it had one element, negated, or rounded to fewer bits.
void Imitator::wholeInputs() {
  for (size_t i = e_.inputs.size(); i-- > 0;) {
    if (!e_.inputs[i] || e_.inputs[i]->desc.elements() == 0) continue;
    const std::string name = nameOf(i);
    const auto filled = [](auto value) {
      return [value](OracleTensor& t) { visitValues(t, [&](auto& values) { std::ranges::fill(values, value); }); };
    };
    tryInput("input", name + " is left out: the output is right with zeros for it", i, filled(0));
    tryInput("input", name + " is left out: the output is right with ones for it", i, filled(1));
    tryInput("broadcast", fmt::format("only the first element of {} is read", name), i,
             [](OracleTensor& t) { fillWithElement(t, 0); });
    tryInput("sign", name + " has the wrong sign", i, [](OracleTensor& t) {
      visitValues(t, [](auto& values) {
        for (auto& v : values) v = -v;
      });
    });
    if (!isFloat(e_.inputs[i]->desc.dtype)) continue;
    for (const DType narrow : {DType::Float32, DType::Float16, DType::BFloat16})
      if (sizeOf(e_.inputs[i]->desc.dtype) > sizeOf(narrow))
        tryInput("half", fmt::format("{} is rounded to {} before it is used", name, opkit::nameOf(narrow)), i,
                 [narrow](OracleTensor& t) {
                   for (double& v : t.real) v = roundTo(narrow, v);
                 });
  }
}

/// Two inputs exchanged, or one read in place of the other.
void Imitator::pairs() {
  for (size_t i = 0; i < e_.inputs.size(); ++i)
    for (size_t j = 0; j < e_.inputs.size(); ++j) {
      if (i == j || !e_.inputs[i] || !e_.inputs[j] || isDone()) continue;
      HostInputs inputs = e_.inputs;
      inputs[i] = e_.inputs[j];
      if (e_.inputs[i]->desc == e_.inputs[j]->desc)
        offer("input", fmt::format("{} is read in place of {}", nameOf(j), nameOf(i)),
              outputOf(inputs, e_.description.params));
      inputs[j] = e_.inputs[i];
      if (i < j)
        offer("swapped", fmt::format("inputs {} and {} are swapped", i, j), outputOf(inputs, e_.description.params));
    }
}

/// An input read at other indices: without an axis, one step away, backwards, with two axes exchanged.
void Imitator::indices() {
  for (size_t i = e_.inputs.size(); i-- > 0;) {  // scales, zero points and masks before data
    if (!e_.inputs[i]) continue;
    const Shape& shape = e_.inputs[i]->desc.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] < 2) continue;
      const int64_t last = shape[d] - 1;
      const std::string name = nameOf(i);
      const auto read = [&](const char* kind, const std::string& how, auto&& from) {
        tryInput(kind, fmt::format("{} {}", name, how), i, [&](OracleTensor& t) { reindex(t, from); });
      };
      read("broadcast", fmt::format("is read at index 0 of axis {} only", d), [d](DimVector& at) { at[d] = 0; });
      for (const int64_t step : {1, -1})
        read("index", fmt::format("is read one element {} along axis {}", step > 0 ? "late" : "early", d),
             [=](DimVector& at) { at[d] = std::clamp<int64_t>(at[d] + step, 0, last); });
      read("index", fmt::format("is read one element late along axis {}, and around its end", d),
           [=](DimVector& at) { at[d] = at[d] == last ? 0 : at[d] + 1; });
      for (const int64_t width : {2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512, 1024}) {
        if (shape[d] <= width) break;
        read("index", fmt::format("is read at index % {} of axis {}", width, d),
             [=](DimVector& at) { at[d] %= width; });
        read("index", fmt::format("is read at the first of each {} elements of axis {}", width, d),
             [=](DimVector& at) { at[d] -= at[d] % width; });
        read("index", fmt::format("is read at index / {} of axis {}", width, d),
             [=](DimVector& at) { at[d] /= width; });
      }
      read("index", fmt::format("is read backwards along axis {}", d), [=](DimVector& at) { at[d] = last - at[d]; });
      for (size_t other = d + 1; other < shape.size(); ++other)
        if (shape[other] > 1) exchangeAxes(i, d, other);
    }
  }
}

/// The input's memory read as if two axes were exchanged.
void Imitator::exchangeAxes(size_t input, size_t a, size_t b) {
  tryInput("index", fmt::format("{} is read with axes {} and {} exchanged", nameOf(input), a, b), input,
           [&](OracleTensor& t) { exchangeStrides(t, a, b); });
}

/// The end of an axis that is not accumulated, or does not take part at all; the first element likewise.
void Imitator::tails() {
  for (size_t i = 0; i < e_.inputs.size(); ++i) {
    if (!e_.inputs[i]) continue;
    const Shape& shape = e_.inputs[i]->desc.shape;
    for (size_t d = shape.size(); d-- > 0;) {
      for (const int64_t count : lastTiles(shape[d])) {
        if (isDone()) return;
        const std::string what = fmt::format("the last {} of axis {} of {}", ordinal(count), d, nameOf(i));
        const int64_t kept = shape[d] - count;
        tryInput("tile", fmt::format("{} {} not accumulated (a tile is missing)", what, count == 1 ? "is" : "are"), i,
                 [=](OracleTensor& t) { zeroBetween(t, d, kept, kept + count); });
        tryInput("tile", fmt::format("the first {} of axis {} of {} is left out", ordinal(count), d, nameOf(i)), i,
                 [=](OracleTensor& t) { zeroBetween(t, d, 0, count); });
        const std::string cut = fmt::format("{} {} no part in the result", what, count == 1 ? "takes" : "take");
        offerCut(cut, shape[d], count, [&](size_t input, size_t axis) { return input == i && axis == d; });
        offerCut(cut, shape[d], count, [](size_t, size_t) { return true; });
      }
    }
  }
}

/// The oracle on shorter inputs. Where the output is shorter too, its end stays open.
void Imitator::offerCut(const std::string& text, int64_t extent, int64_t count,
                        const std::function<bool(size_t input, size_t axis)>& where) {
  if (isDone()) return;
  HostInputs inputs = e_.inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i])
      for (size_t d = 0; d < inputs[i]->desc.shape.size(); ++d)
        if (inputs[i]->desc.shape[d] == extent && where(i, d)) {
          auto shorter = withoutEnd(*inputs[i], d, count);
          if (!shorter) return;
          inputs[i] = *std::move(shorter);
        }
  const auto output = outputOf(inputs, e_.description.params, true);
  if (!output) return;
  Open open;
  if (const auto whole = grown(*output, extent, count, open)) offer("tile", text, whole, open);
}

/// `output` in the expected shape; elements that it lacks are open. nullopt if it differs in more than ends.
std::optional<OracleTensor> Imitator::grown(const OracleTensor& output, int64_t extent, int64_t count,
                                            Open& open) const {
  const Shape &shape = expected().desc.shape, &shorter = output.desc.shape;
  if (output.desc.dtype != expected().desc.dtype || shape.size() != shorter.size()) return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shorter[d] != shape[d] && !(shape[d] == extent && shorter[d] == extent - count)) return std::nullopt;
  OracleTensor whole(expected().desc);
  if (!output.magnitude.empty()) whole.magnitude.resize(wrong_.size());
  whole.terms = output.terms;
  open.assign(wrong_.size(), false);
  size_t from = 0, to = 0;
  forEachIndex(shape, [&](const DimVector& at) {
    bool inside = true;
    for (size_t d = 0; d < at.size(); ++d) inside = inside && at[d] < shorter[d];
    open[to] = !inside;
    if (inside) copyElement(output, from++, whole, to);
    ++to;
  });
  return whole;
}

/// A vector (scale, bias, zero point) that is indexed by another axis of the output: `scale[row]` for
/// `scale[column]`. The oracle runs once per element, with that element everywhere.
void Imitator::vectors() {
  const auto isVector = [&](size_t i) {
    return e_.inputs[i] &&
           std::ranges::count_if(e_.inputs[i]->desc.shape, [](int64_t extent) { return extent > 1; }) == 1;
  };
  for (size_t i = 1; i < e_.inputs.size(); ++i) {
    if (!isVector(i)) continue;
    std::vector<size_t> alike = {i};  // a scale and its zero point go by one index
    offerVectors(alike);
    for (size_t j = i + 1; j < e_.inputs.size(); ++j)
      if (isVector(j) && e_.inputs[j]->desc.shape == e_.inputs[i]->desc.shape) alike.push_back(j);
    if (alike.size() > 1) offerVectors(alike);
  }
}

void Imitator::offerVectors(const std::vector<size_t>& inputs) {
  const int64_t n = e_.inputs[inputs[0]]->desc.elements();
  if (isDone() || n > kLongestVector || n * expected().elements() > kVectorElements) return;
  std::vector<OracleTensor> outputs;
  for (size_t k = 0; k < static_cast<size_t>(n) && !isDone(); ++k) {
    HostInputs all = e_.inputs;
    for (const size_t input : inputs)
      if (auto one = altered(input, [k](OracleTensor& t) { fillWithElement(t, k); })) all[input] = (*one)[input];
    auto output = outputOf(all, e_.description.params);
    if (!output) return;
    outputs.push_back(*std::move(output));
  }
  if (static_cast<int64_t>(outputs.size()) < n) return;
  std::string names = nameOf(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) names += " and " + nameOf(inputs[i]);
  const Shape& shape = expected().desc.shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) offerVector(names, outputs, fmt::format("axis {} of the output", d), d);
  offerVector(names, outputs, "the flat index of the output", shape.size());
  for (const int64_t width : {2, 4, 8}) offerFirstOf(names, outputs, width);
}

void Imitator::offerVector(const std::string& names, const std::vector<OracleTensor>& outputs, const std::string& by,
                           size_t axis) {
  offer("index", fmt::format("{} is indexed by {}", names, by), mixed(outputs, [&](const DimVector& at, size_t flat) {
          return (axis < at.size() ? static_cast<size_t>(at[axis]) : flat) % outputs.size();
        }));
}

/// Some elements take the vector's element of the first of them, by each axis of as many elements as the vector has.
void Imitator::offerFirstOf(const std::string& names, const std::vector<OracleTensor>& outputs, int64_t width) {
  const Shape& shape = expected().desc.shape;
  const DimVector strides = contiguousStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != static_cast<int64_t>(outputs.size())) continue;
    offer("index", fmt::format("{} consecutive elements of the output take {} of the first of them", width, names),
          mixed(outputs, [&](const DimVector&, size_t flat) {
            const int64_t first = static_cast<int64_t>(flat) / width * width;
            return static_cast<size_t>(first / strides[d] % shape[d]);
          }));
  }
}

/// Element for element from one of `outputs`: the one that which(coordinates, flat index) names.
OracleTensor Imitator::mixed(const std::vector<OracleTensor>& outputs,
                             const std::function<size_t(const DimVector& at, size_t flat)>& which) const {
  OracleTensor values(expected().desc);
  values.terms = outputs[0].terms;
  if (!outputs[0].magnitude.empty()) values.magnitude.resize(wrong_.size());
  size_t i = 0;
  forEachIndex(values.desc.shape, [&](const DimVector& at) {
    copyElement(outputs[which(at, i)], i, values, i);
    ++i;
  });
  return values;
}

}  // namespace opkit::harness
