// ExternalData: the values of ONNX tensors that lie in files beside the model.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/import/onnx/onnx_proto.h"
#include "engine/model/mapped_file.h"

namespace opkit {

/// Files are mapped once each and stay mapped while a tensor refers to them; values are not copied. A checksum that a
/// model gives is not verified: it would take a reading of the whole file.
class ExternalData {
 public:
  /// `modelPath` is the file of the model; empty if it has none: every external tensor is Unsupported then.
  explicit ExternalData(std::string modelPath) : modelPath_(std::move(modelPath)) {}

  /// InvalidArgument: no location, a location outside the model's folder, numbers that are none, a file that cannot be
  /// read. Corrupt: a length that does not fit shape and dtype, a range beyond the file's end.
  Result<Tensor> read(const onnx::TensorProto& proto, const TensorDesc& desc);

 private:
  Result<std::shared_ptr<MappedFile>> fileAt(const std::string& location);

  std::string modelPath_;
  std::map<std::string, std::shared_ptr<MappedFile>> files_;  // shared with the tensors inside; by location
};

}  // namespace opkit
