// Hidden elements of the losses: of ignored samples, of the classes that no label names, and their weights.
#include "engine/op/oracle_elements.h"
#include "ops/nll_loss/nll_loss.h"

namespace opkit::ops::nll_loss {
namespace {

/// A loss reads x at the label alone, or all classes of a sample (`wholeRows`).
HiddenElements hiddenOf(const OracleArgs& args, bool wholeRows) {
  HiddenElements hidden(args.inputs.size());
  const OracleTensor &x = args.input(0), &labels = args.input(1);
  const auto params = args.params<NllLossParams>();
  const bool namesX = args.outputs.size() < 2;  // the second output is made of all elements
  if (namesX) hidden[0].assign(static_cast<size_t>(x.elements()), true);
  if (args.hasInput(2)) hidden[2].assign(args.input(2).real.size(), true);
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    Coordinates sample = at;
    sample.erase(sample.begin() + 1);
    const int64_t label = labels.integer[elementAt(labels.shape(), sample)];
    if (params.has_ignore_index && label == params.ignore_index) return;
    if (namesX && (wholeRows || label == at[1])) hidden[0][i] = false;
    if (args.hasInput(2)) hidden[2][static_cast<size_t>(label)] = false;
  });
  return hidden;
}

}  // namespace

HiddenElements nllHidden(const OracleArgs& args) { return hiddenOf(args, false); }
HiddenElements crossEntropyHidden(const OracleArgs& args) { return hiddenOf(args, true); }

}  // namespace opkit::ops::nll_loss
