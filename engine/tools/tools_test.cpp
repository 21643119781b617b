// Runs op-run and op-convert as a user does and looks at exit codes, messages and files.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <set>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/where.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/model/model.h"
#include "engine/model/tensor_file.h"
#include "engine/testing/nowhere.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string out;
  std::string error;
};

/// An ONNX model of one operator: y = type(inputs).
struct SmallModel {
  onnx::ModelProto proto;

  explicit SmallModel(const std::string& type = "Softmax") {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(13);
    addInput("x", {-1, 4});
    addNode(type, {"x"}, "y");
    proto.mutable_graph()->add_output()->set_name("y");
  }
  /// A negative extent is symbolic.
  void addInput(const std::string& name, const std::vector<int64_t>& shape) {
    onnx::ValueInfoProto& info = *proto.mutable_graph()->add_input();
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape();
    for (int64_t extent : shape) {
      auto& dimension = *type.mutable_shape()->add_dim();
      if (extent < 0)
        dimension.set_dim_param("N");
      else
        dimension.set_dim_value(extent);
    }
  }
  void addNode(const std::string& type, const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto& node = *proto.mutable_graph()->add_node();
    node.set_op_type(type);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
  }
};

/// An environment in which no Vulkan driver is found.
std::string noDriver() { return fmt::format("VK_DRIVER_FILES={0} VK_ICD_FILENAMES={0} ", nowhere("driver.json")); }

class ToolsTest : public testing::Test {
 protected:
  ToolsTest() : folder_(fs::temp_directory_path() / fmt::format("opkit_tools_test.{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ToolsTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const SmallModel& model) const {
    const std::string text = model.proto.SerializeAsString();
    return write(name, {text.begin(), text.end()});
  }
  std::string write(const std::string& name, const std::vector<uint8_t>& bytes) const {
    EXPECT_TRUE(writeFile(path(name), bytes).isOk());
    return path(name);
  }
  std::string writeTensor(const std::string& name, const TensorDesc& desc) const {
    EXPECT_TRUE(saveTensor(path(name), *Tensor::onHost(desc)).isOk());
    return path(name);
  }

  static std::string readText(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  Outcome run(const std::string& program, const std::string& arguments) const {
    const std::string command = fmt::format("{} {} >'{}' 2>'{}'", program, arguments, path("out"), path("error"));
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readText(path("out")),
            withoutSanitizer(readText(path("error")))};
  }

  /// Some tests make an allocation fail; sanitizers then print a line.
  static std::string withoutSanitizer(std::string text) {
    const size_t warning = text.find("Sanitizer failed to allocate");
    if (warning == std::string::npos) return text;
    const size_t begin = text.rfind('\n', warning) + 1;  // npos + 1 is 0
    return text.erase(begin, text.find('\n', warning) + 1 - begin);
  }
  /// Of the largest program that was run so far.
  static size_t largestBytes() {
    rusage usage = {};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<size_t>(usage.ru_maxrss) << 10;
  }
  Outcome opRun(const std::string& arguments) const { return run(partOfBuild(OPKIT_OP_RUN), arguments); }
  Outcome opConvert(const std::string& arguments) const { return run(partOfBuild(OPKIT_OP_CONVERT), arguments); }

  /// One line on stderr that starts with the program's name and holds `part`; exit 2.
  static void expectRefusal(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.code, 2) << outcome.error;
    EXPECT_NE(outcome.error.find(part), std::string::npos) << "expected: " << part << "\nfound: " << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_EQ(outcome.error.rfind("op-", 0), 0u) << outcome.error;
  }

  fs::path folder_;
};

TEST_F(ToolsTest, MemoryDoesNotGrowWithTheNumberOfShapes) {
  const std::string model = write("m.onnx", SmallModel("Relu"));
  const auto resizes = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += fmt::format(" --resize x={}x4", 500'000 + i);
    return text;
  };
  ASSERT_EQ(opRun(model + resizes(12)).code, 0);
  const size_t few = largestBytes();
  const Outcome many = opRun(model + resizes(100));  // 8 MB each
  ASSERT_EQ(many.code, 0) << many.error;
  EXPECT_NE(many.out.find("output y f32[500000,4]"), std::string::npos) << "each is printed";
  EXPECT_NE(many.out.find("output y f32[500099,4]"), std::string::npos);
  EXPECT_LT(largestBytes(), few + (size_t{300} << 20)) << "800 MB of outputs are not kept";
}

