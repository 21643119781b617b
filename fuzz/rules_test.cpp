// Every ONNX rule with attributes and inputs of any type and extent: it refuses them, or makes a model that can be
// planned. A crash ends the process, after it printed the node.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <random>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/tensor/objects.h"
#include "fuzz/memory_limit.h"
#include "fuzz/try_model.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace {

constexpr size_t kDraws = 300;  // of each rule
constexpr unsigned kSecondsOfADraw = 20;

std::string current;  // the node that is tried

void printCurrent(int number) {
  static_cast<void>(!::write(STDERR_FILENO, current.data(), current.size()));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

class NodeDraw {
 public:
  explicit NodeDraw(uint64_t seed) : random_(seed) {}

  onnx::ModelProto draw(const std::string& name, const OnnxRules::Entry& entry) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    onnx::OperatorSetIdProto& opset = *model.add_opset_import();
    const size_t colons = name.find("::");
    opset.set_domain(colons == std::string::npos ? "" : name.substr(0, colons));
    opset.set_version(oneOf(std::vector{entry.firstOpset, std::min(entry.lastOpset, entry.firstOpset + 3)}));
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::NodeProto& node = *graph.add_node();
    node.set_domain(opset.domain());
    node.set_op_type(colons == std::string::npos ? name : name.substr(colons + 2));
    for (size_t i = 0, count = below(8); i < count; ++i) addInput(graph, node);
    for (const OnnxAttribute& attribute : entry.attributes)
      if (below(4) != 0) addAttribute(node, attribute.name);
    for (size_t i = 0, count = 1 + below(3); i < count; ++i) {
      node.add_output(fmt::format("y{}", i));
      graph.add_output()->set_name(node.output(static_cast<int>(i)));
    }
    return model;
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }
  template <class T>
  const T& oneOf(const std::vector<T>& values) {
    return values[below(values.size())];
  }

  Shape shape() { return oneOf<Shape>({{}, {0}, {1}, {2}, {2, 3}, {1, 2, 4, 4}}); }
  int64_t integer() { return oneOf<int64_t>({0, 1, 1, 2, 2, 3, -1, 5, INT64_MAX, INT64_MIN}); }
  float real() { return oneOf<float>({0, 1, 1, 0.5f, -2, 1e30f, NAN, INFINITY}); }
  std::string text() { return oneOf<std::string>({"", "a", "none", "linear", "LEFT", "BRANCH_LEQ"}); }

  onnx::TensorProto tensor() {
    const Shape extents = shape();
    const auto count = static_cast<size_t>(elementCount(extents));
    onnx::TensorProto proto;
    for (const int64_t extent : extents) proto.add_dims(extent);
    using Type = onnx::TensorProto;
    proto.set_data_type(oneOf<int>({Type::FLOAT, Type::FLOAT, Type::INT64, Type::INT64, Type::STRING, Type::STRING,
                                    Type::BOOL, Type::UINT8, Type::FLOAT16, Type::DOUBLE, Type::INT32}));
    for (size_t i = 0; i < count; ++i) {
      switch (proto.data_type()) {
        case Type::FLOAT: proto.add_float_data(real()); break;
        case Type::DOUBLE: proto.add_double_data(real()); break;
        case Type::INT64: proto.add_int64_data(integer()); break;
        case Type::STRING: proto.add_string_data(text()); break;
        default: proto.add_int32_data(static_cast<int32_t>(below(2))); break;
      }
    }
    return proto;
  }

  void addInput(onnx::GraphProto& graph, onnx::NodeProto& node) {
    node.add_input(below(8) == 0 ? "" : fmt::format("x{}", node.input_size()));
    const std::string& name = node.input(node.input_size() - 1);
    if (name.empty()) return;
    const onnx::TensorProto value = tensor();
    if (below(2) == 0) {
      onnx::TensorProto& constant = *graph.add_initializer();
      constant = value;
      constant.set_name(name);
      return;
    }
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(value.data_type());
    type.mutable_shape();
    for (const int64_t extent : value.dims()) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }

  void addAttribute(onnx::NodeProto& node, const std::string& name) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    const size_t count = below(4);
    const bool isTensor = name.ends_with("_tensor") || below(7) == 0;
    switch (isTensor ? 6 : below(7)) {
      case 0: attribute.set_type(onnx::AttributeProto::FLOAT), attribute.set_f(real()); break;
      case 1: attribute.set_type(onnx::AttributeProto::STRING), attribute.set_s(text()); break;
      case 2: attribute.set_type(onnx::AttributeProto::INTS); break;
      case 3: attribute.set_type(onnx::AttributeProto::FLOATS); break;
      case 4: attribute.set_type(onnx::AttributeProto::STRINGS); break;
      case 5: attribute.set_type(onnx::AttributeProto::INT), attribute.set_i(integer()); break;
      default: attribute.set_type(onnx::AttributeProto::TENSOR), *attribute.mutable_t() = tensor(); break;
    }
    for (size_t i = 0; i < count; ++i) {
      if (attribute.type() == onnx::AttributeProto::INTS) attribute.add_ints(integer());
      if (attribute.type() == onnx::AttributeProto::FLOATS) attribute.add_floats(real());
      if (attribute.type() == onnx::AttributeProto::STRINGS) attribute.add_strings(text());
    }
  }

  std::mt19937_64 random_;
};

