// OpDef: the card of an operator, the single source of all facts about it except its kernels.
//
// The shape pass, the importer, the harness, the benchmarks and the support matrix read the card. Kernels are
// registered per backend (see op_registry.h). A card is immutable once registered.
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
  /// This output is an extent that only a run can tell (NonZero's `count`): nodes that need its values are planned
  /// after it was computed, in a later stage.
  bool extent = false;
};

/// One node, as shape rules and lowerings see it.
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
  /// Values of a floating input marked `contents`; REQUIRES hasInput(i).
  std::vector<double> reals(size_t i) const { return OracleTensor::fromTensor(*contents[i]).real; }
};

/// Returns the output descriptions, or InvalidArgument/Unsupported with the expected and found values. Arity, dtypes of
/// the ports and presence of contents are already checked.
using ShapeFn = std::function<Result<std::vector<TensorDesc>>(const ShapeArgs&)>;
/// Returns the regions of each output. Called after the shape rule, with its output descriptions.
using LowerFn = std::function<Result<std::vector<RegionList>>(const ShapeArgs&, std::span<const TensorDesc>)>;
/// Returns the operator as a loop over small commands. Called after the shape rule. An input whose values it reads must
/// be marked `contents`. Unsupported if this node has no such form.
using LoopFn = std::function<Result<LoopRegion>(const ShapeArgs&, std::span<const TensorDesc>)>;
/// Builds the operator from other operators. Called after the shape rule, with its output descriptions. The parts run
/// instead of the operator on every backend.
using DecomposeFn = std::function<Status(const ShapeArgs&, std::span<const TensorDesc> outputs, Decomposition&)>;
/// Runs an operator on the host, perhaps by running its subgraphs. Arity and dtypes of the ports are already checked;
/// see engine/op/control.h.
using ControlFn = std::function<Result<std::vector<Tensor>>(const ControlArgs&)>;
/// Floating-point operations of one execution.
using FlopsFn = std::function<double(const ShapeArgs&, std::span<const TensorDesc> outputs)>;

/// The error bound that the harness accepts; formulas in docs/numerics.md, code in harness/compare/tolerance.cpp.
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

/// The interval from which the normal lane draws floating inputs.
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
  /// Class Transcendental: the absolute error that is allowed besides the relative one. Only for functions that
  /// oscillate or cancel: near their zeros no relative bound holds. The reason stands beside the value.
  double errorFloor = 0;
  Domain domain = {};
  /// Where the function or a kernel changes its expression, without signs: the lane `edges` has these numbers, those of
  /// the other sign, and the neighbours of both in the dtype. Numbers among the parameters need no entry.
  std::vector<double> edges = {};
  /// Outputs depend on input shapes alone (Shape, Size): computed at resize, never at run.
  bool shapeOnly = false;
  /// Kernels may add floats in any thread order (atomics): a second run agrees within the bound, not bit for bit.
  bool unordered = false;
  /// Output 0 may take over the memory of one of these inputs if both have the same description. Element i of the
  /// output then depends on element i of that input only, and nothing reads that element afterwards.
  std::vector<int> inPlace = {};
  ShapeFn inferShapes;
  LowerFn lower;                    // set for operators that only move data
  LoopFn loop = nullptr;            // set for operators of one output that can run as a loop region (provider "loop")
  DecomposeFn decompose = nullptr;  // set for composite operators; the oracle still defines them
  /// Beside kernels: writes a node of a form that they do not take as parts, among them the operator in the form that
  /// they take. Adds no part to a node that they take.
  DecomposeFn toKernelForm = nullptr;
  FlopsFn flops;  // null means one per output element, or zero for lowered operators
  OracleFn oracle = nullptr;
  /// A resize runs this instead of the oracle, for operators that are always computed there (shape-only ones, and those
  /// with the values of all inputs). Without it the oracle would be compared with itself.
  OracleFn fold = nullptr;
  /// Control flow: the names of the subgraphs that a node must have, and the function that runs them. Such a card needs
  /// no shape rule.
  std::vector<std::string> subgraphs = {};
  ControlFn control = nullptr;
  /// Inputs of the first dtype, where their port takes the second and not the first, are converted to the second;
  /// outputs of the second dtype are converted back. Each result is rounded once more, to the first dtype.
  std::vector<std::pair<DType, DType>> computesAs = {{DType::BFloat16, DType::Float32}};
};

/// The port of an input index (the last port for variadic tails); null if the index is out of range.
const Port* portOf(const std::vector<Port>& ports, size_t index);

/// Runs the card's generic checks (arity, dtypes, contents) and then its shape rule. Messages start with the type.
Result<std::vector<TensorDesc>> inferShapes(const OpDef& def, const ShapeArgs& args);

/// The parts by which the card brings a node into the form of its kernels; none if the node has that form.
Result<Decomposition> kernelForm(const OpDef& def, const ShapeArgs& args, std::span<const TensorDesc> outputs);

}  // namespace opkit