TEST_F(ToolsTest, RunsAModelAndWritesItsOutput) {
  const std::string model = write("m.onnx", SmallModel());
  const Outcome outcome = opRun(fmt::format("{} --resize x=2x4 --input x=ramp --output {} --json {} --placement", model,
                                            path("results"), path("run.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("output y f32[2,4]"), std::string::npos) << outcome.out;
  const auto y = loadTensor(path("results/y.npy"));
  ASSERT_TRUE(y.has_value()) << y.error().toString();
  float sum = 0;
  for (float value : y->data<float>()) sum += value;
  EXPECT_NEAR(sum, 2.0f, 1e-5f);  // two rows of probabilities
  const auto json = nlohmann::json::parse(readText(path("run.json")));
  EXPECT_EQ(json["steps"][0]["outputs"][0]["desc"], "f32[2,4]");
  EXPECT_EQ(json["steps"][0]["placement"][0]["type"], "Softmax");
}

TEST_F(ToolsTest, TracesEveryCommandOfEveryRun) {
  const Outcome outcome = opRun(fmt::format("zoo:squeezenet --backend cpu --repeat 2 --profile --trace {} --json {}",
                                            path("trace.json"), path("run.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("by operator:"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("GFLOP/s"), std::string::npos) << outcome.out;
  const auto run = nlohmann::json::parse(readText(path("run.json")));
  const size_t commands = run["steps"][0]["placement"].size();
  EXPECT_GT(run["steps"][0]["placement"][0]["hostNs"], 0);
  const auto trace = nlohmann::json::parse(readText(path("trace.json")));
  std::vector<std::pair<double, double>> runs;
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == "X" && event["name"] == "run")
      runs.emplace_back(event["ts"].get<double>(), event["ts"].get<double>() + event["dur"].get<double>());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_LE(runs[0].second, runs[1].first);
  std::vector<size_t> inside(2, 0);
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["name"] == "run") continue;
    const double start = event["ts"], end = start + event["dur"].get<double>();
    constexpr double kRounding = 1e-6;
    for (size_t i = 0; i < 2; ++i)
      if (start >= runs[i].first - kRounding && end <= runs[i].second + kRounding) ++inside[i];
  }
  EXPECT_EQ(inside, std::vector<size_t>(2, commands));
}

TEST_F(ToolsTest, SeveralShapesInOneProcess) {
  const std::string model = write("m.onnx", SmallModel());
  const Outcome outcome =
      opRun(fmt::format("{} --resize x=2x4 --resize x=7x4 --resize x=2x4 --output {}", model, path("results")));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(loadTensor(path("results/step_1/y.npy"))->desc.toString(), "f32[7,4]");
  EXPECT_EQ(readText(path("results/step_0/y.npy")).size(), readText(path("results/step_2/y.npy")).size());
}

TEST_F(ToolsTest, ComparesWithExpectations) {
  const std::string model = write("m.onnx", SmallModel());
  ASSERT_EQ(opRun(fmt::format("{} --output {}", model, path("results"))).code, 0);
  const std::string y = path("results/y.npy");
  EXPECT_EQ(opRun(fmt::format("{} --expect y={}", model, y)).code, 0);
  const Outcome different =
      opRun(fmt::format("{} --expect y={}", model, writeTensor("z.npy", {DType::Float32, {1, 4}})));
  EXPECT_EQ(different.code, 1);
  EXPECT_NE(different.out.find("DIFFER y: 4 of 4 elements"), std::string::npos) << different.out;
  const Outcome shape = opRun(fmt::format("{} --expect y={}", model, writeTensor("s.pb", {DType::Float32, {9}})));
  EXPECT_EQ(shape.code, 1);
  EXPECT_NE(shape.out.find("expected f32[9], got f32[1,4]"), std::string::npos) << shape.out;
  Tensor nan = *Tensor::onHost({DType::Float32, {1, 4}});
  for (float& value : nan.data<float>()) value = NAN;
  ASSERT_TRUE(saveTensor(path("nan.npy"), nan).isOk());
  EXPECT_EQ(opRun(fmt::format("{} --expect y={}", model, path("nan.npy"))).code, 1);
}

TEST_F(ToolsTest, ConvertsAndLists) {
  const std::string model = write("m.onnx", SmallModel());
  ASSERT_EQ(opConvert(model + " " + path("m.opk")).code, 0);
  const Outcome listing = opConvert("--dump " + path("m.opk"));
  EXPECT_EQ(listing.code, 0);
  EXPECT_NE(listing.out.find("input    x f32[N,4]"), std::string::npos) << listing.out;
  EXPECT_NE(listing.out.find("Softmax"), std::string::npos) << listing.out;
  const std::string outputs = path("a") + " --resize x=3x4";
  ASSERT_EQ(opRun(model + " --output " + outputs).code, 0);
  EXPECT_EQ(
      opRun(fmt::format("{} --resize x=3x4 --rtol 0 --atol 0 --expect y={}", path("m.opk"), path("a/y.npy"))).code, 0);
}

TEST_F(ToolsTest, BadModelsAreOneLineAndExit2) {
  expectRefusal(opRun(path("missing.onnx")), "No such file");
  expectRefusal(opRun(folder_.string()), "folder");
  expectRefusal(opRun("zoo:alexnet"), "expected one of decoder, detector");
  expectRefusal(opRun("zoo:decoder:heads=3"), "decoder: model must be an even multiple of heads, got 64 and 3");
  expectRefusal(opConvert("zoo:decoder:layer=3 " + path("d.onnx")), "decoder: no parameter is called 'layer'");
  expectRefusal(opRun(write("empty.onnx", std::vector<uint8_t>{})), "expected an ONNX model");
  expectRefusal(opRun(write("text.onnx", std::vector<uint8_t>(300, 'x'))), "expected an ONNX model");

  const std::string onnx = SmallModel().proto.SerializeAsString();
  expectRefusal(opRun(write("cut.onnx", {onnx.begin(), onnx.end() - 9})), "truncated");
  ASSERT_EQ(opConvert(write("m.onnx", SmallModel()) + " " + path("m.opk")).code, 0);
  std::vector<uint8_t> opk = *readFile(path("m.opk"));
  opk.resize(opk.size() / 2);
  expectRefusal(opRun(write("cut.opk", opk)), "truncated, damaged or hold subgraphs");

  expectRefusal(opRun(write("unknown.onnx", SmallModel("Frobnicate"))), "'Frobnicate' (opset 13) has no rule");
  SmallModel cycle;
  cycle.proto.mutable_graph()->mutable_node(0)->set_input(0, "z");
  cycle.addNode("Softmax", {"y"}, "z");
  expectRefusal(opRun(write("cycle.onnx", cycle)), "depends on itself");
  SmallModel huge;
  huge.addInput("h", {int64_t{1} << 33, 1 << 20});
  expectRefusal(opRun(write("huge.onnx", huge)), "2^40");
  SmallModel impossible;
  impossible.addInput("w", {5, 7});
  impossible.addNode("MatMul", {"x", "w"}, "z");
  impossible.proto.mutable_graph()->add_output()->set_name("z");
  expectRefusal(opRun(write("impossible.onnx", impossible)), "MatMul");
}

TEST_F(ToolsTest, AFileReplacesTheDefaultOfAnInput) {
  SmallModel model("Relu");
  model.addInput("k", {-1});
  onnx::TensorProto& value = *model.proto.mutable_graph()->add_initializer();
  value.set_name("k");
  value.set_data_type(onnx::TensorProto::FLOAT);
  value.add_dims(1);
  value.add_float_data(2);
  model.addNode("Mul", {"y", "k"}, "z");
  model.proto.mutable_graph()->add_output()->set_name("z");
  onnx::StringStringEntryProto& entry = *model.proto.add_metadata_props();
  entry.set_key("author");
  entry.set_value("somebody");
  ASSERT_EQ(opConvert(write("m.onnx", model) + " " + path("m.opk")).code, 0);
  const Outcome listing = opConvert("--dump " + path("m.opk"));
  for (const char* part : {"metadata author = somebody\n", "input    x f32[N,4]\n", "default  k f32[1]\n"})
    EXPECT_NE(listing.out.find(part), std::string::npos) << listing.out;
  ASSERT_TRUE(saveTensor(path("k.npy"), *Tensor::fromValues<float>({DType::Float32, {4}}, {0, 1, 10, 100})).isOk());
  for (const char* file : {"m.onnx", "m.opk"}) {
    const std::string run = fmt::format("{} --input x=ramp --resize x=1x4 --output {} ", path(file), path("r"));
    const auto results = [&](const std::string& options) {
      const Outcome outcome = opRun(run + options);
      EXPECT_EQ(outcome.code, 0) << outcome.error;
      const auto y = *loadTensor(path("r/y.npy")), z = *loadTensor(path("r/z.npy"));
      std::vector<float> factors;
      for (size_t i = 0; i < 4; ++i) factors.push_back(z.data<float>()[i] - y.data<float>()[i]);
      return std::pair(factors, std::vector<float>(y.data<float>().begin(), y.data<float>().end()));
    };
    const auto [doubled, y] = results("");
    EXPECT_EQ(doubled, y);
    const auto [scaled, same] = results("--input k=" + path("k.npy"));
    EXPECT_EQ(scaled, (std::vector<float>{-y[0], 0, 9 * y[2], 99 * y[3]}));
    expectRefusal(opRun(run + "--input k=ramp"), "'k' has a default, which a file replaces, got 'ramp'");
    expectRefusal(opRun(run + "--resize k=3"), "input 'k' has a default");
  }
}

TEST_F(ToolsTest, AnOutputHasTheTypeThatIsDeclared) {
  SmallModel plain;
  auto& declared = *plain.proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  declared.set_elem_type(onnx::TensorProto::FLOAT);
  EXPECT_EQ(opRun(write("right.onnx", plain)).code, 0);
  declared.set_elem_type(onnx::TensorProto::INT64);
  expectRefusal(opRun(write("wrong.onnx", plain)), "output 'y': the model declares i64, its nodes make f32");

  SmallModel staged("If");  // the branches do not say that one makes integers
  onnx::NodeProto& node = *staged.proto.mutable_graph()->mutable_node(0);
  node.set_input(0, "c");
  staged.addInput("c", {});
  staged.proto.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::BOOL);
  for (const auto& [branch, to] :
       {std::pair{"then_branch", onnx::TensorProto::FLOAT}, std::pair{"else_branch", onnx::TensorProto::INT64}}) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(branch);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto& cast = *attribute.mutable_g()->add_node();
    cast.set_op_type("Cast");
    cast.add_input("x");
    cast.add_output("z");
    onnx::AttributeProto& type = *cast.add_attribute();
    type.set_name("to");
    type.set_type(onnx::AttributeProto::INT);
    type.set_i(to);
    attribute.mutable_g()->add_output()->set_name("z");
  }
  EXPECT_EQ(opRun(write("free.onnx", staged) + " --input c=ramp").code, 0);
  auto& result = *staged.proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  result.set_elem_type(onnx::TensorProto::INT64);
  EXPECT_EQ(opRun(write("integers.onnx", staged) + " --input c=ramp").code, 0) << "c is false";
  result.set_elem_type(onnx::TensorProto::FLOAT);
  expectRefusal(opRun(write("floats.onnx", staged) + " --input c=ramp"),
                "output 'y': the model declares f32, its nodes make i64");
}

/// None of them may be waited for: a pipe has no writer, a device no end.
TEST_F(ToolsTest, SaysThatScoresStandForMaps) {
  SmallModel small("Identity");
  onnx::OperatorSetIdProto& opset = *small.proto.add_opset_import();
  opset.set_domain("ai.onnx.ml");
  opset.set_version(1);
  onnx::NodeProto& node = *small.proto.mutable_graph()->mutable_node(0);
  node.set_op_type("ZipMap");
  node.set_domain("ai.onnx.ml");
  onnx::AttributeProto& labels = *node.add_attribute();
  labels.set_name("classlabels_strings");
  labels.set_type(onnx::AttributeProto::STRINGS);
  for (const char* label : {"cat", "dog", "emu", "yak"}) labels.add_strings(label);
  const Outcome outcome = opRun(write("maps.onnx", small));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("output y is the scores in place of the maps of ZipMap; its 4 columns are cat, dog, emu, "
                             "yak\n"),
            std::string::npos)
      << outcome.out;
}