TEST(Rules, RefuseOrTakeAnyAttributesAndInputs) {
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGALRM}) std::signal(number, printCurrent);
  const MemoryLimit limit;
  std::map<Outcome, size_t> outcomes;
  size_t rules = 0;
  for (const auto& [name, known] : ops::builtinOnnxRules().names())
    for (const OnnxRules::Entry& entry : known.entries) {
      NodeDraw draw(++rules);
      for (size_t i = 0; i < kDraws; ++i) {
        const onnx::ModelProto model = draw.draw(name, entry);
        current = fmt::format("rule {} '{}', draw {}: {}\n", rules, name, i, model.graph().ShortDebugString());
        const std::string bytes = model.SerializeAsString();
        alarm(kSecondsOfADraw);
        try {
          ++outcomes[tryOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})];
        } catch (const std::exception& error) {
          ADD_FAILURE() << "an exception left the library: " << error.what() << "\n" << current;
        }
        alarm(0);
      }
    }
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGALRM}) std::signal(number, SIG_DFL);
  EXPECT_GT(rules, 300u);
  // Some draws must be refused and some must run, or the test shows nothing.
  EXPECT_GT(outcomes[Outcome::Refused], rules * kDraws / 10);
  EXPECT_GT(outcomes[Outcome::Finished], rules * kDraws / 100);
}

/// Of constants: the oracle computes them when the model is planned.
TEST(Rules, NodesMayLeaveOutTheirLastOutputs) {
  for (const auto& [type, outputs] :
       {std::pair{"TopK", 2}, std::pair{"DynamicQuantizeLinear", 3}, std::pair{"Unique", 4}, std::pair{"MaxPool", 2}})
    for (int count = 1; count <= outputs; ++count) {
      onnx::ModelProto model;
      model.set_ir_version(8);
      model.add_opset_import()->set_version(13);
      onnx::GraphProto& graph = *model.mutable_graph();
      onnx::NodeProto& node = *graph.add_node();
      node.set_op_type(type);
      onnx::TensorProto& x = *graph.add_initializer();
      x.set_name("x");
      x.set_data_type(onnx::TensorProto::FLOAT);
      for (const int64_t extent : {1, 1, 4}) x.add_dims(extent);
      for (const float value : {3.0f, 1.0f, 2.0f, 2.0f}) x.add_float_data(value);
      node.add_input("x");
      if (node.op_type() == "TopK") {
        onnx::TensorProto& k = *graph.add_initializer();
        k.set_name("k");
        k.set_data_type(onnx::TensorProto::INT64);
        k.add_dims(1);
        k.add_int64_data(2);
        node.add_input("k");
      }
      if (node.op_type() == "MaxPool") {
        onnx::AttributeProto& kernel = *node.add_attribute();
        kernel.set_name("kernel_shape");
        kernel.set_type(onnx::AttributeProto::INTS);
        kernel.add_ints(2);
      }
      for (int i = 0; i < count; ++i) {
        node.add_output(fmt::format("y{}", i));
        graph.add_output()->set_name(node.output(i));
      }
      const std::string bytes = model.SerializeAsString();
      EXPECT_EQ(tryOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}), Outcome::Finished)
          << type << " with " << count << " outputs";
    }
}

}  // namespace
}  // namespace opkit::fuzz
