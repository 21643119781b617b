#include "engine/model/tensor_file.h"

#include "engine/import/onnx/onnx_importer.h"
#include "engine/model/model.h"

namespace opkit {
namespace {

bool isNpy(std::span<const uint8_t> bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  return bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), bytes.begin(),
                                                     [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

}  // namespace

Result<Tensor> loadTensor(const std::string& path, DType kind) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(path));
  Result<Tensor> tensor = isNpy(bytes) ? tensorFromNpy(bytes) : valueFromProto(bytes, kind);
  if (!tensor) return tensor.error().withContext(fmt::format("tensor file '{}'", path));
  return tensor;
}

Status saveTensor(const std::string& path, const Tensor& tensor) {
  if (path.ends_with(".npy")) return writeFile(path, tensorToNpy(tensor));
  if (!path.ends_with(".pb"))
    return Status::invalidArgument("tensor file '{}': expected an extension of .npy or .pb", path);
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, tensorToProto(tensor));
  return writeFile(path, bytes);
}

}  // namespace opkit