TEST_F(ToolsTest, NamesOfAModelDoNotSteerTheTerminal) {
  const std::string name = "x\x1b[2J\n\t\xe2\x80\xae\xff", shown = "x\\x1b[2J\\x0a\\x09\\u202e\\xff";
  SmallModel small("Relu");
  onnx::GraphProto& graph = *small.proto.mutable_graph();
  small.proto.set_producer_name(name);
  graph.mutable_input(0)->set_name(name);
  graph.mutable_node(0)->set_input(0, name);
  graph.mutable_node(0)->set_name(name);
  graph.mutable_node(0)->set_output(0, name + "out");
  graph.mutable_output(0)->set_name(name + "out");
  onnx::StringStringEntryProto& entry = *small.proto.add_metadata_props();
  entry.set_key(name);
  entry.set_value(name);
  const std::string model = write("names.onnx", small);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const Outcome ran = opRun(model + " --placement --json " + path("run.json"));
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_NE(ran.out.find("output " + shown + "out f32["), std::string::npos) << ran.out;
  const Outcome plain = opRun(write("plain.onnx", SmallModel("Relu")) + " --placement");
  EXPECT_EQ(lines(ran.out), lines(plain.out)) << ran.out;
  const Outcome listed = opConvert(model + " --dump");
  EXPECT_NE(listed.out.find("metadata " + shown + " = " + shown + "\n"), std::string::npos) << listed.out;
  const Outcome refused = opRun(model + " --input nope=random");
  expectRefusal(refused, "x\\x1b[2J");
  for (const std::string& text : {ran.out, listed.out, refused.error})
    EXPECT_EQ(text.find_first_of("\x1b\t\xff\xe2"), std::string::npos) << text;
  EXPECT_NE(readText(path("run.json")).find(R"(x\u001b[2J\n\t)"), std::string::npos);
}

