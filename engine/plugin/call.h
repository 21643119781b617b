// opkit_call: one node as a plugin's callback sees it, and how callbacks are called.
//
// A call is built from what the engine hands to a shape rule, an oracle or a kernel; the host functions of
// opkit_plugin.h read it. A callback that fails or throws becomes a Status that names the plugin and the callback.
// Not thread-safe: one call belongs to one callback, or to one Execution.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/creator.h"
#include "engine/base/guard.h"
#include "engine/plugin/attribute_reader.h"

/// The opaque struct of the C ABI.
struct opkit_call {
 public:
  /// A call without a node: `open` of a backend.
  explicit opkit_call(std::string plugin) : plugin_(std::move(plugin)) {}
  opkit_call(std::string plugin, const opkit::OpDef& def, const opkit::plugin::AttributeReader* reader,
             std::span<const uint8_t> paramBytes);
  opkit_call(const opkit_call&) = delete;
  opkit_call& operator=(const opkit_call&) = delete;

  /// Descriptions only; `values` are host values where known, else null.
  void setInputs(std::span<const opkit::TensorDesc* const> descs, std::span<const opkit::Tensor* const> values);
  void setOutputs(std::span<const opkit::TensorDesc> descs);
  /// Outputs that the shape rule fills in.
  void setOutputCount(size_t count);
  /// Tensors in place, for resize and execute. The first call decides how many there are.
  void setTensors(opkit::TensorList inputs, opkit::TensorList outputs);
  void setWide(const opkit::OracleArgs& args);

  /// Runs `callback` and turns its code, the message it left, or its exception into a Status.
  template <class Callback>
  opkit::Status invoke(const char* what, Callback&& callback) {
    code_ = OPKIT_OK;
    message_.clear();
    try {
      return statusOf(what, callback());
    } catch (const std::bad_alloc&) {
      return opkit::statusOfException().withContext(where(what));
    } catch (const std::exception& error) {
      return thrown(what, error.what());
    } catch (...) {
      return thrown(what, "something that is no std::exception");
    }
  }
  /// The outputs as the shape rule set them; InvalidArgument for an output that it did not set.
  opkit::Result<std::vector<opkit::TensorDesc>> inferred() const;

  // The host functions call these.
  opkit_code fail(opkit_code code, std::string message);
  opkit_code setOutput(size_t index, int32_t dtype, int32_t rank, const int64_t* shape);
  const std::string& type() const { return type_; }
  size_t inputCount() const { return inputs_.size(); }
  size_t outputCount() const { return outputs_.size(); }
  const opkit_tensor* input(size_t index) const { return viewAt(inputs_, index); }
  const opkit_tensor* output(size_t index) const { return viewAt(outputs_, index); }
  const opkit_wide_tensor* wideInput(size_t index) const;
  const opkit_wide_tensor* wideOutput(size_t index) const;
  double* wideMagnitude(size_t output, int64_t terms);
  const opkit::plugin::Attribute* attribute(const char* name, int32_t type) const;
  const char* attributesJson() const;
  /// The engine's tensor behind a view; null for a view that is not of this call.
  const opkit::Tensor* tensorOf(const opkit_tensor* view) const;

 private:
  struct View {
    std::vector<int64_t> shape;  // on the heap: `tensor` points to it, also after views have moved
    opkit_tensor tensor{};
    const opkit::Tensor* source = nullptr;
    bool present = false;
  };
  static const opkit_tensor* viewAt(const std::vector<View>& views, size_t index) {
    return index < views.size() && views[index].present ? &views[index].tensor : nullptr;
  }
  static void show(const opkit::TensorDesc& desc, View& view);
  static void point(const opkit::Tensor* tensor, View& view);
  std::string where(const char* what) const;
  opkit::Status statusOf(const char* what, opkit_code code) const;
  opkit::Status thrown(const char* what, const char* message) const;

  std::string plugin_;
  std::string type_;
  const opkit::OpDef* def_ = nullptr;
  opkit::ParamBytes paramBytes_;
  opkit::plugin::Attributes attributes_;
  mutable std::optional<std::string> json_;
  std::vector<View> inputs_;
  std::vector<View> outputs_;
  std::vector<opkit_wide_tensor> wideInputs_, wideOutputs_;
  const opkit::OracleArgs* oracle_ = nullptr;
  opkit_code code_ = OPKIT_OK;
  std::string message_;
};

namespace opkit::plugin {

/// One line, however the plugin wrote it.
std::string oneLine(std::string text);
/// The Status of a code and a message; an unknown code is Internal.
Status makeStatus(opkit_code code, const std::string& message);
/// The host's functions, as every plugin of the process gets them.
const opkit_host& hostTable();

}  // namespace opkit::plugin
