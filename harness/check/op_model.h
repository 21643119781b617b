// A case as a model of one node, and a Session that runs it and keeps copies of the outputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/session.h"
#include "engine/tensor/objects.h"
#include "harness/cases/case.h"

namespace opkit::harness {

using HostInputs = std::vector<std::optional<Tensor>>;

/// The Interpreter of the one-node model of a case: its inputs are "in0", "in1" ... with free extents, the
/// `constants` hold the given values, its outputs are the node's. With `copies` there are that many nodes, each with
/// its own outputs; with `fixedShapes` the inputs have the extents of the case. Returns errors of parameters and
/// validation.
Result<std::shared_ptr<Interpreter>> makeOpInterpreter(const Case& c, const OpRegistry& registry,
                                                       const HostInputs& inputs, size_t copies = 1,
                                                       bool fixedShapes = false);

/// Sets shapes and contents of every input that is not a constant; resizing is left to the caller.
Status feed(Session& session, const Case& c, const HostInputs& inputs);

/// Copies of all outputs, in model order.
Result<std::vector<Tensor>> copyOutputs(const Session& session);

/// Runs a kernel on inputs of the same descriptions, and gives its outputs.
using KernelRun = std::function<Result<std::vector<Tensor>>(const HostInputs& inputs)>;

/// Of the case's node in a Session, which is made anew when a constant changes. `registry` must outlive it.
KernelRun rerunInSession(const Case& c, const OpRegistry& registry, const SessionConfig& config,
                         const std::shared_ptr<Runtime>& runtime);

using opkit::copyOf;

/// The elements of two tensors of one description that are not equal bit for bit; with `anyNaN`, as in sameBits.
std::vector<bool> differingElements(const Tensor& a, const Tensor& b, bool anyNaN = false);

/// OK if two lists of tensors are equal bit for bit; else names the first output and element that differ. With
/// `anyNaN`, any NaN equals any other: which operand's NaN an addition keeps is the compiler's choice.
Status sameBits(const std::vector<Tensor>& a, const std::vector<Tensor>& b, bool anyNaN = false);

}  // namespace opkit::harness