TEST_F(ToolsTest, LongNamesLoseTheirMiddleOnStderrAlone) {
  const std::string name(100'000, 'n');
  SmallModel small("Relu");
  small.proto.mutable_graph()->mutable_node(0)->set_op_type(name);
  const Outcome refused = opRun(write("long.onnx", small));
  expectRefusal(refused, " ... ");
  EXPECT_LT(refused.error.size(), 1100u);
  SmallModel whole("Relu");
  whole.proto.set_producer_name(name);
  const Outcome listed = opConvert(write("whole.onnx", whole) + " --dump");
  EXPECT_NE(listed.out.find("producer " + name), std::string::npos) << listed.out.size();
}

TEST_F(ToolsTest, PipesAndDevicesAreOneLineAndExit2) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string model = write("m.onnx", SmallModel());
  for (const std::string& place : {path("pipe"), std::string("/dev/zero"), std::string("/dev/tty")}) {
    expectRefusal(opRun(place), "cannot read '" + place + "': it is a pipe or a device, not a file");
    expectRefusal(opConvert(place + " " + path("m.opk")), "cannot read '" + place);
    expectRefusal(opRun(model + " --input x=" + place), "cannot read '" + place);
    expectRefusal(opRun(model + " --expect y=" + place), "cannot read '" + place);
  }
  SmallModel external("Add");
  onnx::TensorProto& values = *external.proto.mutable_graph()->add_initializer();
  values.set_name("w");
  values.set_data_type(onnx::TensorProto::FLOAT);
  values.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *values.add_external_data();
  entry.set_key("location");
  entry.set_value("pipe");
  external.proto.mutable_graph()->mutable_node(0)->add_input("w");
  expectRefusal(opRun(write("external.onnx", external)), "pipe': it is a pipe or a device, not a file");
}

