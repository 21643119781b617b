// FoldedConstants: results of the nodes of a model that read only constants, computed once for all sessions. Since the
// tensors themselves are shared, a device's ConstantStore finds them and uploads and packs them only once. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "engine/model/model.h"

namespace opkit {

class FoldedConstants {
 public:
  std::optional<Tensor> find(TensorId tensor) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(tensor);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The value to use from now on: this one, or one that another session stored first.
  Tensor add(TensorId tensor, const Tensor& value) {
    const std::lock_guard lock(mutex_);
    return values_.try_emplace(tensor, value).first->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<TensorId, Tensor> values_;
};

}  // namespace opkit
