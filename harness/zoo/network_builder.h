// NetworkBuilder: writes an ONNX graph node by node. Values are referred to by name; every method that makes a
// node returns the name of its output. Internal to the zoo.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/import/onnx/onnx_proto.h"

namespace opkit::zoo {

/// A fixed extent, or the name of a symbolic one.
using Extent = std::variant<int64_t, std::string>;

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>, std::string> value;
};

struct ConvOptions {
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t groups = 1;
  bool bias = false;
};

class NetworkBuilder {
 public:
  /// `weights` is FLOAT or FLOAT16; outputs are FLOAT, and inputs unless they say otherwise.
  NetworkBuilder(const std::string& name, int opset, uint64_t seed,
                 onnx::TensorProto::DataType weights = onnx::TensorProto::FLOAT);

  /// `start` is the initial shape of sessions, stored in the model's metadata.
  std::string input(const std::string& name, const std::vector<Extent>& shape, const std::vector<int64_t>& start = {},
                    onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT);
  /// A type with dots has a domain: "com.microsoft.QLinearAdd".
  std::string node(const std::string& type, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {});
  /// A node with `count` outputs.
  std::vector<std::string> outputs(size_t count, const std::string& type, const std::vector<std::string>& inputs,
                                   const std::vector<Attribute>& attributes = {});

  /// Weights of mean 0 and the given standard deviation.
  std::string normal(const std::vector<int64_t>& shape, double deviation);
  std::string uniform(const std::vector<int64_t>& shape, double low, double high);
  /// A 1-D tensor of the given values.
  std::string reals(const std::vector<float>& values);
  std::string scalar(float value);
  /// Values that are given, in FLOAT, INT32, or UINT8 and INT8 (`type`).
  std::string floats(const std::vector<int64_t>& shape, const std::vector<float>& values);
  std::string ints32(const std::vector<int64_t>& shape, const std::vector<int32_t>& values);
  template <class Bytes>
  std::string bytes(onnx::TensorProto::DataType type, const std::vector<int64_t>& shape, const Bytes& values) {
    return addRaw(type, shape, std::data(values), std::size(values));
  }
  /// The numbers that normal and uniform would store.
  std::vector<float> normalValues(size_t count, double deviation);
  std::vector<float> uniformValues(size_t count, double low, double high);
  std::string integers(const std::vector<int64_t>& values);
  std::string integer(int64_t value);
  /// The extents of the given axes of x as a 1-D tensor.
  std::string extents(const std::string& x, const std::vector<int64_t>& axes);

  /// Square kernel; deviation sqrt(2 / fan-in), which keeps the variance through a ReLU.
  std::string conv(const std::string& x, int64_t inChannels, int64_t outChannels, int64_t kernel,
                   const ConvOptions& options = {});
  /// Inference form with statistics around those of unit-variance data; `gain` scales the result.
  std::string batchNormalization(const std::string& x, int64_t channels, double gain = 1.0);
  /// x [N, in] to [N, out].
  std::string gemm(const std::string& x, int64_t in, int64_t out);

  /// Makes a value that no node reads an output of the network, under the given name.
  void output(const std::string& name, const std::string& value, const std::vector<Extent>& shape);
  std::vector<uint8_t> finish() const;
  /// With one more output, "output".
  std::vector<uint8_t> finish(const std::string& value, const std::vector<Extent>& shape);

 private:
  std::string addRaw(onnx::TensorProto::DataType type, const std::vector<int64_t>& shape, const void* data,
                     size_t bytes);
  std::string addTensor(const std::vector<int64_t>& shape, const std::vector<float>& values);
  double nextUniform();
  double nextNormal();

  onnx::ModelProto model_;
  onnx::GraphProto& graph_;
  onnx::TensorProto::DataType weights_;
  std::mt19937_64 random_;
};

}  // namespace opkit::zoo
