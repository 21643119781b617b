// ExternalData: the values of ONNX tensors that their messages do not hold: they lie in files beside the model, or were
// left in its own bytes (lean_model.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/import/onnx/lean_model.h"
#include "engine/model/mapped_file.h"

namespace opkit {

/// The values that a LeanModel left in the bytes of the model: tensors refer to the file of these bytes, and are copies
/// if there is none.
struct ValuesInModel {
  std::span<const uint8_t> bytes;
  std::shared_ptr<MappedFile> file;  // shared with the tensors inside
  std::vector<ByteRange> ranges;
};

/// Files are mapped once each and stay mapped while a tensor refers to them; values are not copied. A checksum that a
/// model gives is not verified: it would take a reading of the whole file.
class ExternalData {
 public:
  /// `modelPath` is the file of the model; empty if it has none: every external tensor is Unsupported then.
  explicit ExternalData(std::string modelPath, ValuesInModel own = {})
      : modelPath_(std::move(modelPath)), own_(std::move(own)) {}

  /// InvalidArgument: no location, a location outside the model's folder, numbers that are none, a file that cannot be
  /// read. Corrupt: a length that does not fit shape and dtype, a range beyond the file's end.
  Result<Tensor> read(const onnx::TensorProto& proto, const TensorDesc& desc);

  /// Where the bytes of the model hold the value of the tensor; absent if its message does.
  std::optional<ByteRange> rangeOf(const onnx::TensorProto& proto) const;
  /// REQUIRES a range of desc.sizeBytes() bytes that rangeOf gave.
  Result<Tensor> read(ByteRange range, const TensorDesc& desc) const;

 private:
  Result<std::shared_ptr<MappedFile>> fileAt(const std::string& location);

  std::string modelPath_;
  ValuesInModel own_;
  std::map<std::string, std::shared_ptr<MappedFile>> files_;  // shared with the tensors inside; by location
};

}  // namespace opkit