TEST_F(ToolsTest, BadOptionsAreOneLineAndExit2) {
  const std::string model = write("m.onnx", SmallModel());
  expectRefusal(opRun(""), "MODEL is required");
  expectRefusal(opRun(model + " --nonsense"), "--nonsense");
  expectRefusal(opRun(model + " --repeat 0"), "--repeat");
  expectRefusal(opRun(model + " --precision huge"), "--precision");
  expectRefusal(opRun(model + " --backend abacus"), "abacus");
  expectRefusal(opRun(model + " --device 99"), "99");
  expectRefusal(opRun(model + " --input nope=ramp"), "no input is called 'nope'; the model's inputs are: x");
  expectRefusal(opRun(model + " --input x"), "NAME=VALUE");
  expectRefusal(opRun(model + " --input x=" + path("missing.npy")), "missing.npy");
  expectRefusal(opRun(model + " --input x=" + model), "TensorProto");
  expectRefusal(opRun(model + " --input x=" + writeTensor("i.npy", {DType::Int64, {1, 4}})),
                "the model expects f32[1,4], the file holds i64[1,4]");
  expectRefusal(opRun(model + " --input x=" + writeTensor("w.npy", {DType::Float32, {1, 5}})),
                "the model declares f32[?,4], got shape [1,5]");
  expectRefusal(opRun(model + " --resize x=1x2x3"), "got shape [1,2,3]");
  expectRefusal(opRun(model + " --resize x=1,4"), "expected a shape such as 1x3x256x256");
  expectRefusal(opRun(model + " --resize x=99999999999999x4"), "2^40");
  expectRefusal(opRun(model + " --resize x=274877906944x4"), "bytes");  // 4 TiB
  expectRefusal(opRun(model + " --resize nope=1x4"), "no input is called 'nope'");
  expectRefusal(opRun(model + " --expect nope=" + path("w.npy")), "no output is called 'nope'");
  expectRefusal(opConvert(model), "--dump");
  expectRefusal(opConvert(model + " " + path("m.txt")), "ending in .opk or .onnx");
  expectRefusal(opConvert(model + " " + path("n.onnx")), "zoo:NAME only");
  expectRefusal(opConvert(model + " " + path("no/such/folder/m.opk")), "cannot write");
  EXPECT_FALSE(fs::exists(path("m.txt")));
}

