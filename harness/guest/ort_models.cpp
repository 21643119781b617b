#include "harness/guest/ort_models.h"

#include <cstddef>
#include <optional>
#include <string>

#include "engine/import/onnx/onnx_form.h"
#include "engine/import/onnx/onnx_writer.h"

namespace opkit::harness::ort {
namespace {

OnnxPort port(const char* name, const TensorDesc& desc) {
  OnnxPort made;
  made.name = name;
  made.desc = desc;
  return made;
}

OnnxForm formOf(const char* type, int opset, size_t inputs) {
  OnnxForm form;
  form.type = type;
  form.opset = opset;
  for (size_t i = 0; i < inputs; ++i) form.inputs.emplace_back(i);
  return form;
}

}  // namespace

Result<std::vector<uint8_t>> differenceModel() {
  const TensorDesc desc{DType::Float32, {3}};
  return writeOnnx(formOf("Sub", 14, 2), {port("left", desc), port("right", desc)}, {port("difference", desc)});
}

Result<std::vector<uint8_t>> copyModel(DType dtype, int opset) {
  const TensorDesc desc{dtype, {2}};
  return writeOnnx(formOf("Identity", opset, 1), {port("from", desc)}, {port("to", desc)});
}

}  // namespace opkit::harness::ort
