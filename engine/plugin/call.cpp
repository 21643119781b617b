#include "engine/plugin/call.h"

#include <algorithm>

#include "engine/plugin/plugin_backend.h"

namespace opkit::plugin {

std::string oneLine(std::string text) {
  constexpr size_t kLongest = 1000;
  if (text.size() > kLongest) text.resize(kLongest);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.pop_back();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

Status makeStatus(opkit_code code, const std::string& message) {
  switch (code) {
    case OPKIT_OK: return Status::ok();
    case OPKIT_INVALID_ARGUMENT: return Status::invalidArgument("{}", message);
    case OPKIT_UNSUPPORTED: return Status::unsupported("{}", message);
    case OPKIT_OUT_OF_MEMORY: return Status::outOfMemory("{}", message);
    case OPKIT_DEVICE_LOST: return Status::deviceLost("{}", message);
    default: return Status::internal("{}", message);
  }
}

}  // namespace opkit::plugin

using namespace opkit;

opkit_call::opkit_call(std::string plugin, const OpDef& def, const plugin::AttributeReader* reader,
                       std::span<const uint8_t> paramBytes)
    : plugin_(std::move(plugin)), type_(def.type), def_(&def), paramBytes_(paramBytes.begin(), paramBytes.end()) {
  if (reader) attributes_ = reader->read(paramBytes_);
}

void opkit_call::show(const TensorDesc& desc, View& view) {
  view.shape = desc.shape.toVector();
  view.present = true;
  view.tensor = {OPKIT_STRUCT(opkit_tensor),
                 static_cast<int32_t>(desc.dtype),
                 static_cast<int32_t>(desc.shape.size()),
                 view.shape.data(),
                 desc.elements(),
                 nullptr,
                 nullptr,
                 0};
}

void opkit_call::setInputs(std::span<const TensorDesc* const> descs, std::span<const Tensor* const> values) {
  inputs_.assign(descs.size(), {});
  for (size_t i = 0; i < descs.size(); ++i) {
    if (!descs[i]) continue;
    show(*descs[i], inputs_[i]);
    if (i < values.size() && values[i]) inputs_[i].tensor.data = values[i]->bytes().data();
  }
}

void opkit_call::setOutputs(std::span<const TensorDesc> descs) {
  outputs_.assign(descs.size(), {});
  for (size_t i = 0; i < descs.size(); ++i) show(descs[i], outputs_[i]);
}

void opkit_call::setOutputCount(size_t count) { outputs_.assign(count, {}); }

void opkit_call::point(const Tensor* tensor, View& view) {
  view.source = tensor;
  view.present = tensor != nullptr;
  if (!tensor) return;
  if (!std::ranges::equal(view.shape, tensor->desc.shape) || view.tensor.struct_size == 0 ||
      view.tensor.dtype != static_cast<int32_t>(tensor->desc.dtype))
    show(tensor->desc, view);
  std::byte* const host = tensor->buffer ? tensor->buffer->hostData() : nullptr;
  view.tensor.data = host ? host + tensor->offsetBytes : nullptr;
  const auto* own = dynamic_cast<const plugin::PluginBuffer*>(tensor->buffer.get());
  view.tensor.memory = own ? own->memory() : nullptr;
  view.tensor.offset = tensor->offsetBytes;
}

void opkit_call::setTensors(TensorList inputs, TensorList outputs) {
  inputs_.resize(inputs.size());
  outputs_.resize(outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) point(inputs[i], inputs_[i]);
  for (size_t i = 0; i < outputs.size(); ++i) point(outputs[i], outputs_[i]);
}

void opkit_call::setWide(const OracleArgs& args) {
  const auto wide = [](const OracleTensor* tensor) {
    opkit_wide_tensor view{};
    if (!tensor) return view;
    auto& elements = const_cast<OracleTensor&>(*tensor);  // the C side promises not to write inputs
    view = {OPKIT_STRUCT(opkit_wide_tensor),
            static_cast<int32_t>(tensor->desc.dtype),
            static_cast<int32_t>(tensor->desc.shape.size()),
            tensor->desc.shape.data(),
            tensor->elements(),
            tensor->isReal() ? elements.real.data() : nullptr,
            tensor->isReal() ? nullptr : elements.integer.data()};
    return view;
  };
  oracle_ = &args;
  wideInputs_.clear();
  wideOutputs_.clear();
  for (const OracleTensor* input : args.inputs) wideInputs_.push_back(wide(input));
  for (const OracleTensor& output : args.outputs) wideOutputs_.push_back(wide(&output));
}

std::string opkit_call::where(const char* what) const {
  return fmt::format("plugin '{}': {}{}{}", plugin_, what, type_.empty() ? "" : " of ", type_);
}

opkit::Status opkit_call::statusOf(const char* what, opkit_code code) const {
  if (code == OPKIT_OK && code_ == OPKIT_OK) return Status::ok();
  const opkit_code worst = code == OPKIT_OK ? code_ : code;
  if (message_.empty()) return plugin::makeStatus(worst, fmt::format("{} failed without saying why", where(what)));
  return plugin::makeStatus(worst, fmt::format("{}: {}", where(what), message_));
}

opkit::Status opkit_call::thrown(const char* what, const char* message) const {
  return Status::internal("{} threw {}; no exception may leave a callback", where(what), plugin::oneLine(message));
}

opkit_code opkit_call::fail(opkit_code code, std::string message) {
  if (code_ == OPKIT_OK) {  // the first reason is the cause
    code_ = code == OPKIT_OK ? static_cast<opkit_code>(OPKIT_INTERNAL) : code;
    message_ = plugin::oneLine(std::move(message));
  }
  return code_;
}

opkit_code opkit_call::setOutput(size_t index, int32_t dtype, int32_t rank, const int64_t* shape) {
  if (index >= outputs_.size())
    return fail(OPKIT_INVALID_ARGUMENT,
                fmt::format("set_output: expected an output below {}, got {}", outputs_.size(), index));
  if (!isValidDType(dtype) || !kMovedDTypes.contains(static_cast<DType>(dtype)))
    return fail(OPKIT_INVALID_ARGUMENT,
                fmt::format("set_output: output {} has dtype number {}, which does not exist", index, dtype));
  if (rank < 0 || rank > OPKIT_MAX_RANK || (rank > 0 && !shape))
    return fail(OPKIT_INVALID_ARGUMENT, fmt::format("set_output: output {} has rank {}, expected 0 to {} and a shape",
                                                    index, rank, OPKIT_MAX_RANK));
  const TensorDesc desc{static_cast<DType>(dtype), Shape(shape, shape + rank)};
  if (const Status status = checkShape(desc.shape); !status.isOk())
    return fail(OPKIT_INVALID_ARGUMENT, fmt::format("set_output: output {}: {}", index, status.message()));
  show(desc, outputs_[index]);
  return OPKIT_OK;
}

opkit::Result<std::vector<TensorDesc>> opkit_call::inferred() const {
  std::vector<TensorDesc> descs;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].present)
      return Status::invalidArgument("plugin '{}': the shape rule of {} did not set output {}", plugin_, type_, i);
    descs.push_back({static_cast<DType>(outputs_[i].tensor.dtype), outputs_[i].shape});
  }
  return descs;
}