TEST_F(ToolsTest, NothingIsWrittenWhenARunFails) {
  const std::string model = write("m.onnx", SmallModel());
  expectRefusal(opRun(fmt::format("{} --resize x=2x4 --resize x=2x5 --output {} --json {}", model, path("results"),
                                  path("run.json"))),
                "got shape [2,5]");
  EXPECT_FALSE(fs::exists(path("results")));
  EXPECT_FALSE(fs::exists(path("run.json")));
}

TEST_F(ToolsTest, WhatCannotBeWrittenIsOneLineAndExit2) {
  const std::string model = "zoo:transformer --backend cpu", full = "cannot write '/dev/full': No space left on device";
  expectRefusal(opRun(model + " --json /dev/full"), full);
  expectRefusal(opRun(model + " --trace /dev/full"), full);
  expectRefusal(opConvert("--dump zoo:transformer --json /dev/full"), full);
  // A limit on files simulates a full disk: nothing is left of the file that did not fit.
  expectRefusal(run("ulimit -f 64; " OPKIT_OP_CONVERT, "zoo:transformer " + path("t.opk")), "File too large");
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_NE(entry.path().filename().string().substr(0, 5), "t.opk") << entry.path();
  for (const char* program :
       {OPKIT_OP_RUN " zoo:transformer --backend cpu", OPKIT_OP_CONVERT " --dump zoo:transformer"}) {
    const Outcome outcome = run(fmt::format("( {} >/dev/full", program), ")");
    expectRefusal(outcome, "cannot write to standard output: No space left on device");
  }
}

