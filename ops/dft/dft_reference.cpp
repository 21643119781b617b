#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/dft/dft_oracles.h"
#include "ops/dft/dft_parts.h"
#include "ops/dft/row_reference.h"

namespace opkit::ops::dft {
namespace {

/// The full row that the transform sums: cut or filled with zeros; with `mirrored`, half a spectrum and its mirror
/// image. The imaginary parts of the first element and of that opposite to it count as 0, as in numpy.fft.irfft.
NumberRow completed(NumberRow row, int64_t length, bool mirrored) {
  if (!mirrored) {
    row.resize(static_cast<size_t>(length));
    return row;
  }
  row.resize(static_cast<size_t>(length / 2 + 1));
  row[0].im = 0;
  if (length % 2 == 0) row.back().im = 0;
  NumberRow full(static_cast<size_t>(length));
  for (size_t k = 0; k < full.size(); ++k) {
    const size_t opposite = full.size() - k;
    full[k] = k < row.size() ? row[k] : Number{row[opposite].re, -row[opposite].im};
  }
  return full;
}

NumberRow spectrumOf(NumberRow row, const TransformFacts& facts) {
  row = completed(std::move(row), facts.length, facts.onesided && facts.inverse);
  if (!facts.inverse) return transformedRow(row);
  for (Number& value : row) value.im = -value.im;
  row = transformedRow(row);
  const auto n = static_cast<long double>(facts.length);
  for (Number& value : row) value = {value.re / n, -value.im / n};
  return row;
}

/// Stages of a transform of prime factors up to 13; the convolution of any other length takes three transforms.
int64_t termsOf(int64_t length) {
  int64_t rest = length, bits = 1;
  for (const int64_t p : {2, 3, 5, 7, 11, 13})
    while (rest % p == 0) rest /= p;
  while ((int64_t{1} << bits) < length) ++bits;
  return rest == 1 ? bits : 3 * (bits + 2);
}

/// Stores a row, and half its largest magnitude: rounding errors of any element are relative to that.
void storeRow(const NumberRow& row, const std::vector<size_t>& places, size_t parts, OracleTensor& y) {
  long double largest = 0;
  for (const Number& value : row) largest = std::max(largest, std::hypot(value.re, value.im));
  for (size_t i = 0; i < places.size(); ++i) {
    const Number& value = row[i / parts];
    y.real[places[i]] = static_cast<double>(i % parts == 0 ? value.re : value.im);
    y.magnitude[places[i]] = static_cast<double>(largest / 2);
  }
}

NumberRow readRow(const OracleTensor& x, const std::vector<size_t>& places) {
  const auto parts = static_cast<size_t>(x.shape().back());
  NumberRow row(places.size() / parts);
  for (size_t i = 0; i < places.size(); ++i)
    (i % parts == 0 ? row[i / parts].re : row[i / parts].im) = x.real[places[i]];
  return row;
}

/// The places of the scalars of each row along `axis`, both parts of an element together.
std::vector<std::vector<size_t>> rowsOf(const Shape& shape, size_t axis) {
  std::vector<bool> together(shape.size(), false);
  together[axis] = together.back() = true;
  std::vector<std::vector<size_t>> rows;
  forEachGroup(shape, together, [&](size_t, const std::vector<size_t>& places) { rows.push_back(places); });
  return rows;
}

void prepare(OracleTensor& y, const TransformFacts& facts) {
  y.magnitude.assign(y.real.size(), 0.0);
  y.terms = termsOf(facts.length);
}

Status transformAxis(const OracleArgs& args, size_t axis, const TransformFacts& facts) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  prepare(y, facts);
  if (y.elements() == 0) return Status::ok();
  const auto to = rowsOf(y.shape(), axis);
  if (x.elements() == 0) return Status::ok();  // all padding
  const auto from = rowsOf(x.shape(), axis);
  for (size_t row = 0; row < to.size(); ++row)
    storeRow(spectrumOf(readRow(x, from[row]), facts), to[row], static_cast<size_t>(y.shape().back()), y);
  return Status::ok();
}

}  // namespace

Status framesReference(const OracleArgs& args, const TransformFacts& facts, int64_t step, size_t window) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  prepare(y, facts);
  ++y.terms;  // the window
  const int64_t parts = x.shape()[2];
  const auto to = rowsOf(y.shape(), 2);
  for (size_t row = 0; row < to.size(); ++row) {
    const auto frame = static_cast<int64_t>(row) % y.shape()[1], batch = static_cast<int64_t>(row) / y.shape()[1];
    std::vector<size_t> places;
    for (int64_t i = 0; i < facts.length * parts; ++i)
      places.push_back(elementAt(x.shape(), {batch, frame * step + i / parts, i % parts}));
    NumberRow values = readRow(x, places);
    for (size_t i = 0; args.hasInput(window) && i < values.size(); ++i) {
      values[i].re *= args.input(window).real[i];
      values[i].im *= args.input(window).real[i];
    }
    storeRow(spectrumOf(std::move(values), facts), to[row], static_cast<size_t>(y.shape().back()), y);
  }
  return Status::ok();
}

TransformFacts transformFacts(const OracleArgs& args) {
  const auto params = args.params<FourierTransformParams>();
  const Shape& shape = args.input(0).shape();
  TransformFacts facts{params.length, params.inverse, params.onesided};
  if (facts.length > 0) return facts;
  if (params.frame_step > 0) {
    facts.length = args.hasInput(1) ? args.input(1).elements() : shape[1];
    return facts;
  }
  const int64_t extent = shape[static_cast<size_t>(params.axis)];
  facts.length = facts.onesided && facts.inverse ? 2 * extent - 2 : extent;
  return facts;
}

std::pair<size_t, TransformFacts> dftFacts(const OracleArgs& args) {
  const auto params = args.params<DftParams>();
  const Shape& shape = args.input(0).shape();
  const size_t axis = axisFromFront(args.hasInput(2) ? args.input(2).integer[0] : params.axis, shape.size());
  const int64_t own = params.inverse && params.onesided ? 2 * shape[axis] - 2 : shape[axis];
  return {axis, {args.hasInput(1) ? args.input(1).integer[0] : own, params.inverse, params.onesided}};
}

Status transformReference(const OracleArgs& args) {
  const auto params = args.params<FourierTransformParams>();
  const TransformFacts facts = transformFacts(args);
  if (params.frame_step > 0) return framesReference(args, facts, params.frame_step, 1);
  return transformAxis(args, static_cast<size_t>(params.axis), facts);
}

Status reference(const OracleArgs& args) {
  const auto [axis, facts] = dftFacts(args);
  return transformAxis(args, axis, facts);
}

}  // namespace opkit::ops::dft
