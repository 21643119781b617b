// The oracle's view of tensors: the values that an operator's reference implementation reads and writes.
//
// Floating types are double, integers and bool are int64_t: exact, and independent of the stored dtype.
// Inputs were rounded to the stored dtype before the oracle sees them; its outputs are not rounded until
// they leave. See docs/decisions for why the harness compares before rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/op/params.h"
#include "engine/tensor/tensor.h"

namespace opkit {

struct OracleTensor {
  TensorDesc desc;
  std::vector<double> real;       // elements of a floating tensor, else empty
  std::vector<int64_t> integer;   // elements of an integer or bool tensor, else empty
  std::vector<double> magnitude;  // per element S = sum |terms|, if requested and the operator sums
  int64_t terms = 1;              // K, the number of accumulated terms per element, if it sums

  explicit OracleTensor(const TensorDesc& d = {});
  /// Widens a host tensor.
  static OracleTensor fromTensor(const Tensor& tensor);
  /// fromTensor into this object: the memory of the elements is reused if large enough.
  void load(const Tensor& tensor);
  /// Changes the description; the elements become zero, and their memory is reused if large enough.
  void reset(const TensorDesc& newDesc);
  /// Rounds once into a host tensor of the same desc (integers wrap, non-zero is true).
  void toTensor(const Tensor& tensor) const;

  bool isReal() const { return isFloat(desc.dtype); }
  const Shape& shape() const { return desc.shape; }
  int64_t elements() const { return desc.elements(); }
};

struct OracleArgs {
  std::span<const uint8_t> paramBytes;
  std::span<const OracleTensor* const> inputs;  // null where an optional input is absent
  std::span<OracleTensor> outputs;              // shaped and zeroed
  bool wantMagnitude = false;

  template <class Table>
  typename Table::NativeTableType params() const {
    return unpackParams<Table>(paramBytes);
  }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const OracleTensor& input(size_t i) const { return *inputs[i]; }
  OracleTensor& output(size_t i = 0) const { return outputs[i]; }
};

/// Plain loops, no cleverness. Fails only for values that the shape rule cannot see (an index out of range).
using OracleFn = std::function<Status(const OracleArgs&)>;

/// Runs body(inputElements, outputElements) on doubles or on int64s, whichever `x` and `y` hold.
/// Both must be of the same kind: body is a generic lambda over (const vector<T>&, vector<T>&).
template <class Body>
void visitElements(const OracleTensor& x, OracleTensor& y, Body&& body) {
  if (x.isReal())
    body(x.real, y.real);
  else
    body(x.integer, y.integer);
}

}  // namespace opkit