TEST_F(ToolsTest, AnInterruptLeavesAWholeFileOrNone) {
  std::set<int> codes;
  for (const double seconds : {0.02, 0.1, 0.2, 0.3, 0.5, 30.0}) {
    fs::remove(path("r.opk"));
    const Outcome outcome = run(fmt::format("timeout --preserve-status -s TERM {} {}", seconds, OPKIT_OP_CONVERT),
                                "zoo:resnet50 " + path("r.opk"));
    codes.insert(outcome.code);
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 143) << outcome.code;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name == "out" || name == "error" || (name == "r.opk" && outcome.code == 0)) << name;
    }
  }
  EXPECT_EQ(codes, (std::set<int>{0, 143}));
}

TEST_F(ToolsTest, AnInterruptDuringTheWriteSaysSo) {
  // Sends TERM as soon as the temporary file exists. A write that finished before the signal is tried again.
  const std::string script = fmt::format(
      "{} zoo:resnet50 {} & p=$!; until [ -e {} ]; do set -- {}.*.tmp; [ -e \"$1\" ] && kill -TERM $p && break; done; "
      "wait $p",
      OPKIT_OP_CONVERT, path("r.opk"), path("r.opk"), path("r.opk"));
  Outcome outcome;
  for (int attempt = 0; attempt < 20 && outcome.code != 143; ++attempt) {
    fs::remove(path("r.opk"));
    outcome = run("timeout 60 sh -c", fmt::format("'{}'", script));
    ASSERT_TRUE(outcome.code == 0 || outcome.code == 143) << outcome.error;
  }
  EXPECT_EQ(outcome.code, 143) << "no signal came before the end of the write";
  EXPECT_EQ(outcome.error, "op-convert: interrupted\n");
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find("r.opk"), std::string::npos) << entry.path();
}

TEST_F(ToolsTest, NoVulkanDeviceIsAClearMessage) {
  const std::string model = write("m.onnx", SmallModel());
  const Outcome outcome = run(noDriver() + partOfBuild(OPKIT_OP_RUN), model + " --backend vulkan");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.error.find("ulkan"), std::string::npos) << outcome.error;
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
}

TEST_F(ToolsTest, WithoutADeviceAutoIsTheCpuAndSaysWhy) {
  const Outcome outcome =
      run(noDriver() + partOfBuild(OPKIT_OP_RUN), write("m.onnx", SmallModel()) + " --backend auto --placement");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("runs on cpu: "), std::string::npos) << outcome.out;
}

TEST_F(ToolsTest, PlacesByCostAndASecondProcessReadsWhatWasMeasured) {
  const std::string model = write("m.onnx", SmallModel());
  if (opRun(model + " --backend vulkan").code != 0) GTEST_SKIP() << "no Vulkan device";
  const auto placed = [&](const std::string& cache) {
    const Outcome outcome = opRun(fmt::format("{} --resize x=64x4 --backend auto --placement --cache-dir {} --json {}",
                                              model, path(cache), path("run.json")));
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_NE(outcome.out.find("by cost: "), std::string::npos) << outcome.out;
    return nlohmann::json::parse(readText(path("run.json")))["steps"][0];
  };
  const auto first = placed("cache"), second = placed("cache"), fresh = placed("other");
  EXPECT_EQ(first["measurements"], 2);  // of the Softmax: there and here
  EXPECT_EQ(second["measurements"], 0);
  EXPECT_EQ(fresh["measurements"], 2);
  EXPECT_EQ(second["placement"], first["placement"]);
  EXPECT_EQ(second["estimate"], first["estimate"]);
  const std::string cost =
      first["placement"].back()["type"] == "Copy" ? first["placement"][0]["cost"] : first["placement"].back()["cost"];
  EXPECT_TRUE(cost.starts_with("vulkan ")) << cost;
  EXPECT_LE(first["estimate"]["chosenNs"], first["estimate"]["allMainNs"]);
  EXPECT_LE(first["estimate"]["chosenNs"], first["estimate"]["allOtherNs"]);
}