const opkit_wide_tensor* opkit_call::wideInput(size_t index) const {
  return index < wideInputs_.size() && wideInputs_[index].struct_size > 0 ? &wideInputs_[index] : nullptr;
}

const opkit_wide_tensor* opkit_call::wideOutput(size_t index) const {
  return index < wideOutputs_.size() ? &wideOutputs_[index] : nullptr;
}

double* opkit_call::wideMagnitude(size_t output, int64_t terms) {
  if (!oracle_ || output >= oracle_->outputs.size()) return nullptr;
  OracleTensor& tensor = oracle_->outputs[output];
  tensor.terms = std::max<int64_t>(terms, 1);
  if (!oracle_->wantMagnitude) return nullptr;
  tensor.magnitude.assign(static_cast<size_t>(tensor.elements()), 0.0);
  return tensor.magnitude.data();
}

const plugin::Attribute* opkit_call::attribute(const char* name, int32_t type) const {
  for (const plugin::Attribute& attribute : attributes_)
    if (name && attribute.name == name && attribute.type == type) return &attribute;
  return nullptr;
}

const char* opkit_call::attributesJson() const {
  if (!json_) json_ = def_ ? paramsToJson(def_->params, paramBytes_) : "{}";
  return json_->c_str();
}

const Tensor* opkit_call::tensorOf(const opkit_tensor* view) const {
  for (const std::vector<View>* views : {&inputs_, &outputs_})
    for (const View& one : *views)
      if (view && &one.tensor == view && one.present) return one.source;
  return nullptr;
}
