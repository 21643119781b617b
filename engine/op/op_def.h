// OpDef: the card of an operator. Everything that OpKit knows about an operator stands here, once.
//
// The shape pass, the importer, the harness, the benchmarks and the support matrix read the card; kernels
// are added beside it per backend (see op_registry.h). A card is immutable once registered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/op/loop_region.h"
#include "engine/op/oracle.h"
#include "engine/op/params.h"
#include "engine/op/region.h"
#include "engine/tensor/tensor.h"

namespace opkit {

class Decomposition;  // engine/op/decomposition.h
struct ControlArgs;   // engine/op/control.h

/// One input or output of an operator.
struct Port {
  enum class Kind { Required, Optional, Variadic };  // Optional and Variadic only at the end
  std::string name;
  DTypeSet dtypes = kAnyDType;
  Kind kind = Kind::Required;
  /// The shape rule needs this input's values, not only its shape (Reshape's `shape`).
  bool contents = false;
};

/// What shape rules and lowerings see of one node.
struct ShapeArgs {
  std::span<const uint8_t> paramBytes;
  std::span<const TensorDesc* const> inputs;  // null where an optional input is absent
  std::span<const Tensor* const> contents;    // host values where known, else null; same length as inputs
  size_t outputCount = 1;                     // outputs the model asks for

  template <class Table>
  typename Table::NativeTableType params() const {
    return unpackParams<Table>(paramBytes);
  }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const TensorDesc& input(size_t i) const { return *inputs[i]; }
  const Shape& shape(size_t i) const { return inputs[i]->shape; }
  /// Values of an integer input marked `contents`; REQUIRES hasInput(i).
  std::vector<int64_t> integers(size_t i) const { return toInt64(*contents[i]); }
};

/// The output descriptions, or InvalidArgument/Unsupported saying what was expected and found. Arity, dtypes
/// of the ports and presence of contents were checked before.
using ShapeFn = std::function<Result<std::vector<TensorDesc>>(const ShapeArgs&)>;
/// Regions per output; called after the shape rule with the output descriptions it gave.
using LowerFn = std::function<Result<std::vector<RegionList>>(const ShapeArgs&, std::span<const TensorDesc>)>;
/// The operator as a loop over small commands; called after the shape rule. What it needs to know of an input's values
/// must be marked `contents`. Unsupported where this node has no such form.
using LoopFn = std::function<Result<LoopRegion>(const ShapeArgs&, std::span<const TensorDesc>)>;
/// Builds the operator from other operators; called after the shape rule with the output descriptions it gave. The
/// parts run instead of the operator on every backend.
using DecomposeFn = std::function<Status(const ShapeArgs&, std::span<const TensorDesc> outputs, Decomposition&)>;
/// Carries out a control-flow operator on the host by running its subgraphs; see engine/op/control.h.
using ControlFn = std::function<Result<std::vector<Tensor>>(const ControlArgs&)>;
/// Floating-point operations of one execution.
using FlopsFn = std::function<double(const ShapeArgs&, std::span<const TensorDesc> outputs)>;

/// Which error bound the harness grants; formulas in numerics.md, code in harness/tolerance.cpp.
enum class NumericClass {
  Exact,         // moves, integers, comparisons
  OneRounding,   // add, mul, relu
  FewRoundings,  // division, square root, reciprocal: built-ins allowed 2.5 ULP
  Products,      // sums of products: matmul, convolution
  Sum,           // reductions, pooling averages
  Softmax,
  Norm,
  Transcendental,  // tanh, erf, sigmoid, exp, log, pow
  Cast,
};

/// The values an operator's floating inputs are drawn from in the normal lane.
struct Domain {
  double low = -4.0;
  double high = 4.0;
};

struct OpDef {
  std::string type;  // "Softmax"; foreign operators are qualified: "com.acme::Foo"
  int version = 1;
  std::string summary;  // one sentence for lists and docs
  std::string folder;   // filled by the registry: the folder of ops/ it lives in
  ParamsSchema params = {};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  NumericClass numeric = NumericClass::Exact;
  Domain domain = {};
  /// Outputs depend on input shapes alone (Shape, Size): computed at resize, never at run.
  bool shapeOnly = false;
  /// Kernels may add floats in whatever order threads arrive (atomics): a second run agrees within the bound, not bit
  /// for bit.
  bool unordered = false;
  /// The inputs whose memory output 0 may take over, where such an input has output 0's description: element i of
  /// the output is computed from element i of that input, which nothing reads afterwards.
  std::vector<int> inPlace = {};
  ShapeFn inferShapes;
  LowerFn lower;                    // set for operators that only move data
  LoopFn loop = nullptr;            // set for operators of one output that backends can run as a loop (provider "loop")
  DecomposeFn decompose = nullptr;  // set for operators made of others; the oracle then stays their truth
  FlopsFn flops;                    // null means one per output element, or zero for lowered operators
  OracleFn oracle = nullptr;
  /// Control flow: the subgraphs a node must bring, by name, and what runs them. Such a card needs no shape rule.
  std::vector<std::string> subgraphs = {};
  ControlFn control = nullptr;
};

/// The port an input index belongs to (the last one for variadic tails); null when the index is out of range.
const Port* portOf(const std::vector<Port>& ports, size_t index);

/// Runs the card's generic checks (arity, dtypes, contents) and then its shape rule. Messages start with the type.
Result<std::vector<TensorDesc>> inferShapes(const OpDef& def, const ShapeArgs& args);

}  // namespace opkit
