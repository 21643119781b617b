// kMaxNesting: how deep the graphs, types and values of a file may be nested. Readers check it first, so that every
// recursion behind them is bounded; docs/limits.md lists them.
#pragma once

#include <cstddef>

namespace opkit {

/// Subgraphs below the graph of a model, calls of functions in functions, and lists of a JSON text. What this depth
/// needs must fit into a stack of 512 KiB (engine/testing/small_stack.h).
inline constexpr size_t kMaxNesting = 64;

}  // namespace opkit
