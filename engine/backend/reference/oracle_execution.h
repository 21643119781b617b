// OracleExecution: runs an operator's oracle as a kernel, so that an operator runs on the host from the day
// it has an oracle. Inputs are widened, the oracle computes in double or int64, outputs are rounded once.
//
// Constants are widened once, at creation. Other elements live in the backend's OracleWorkspace.
#pragma once

#include <memory>
#include <vector>

#include "engine/backend/host/host_backend.h"

namespace opkit::reference {

class OracleExecution final : public HostExecution {
 public:
  OracleExecution(const CreateArgs& args, HostBackend& backend);

  Status onResize(TensorList inputs, TensorList outputs) override;
  bool plansNothing() const override { return !hasUnnamed_; }
  bool readsInput(size_t index) const override { return index >= constants_.size() || !constants_[index]; }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override;

 private:
  Status runOracle(TensorList inputs, TensorList outputs);
  /// Descriptions of all outputs, from the shape rule where some are absent: the oracle computes those too.
  Result<std::vector<TensorDesc>> describeOutputs(TensorList inputs, TensorList outputs) const;
  void exchangeWithWorkspace();

  OracleWorkspace& workspace_;
  const OpDef& def_;
  ParamBytes paramBytes_;
  std::vector<std::unique_ptr<OracleTensor>> constants_;  // null if the input may change
  std::vector<OracleTensor> inputs_;                      // elements borrowed from the workspace during onRun
  std::vector<OracleTensor> outputs_;                     // likewise
  std::vector<const OracleTensor*> arguments_;            // arguments of the oracle: constants_, inputs_ or null
  bool hasUnnamed_ = false;  // outputs that the model does not use, before one that it uses
};

/// Provider "reference". Refuses if the card has no oracle. REQUIRES a HostBackend at creation.
Creator oracleCreator();
/// The same for Raster, by rasterOracle (engine/op/internal_operators.h).
Creator rasterOracleCreator();

}  // namespace opkit::reference
