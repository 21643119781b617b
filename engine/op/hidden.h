// The elements of a case that an operator hides: a part of its oracle, as a card names it. Thread-safe.
#pragma once

#include "engine/op/oracle.h"

namespace opkit {

/// Per input one flag per element, true if the element is hidden; an empty list hides nothing of its input.
using HiddenElements = std::vector<std::vector<bool>>;

/// Names elements on which no output depends, whatever they hold: those that a mask, an order, a length or an index of
/// this case leaves out. Written from the operator's text, not from its kernels. Called where the oracle succeeded.
/// Outputs are shaped; their number is what the case asks for.
using HiddenFn = std::function<HiddenElements(const OracleArgs&)>;

/// An oracle with the elements that it ignores.
struct HidingOracle {
  OracleFn oracle;
  HiddenFn hidden;
  Status operator()(const OracleArgs& args) const { return oracle(args); }
};

/// For OpDef::oracle: the sub-check `hidden` fills the elements with NaN and infinity (docs/decisions/0057).
inline OracleFn hiding(OracleFn oracle, HiddenFn hidden) { return HidingOracle{std::move(oracle), std::move(hidden)}; }

/// Null for an oracle that hides nothing.
inline const HiddenFn* hiddenOf(const OracleFn& oracle) {
  const auto* found = oracle.target<HidingOracle>();
  return found ? &found->hidden : nullptr;
}

}  // namespace opkit
