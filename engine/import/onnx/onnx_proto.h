// The ONNX protobuf messages (namespace onnx), as Debian's libonnx builds them. Included by the importer, its
// tests and programs that write ONNX; never by operators.
#pragma once

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>
