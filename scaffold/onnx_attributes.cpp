// The ONNX standard's attributes, from Debian's libonnx.
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#include <onnx/defs/schema.h>

#include "scaffold/doctor.h"

namespace opkit::scaffold {

std::set<std::string> standardAttributes(const std::string& onnxType) {
  const size_t colons = onnxType.find("::");
  const bool foreign = colons != std::string::npos;
  std::set<std::string> names;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (schema.Name() == (foreign ? onnxType.substr(colons + 2) : onnxType) &&
        schema.domain() == (foreign ? onnxType.substr(0, colons) : ""))
      for (const auto& [name, attribute] : schema.attributes()) names.insert(name);
  names.erase("consumed_inputs");  // the importer takes it for every operator
  return names;
}

}  // namespace opkit::scaffold
