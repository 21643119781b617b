// bound.json: the bounds of the outputs in a folder that `op-harness export` wrote. docs/export.md has the format.
//
// A bound counts from the rounded value in output_N.pb. The gates of a Tolerance on the mean error are OpKit's own, for
// its own kernels: the file has none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/op/oracle.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {

/// How an output of a data set is compared.
struct OutputBound {
  std::string name;         // of the model's output
  bool byClass = false;     // as Tolerance
  bool signOfZero = false;  // as Tolerance
  double bound = 0;         // of every element; 0: exact
  std::string file = {};    // in the data set's folder, with a bound per element (f64); empty: `bound`

  bool operator==(const OutputBound&) const = default;
};

/// A data set, which is one case.
struct BoundSet {
  std::string set;  // "test_data_set_0"
  std::string id;   // of the case
  std::string lane;
  std::vector<std::string> ask;     // questions for an engine: "repeat", "resize", "hidden", "specials"
  std::vector<std::string> hidden;  // files with flags of hidden elements, "hidden_N.pb" for input N
  std::vector<OutputBound> outputs;

  bool operator==(const BoundSet&) const = default;
};

struct BoundFile {
  std::string op;      // of OpKit
  std::string onnx;    // of ONNX
  std::string domain;  // of `onnx`
  int opset = 1;       // of the domain
  std::string catches = {};
  std::vector<BoundSet> sets;

  /// Null if there is none.
  const BoundSet* find(const std::string& set) const;
  bool operator==(const BoundFile&) const = default;
};

/// The text of a file. REQUIRES finite bounds.
std::string toText(const BoundFile& file);

/// The inverse. Corrupt or InvalidArgument says where, what was expected and what was found; Unsupported: a later
/// version.
Result<BoundFile> parseBoundFile(const std::string& text);

/// Of a folder; nothing if it has no bound.json. Errors name the path.
Result<std::optional<BoundFile>> readBoundFile(const std::string& folder);

/// How results are compared with the values of output_N.pb in `setFolder`. InvalidArgument if the bounds do not fit
/// them.
Result<Tolerance> toleranceFrom(const OutputBound& output, const std::string& setFolder, const OracleTensor& expected);

}  // namespace opkit::harness