TEST_F(ToolsTest, ProfilesAgainstTheDevicesPeaks) {
  const std::string model = write("m.onnx", SmallModel());
  const Outcome outcome =
      opRun(fmt::format("{} --resize x=512x4 --threads 1 --profile --json {}", model, path("run.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("cpu at best: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" % of peak"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(readText(path("run.json")));
  const auto& peaks = json["peaks"]["cpu"];
  EXPECT_GT(peaks["flopsPerNs"], 0);
  ASSERT_EQ(peaks["bandwidths"].size(), 4u);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_GT(peaks["bandwidths"][i]["bytes"], peaks["bandwidths"][i - 1]["bytes"]);
    EXPECT_LE(peaks["bandwidths"][i]["bytesPerNs"], peaks["bandwidths"][i - 1]["bytesPerNs"]);
  }
  const auto& row = json["steps"][0]["placement"][0];
  // Softmax of 512 x 4 moves 16 KiB: its bound is the smallest sum or the arithmetic.
  const double ns = row["hostNs"], bytes = row["bytesRead"].get<double>() + row["bytesWritten"].get<double>();
  EXPECT_EQ(bytes, 2 * 512 * 4 * 4);
  const double byMemory = bytes / peaks["bandwidths"][0]["bytesPerNs"].get<double>() / ns;
  const double byArithmetic = row["flops"].get<double>() / peaks["flopsPerNs"].get<double>() / ns;
  EXPECT_NEAR(row["peakShare"].get<double>(), std::max(byMemory, byArithmetic), 1e-9);
}

TEST_F(ToolsTest, HelpAndVersion) {
  for (const std::string& program : {partOfBuild(OPKIT_OP_RUN), partOfBuild(OPKIT_OP_CONVERT)}) {
    EXPECT_EQ(run(program, "--help").code, 0);
    EXPECT_NE(run(program, "--help").out.find("Examples:"), std::string::npos);
    EXPECT_NE(run(program, "--version").out.find(OPKIT_VERSION), std::string::npos);
  }
}

TEST_F(ToolsTest, NumbersAndPlacesThatMakeNoSenseAreRefusedAtTheStart) {
  for (const char* value : {"-1", "100000", "nan", "1e3", "''"})
    expectRefusal(opRun(fmt::format("zoo:transformer --threads={}", value)), "--threads: expected a whole number");
  for (const char* value : {"0", "-1", "nan"})
    expectRefusal(opRun(fmt::format("zoo:transformer --repeat={}", value)), "--repeat: expected a whole number");
  for (const char* value : {"nan", "inf", "-1", "abc"})
    expectRefusal(opRun(fmt::format("zoo:transformer --rtol={}", value)), "--rtol: expected a number");
  for (const char* value : {"-1", "64XB", "0x10", "0abc", "nan", "1e-30", "1e99"})
    expectRefusal(opRun(fmt::format("zoo:transformer --memory-limit={}", value)), "expected a size such as 64MB");
  const std::string file = write("file", std::vector<uint8_t>());
  for (const char* option : {"--json", "--trace", "--output"})
    expectRefusal(opRun(fmt::format("zoo:transformer {} {}/x", option, file)), fmt::format("{}: cannot write", option));
  expectRefusal(opConvert(fmt::format("zoo:transformer {}/x.opk", file)), "OUTPUT: cannot write");
  expectRefusal(opConvert("/no/such/model out.txt"), "expected an output ending in .opk or .onnx");
  expectRefusal(opRun("zoo:transformer --backend cpu --validation core"), "--validation is for the backend vulkan");
}

TEST_F(ToolsTest, HostMemoryHasALimit) {
  expectRefusal(opRun("zoo:transformer --backend cpu --host-memory 100k"), "the limit is 102400");
  EXPECT_EQ(opRun("zoo:transformer --backend cpu --host-memory 1g").code, 0);
  expectRefusal(run("OPKIT_HOST_MEMORY=1000 " OPKIT_OP_RUN, "zoo:transformer --backend cpu"), "the limit is 1000");
  EXPECT_EQ(run("OPKIT_HOST_MEMORY=1000 " OPKIT_OP_RUN, "zoo:transformer --backend cpu --host-memory 0").code, 0);
}

TEST_F(ToolsTest, ThreadsThatTheSystemRefusesAreOneLine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space without a limit";
#endif
  // 4 GB of address space cannot hold the stacks of a thousand threads.
  expectRefusal(run("ulimit -v 4000000; " OPKIT_OP_RUN, "zoo:transformer --backend cpu --threads 1024"),
                "the system refused one of 1024 threads");
}

}  // namespace
}  // namespace opkit
