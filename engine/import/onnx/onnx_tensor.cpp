#include "engine/import/onnx/onnx_tensor.h"

#include <cstring>

#include "engine/import/onnx/external_data.h"
#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/tensor/float_format.h"
#include "engine/tensor/lazy_buffer.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

template <class Source>
Status copyTyped(const Source& source, const Tensor& tensor) {
  const auto copyCodes = [&](auto codes) {
    using Code = typename decltype(codes)::value_type;
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<Code>(source.Get(static_cast<int>(i)));
    return Status::ok();
  };
  if (isPacked(tensor.desc.dtype)) {  // an entry is a byte
    for (size_t i = 0; i < tensor.sizeBytes(); ++i)
      tensor.bytes()[i] = static_cast<std::byte>(source.Get(static_cast<int>(i)));
    return Status::ok();
  }
  if (isCodedFloat(tensor.desc.dtype))
    return sizeOf(tensor.desc.dtype) == 1 ? copyCodes(tensor.data<uint8_t>()) : copyCodes(tensor.data<uint16_t>());
  return visitDType(tensor.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> elements = tensor.data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto value = source.Get(static_cast<int>(i));
      if constexpr (std::is_same_v<T, Half>)
        elements[i] = Half{static_cast<uint16_t>(value)};  // int32_data holds the bits
      else
        elements[i] = static_cast<T>(value);
    }
    return Status::ok();
  });
}

/// Calls visitor(field) with the repeated field that holds elements of `dtype` if they are not raw.
template <class Visitor>
decltype(auto) visitTypedField(const onnx::TensorProto& proto, DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::Float32: return visitor(proto.float_data());
    case DType::Float64: return visitor(proto.double_data());
    case DType::Int64: return visitor(proto.int64_data());
    case DType::UInt32:
    case DType::UInt64: return visitor(proto.uint64_data());
    default: return visitor(proto.int32_data());
  }
}

Result<TensorDesc> descOf(const onnx::TensorProto& proto) {
  OPKIT_ASSIGN(const DType dtype, dtypeFromOnnx(proto.data_type()));
  const TensorDesc desc{dtype, Shape(proto.dims().begin(), proto.dims().end())};
  OPKIT_TRY(checkShape(desc.shape));
  if (proto.has_segment()) return Status::unsupported("its data is split into segments");
  return desc;
}

Result<Tensor> typedTensor(const onnx::TensorProto& proto, const TensorDesc& desc) {
  const size_t expected = isPacked(desc.dtype) ? desc.sizeBytes() : static_cast<size_t>(desc.elements());
  return visitTypedField(proto, desc.dtype, [&](const auto& field) -> Result<Tensor> {
    const auto found = static_cast<size_t>(field.size());
    if (found != expected) return Status::corrupt("{} needs {} elements, found {}", desc.toString(), expected, found);
    OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(desc));
    OPKIT_TRY(copyTyped(field, tensor));
    if (desc.dtype == DType::Bool)
      for (uint8_t& element : tensor.data<uint8_t>()) element = element != 0;
    return tensor;
  });
}

}  // namespace

Result<Tensor> tensorFrom(const onnx::TensorProto& proto, ExternalData* external) {
  OPKIT_ASSIGN(const TensorDesc desc, descOf(proto));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (desc.dtype == DType::String) return Status::unsupported("strings cannot be in an external file");
    if (external) return external->read(proto, desc);
    return Status::unsupported("its data is in an external file; only data inside the model is read");
  }
  if (desc.dtype == DType::String) {
    if (proto.string_data_size() != desc.elements())
      return Status::corrupt("{} needs {} strings, found {}", desc.toString(), desc.elements(),
                             proto.string_data_size());
    return stringTensor(desc.shape, {proto.string_data().begin(), proto.string_data().end()});
  }
  const std::optional<ByteRange> outside = external ? external->rangeOf(proto) : std::nullopt;
  if (!outside && !proto.has_raw_data()) return typedTensor(proto, desc);
  const size_t found = outside ? outside->sizeBytes : proto.raw_data().size();
  if (found != desc.sizeBytes())
    return Status::corrupt("{} needs {} bytes of raw data, found {}", desc.toString(), desc.sizeBytes(), found);
  if (outside) return external->read(*outside, desc);
  return constantFrom({reinterpret_cast<const uint8_t*>(proto.raw_data().data()), found}, desc);
}

namespace {

/// Places in the dense tensor of `count` values, from linear indices [n] or coordinates [n, rank].
Result<std::vector<int64_t>> placesOf(const Tensor& indices, int64_t count, const Shape& dims) {
  const Shape& shape = indices.desc.shape;
  const auto rank = static_cast<int64_t>(dims.size());
  const bool linear = shape == Shape{count};
  if (indices.desc.dtype != DType::Int64 || (!linear && shape != Shape{count, rank}))
    return Status::corrupt("its indices must be i64[{}] or i64[{},{}], found {}", count, count, rank,
                           indices.desc.toString());
  const std::span<const int64_t> values = indices.data<int64_t>();
  const int64_t elements = elementCount(dims);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = linear ? values[static_cast<size_t>(i)] : 0;
    bool inside = place >= 0 && place < elements;
    for (int64_t d = 0; !linear && d < rank; ++d) {
      const int64_t at = values[static_cast<size_t>(i * rank + d)];
      inside = inside && at >= 0 && at < dims[static_cast<size_t>(d)];
      place = inside ? place * dims[static_cast<size_t>(d)] + at : 0;
    }
    if (!inside) return Status::corrupt("index {} of its values lies outside {}", i, toString(dims));
    if (!places.empty() && place <= places.back())
      return Status::corrupt("index {} of its values does not come behind the one before", i);
    places.push_back(place);
  }
  return places;
}

}  // namespace

Result<Tensor> tensorFrom(const onnx::SparseTensorProto& proto, ExternalData* external) {
  OPKIT_ASSIGN(Tensor values, tensorFrom(proto.values(), external));
  values = asStored(values);
  OPKIT_ASSIGN(const Tensor indices, tensorFrom(proto.indices(), external));
  const TensorDesc desc{values.desc.dtype, Shape(proto.dims().begin(), proto.dims().end())};
  OPKIT_TRY(checkShape(desc.shape));
  if (isObject(desc.dtype)) return Status::unsupported("a sparse tensor of {} has no zeros", nameOf(desc.dtype));
  if (values.desc.shape.size() != 1)
    return Status::corrupt("its values must have one axis, found {}", values.desc.toString());
  OPKIT_ASSIGN(const std::vector<int64_t> places, placesOf(indices, values.desc.elements(), desc.shape));
  OPKIT_ASSIGN(Tensor dense, Tensor::onHost(desc));
  if (isPacked(desc.dtype)) {
    for (size_t i = 0; i < places.size(); ++i) writeCode(dense, static_cast<size_t>(places[i]), readCode(values, i));
    return dense;
  }
  const size_t size = sizeOf(desc.dtype);
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(dense.bytes().data() + static_cast<size_t>(places[i]) * size, values.bytes().data() + i * size, size);
  return dense;
}

onnx::TensorProto protoFrom(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(onnxNumberOf(tensor.desc.dtype));
  for (int64_t extent : tensor.desc.shape) proto.add_dims(extent);
  if (tensor.desc.dtype == DType::String) {
    for (const std::string& text : stringsOf(tensor)) proto.add_string_data(text);
    return proto;
  }
  const std::span<std::byte> bytes = tensor.bytes();
  proto.set_raw_data(bytes.data(), bytes.size());
  return proto;
}

namespace {

/// The tensors of a proto's list.
template <class Protos>
Result<std::vector<Tensor>> tensorsFrom(const Protos& protos) {
  std::vector<Tensor> values;
  for (const onnx::TensorProto& proto : protos) {
    OPKIT_ASSIGN(Tensor value, tensorFrom(proto));
    values.push_back(std::move(value));
  }
  return values;
}

Result<Tensor> sequenceFrom(const onnx::SequenceProto& proto) {
  if (proto.elem_type() != onnx::SequenceProto::TENSOR && proto.elem_type() != onnx::SequenceProto::UNDEFINED)
    return Status::unsupported("expected a sequence of tensors, found one of kind {}",
                               onnx::SequenceProto::DataType_Name(proto.elem_type()));
  OPKIT_ASSIGN(std::vector<Tensor> values, tensorsFrom(proto.tensor_values()));
  return sequenceOf(std::move(values));
}

Result<Tensor> optionalFrom(const onnx::OptionalProto& proto) {
  if (proto.has_sparse_tensor_value() || proto.has_map_value() || proto.has_optional_value())
    return Status::unsupported("expected an optional tensor or sequence, found one of kind {}",
                               onnx::OptionalProto::DataType_Name(proto.elem_type()));
  if (proto.has_sequence_value()) {
    OPKIT_ASSIGN(Tensor value, sequenceFrom(proto.sequence_value()));
    return optionalOf(std::move(value));
  }
  if (!proto.has_tensor_value()) return optionalOf(std::nullopt);
  OPKIT_ASSIGN(Tensor value, tensorFrom(proto.tensor_value()));
  return optionalOf(std::move(value));
}

}  // namespace

Result<Tensor> valueFromProto(std::span<const uint8_t> bytes, DType kind) {
  if (kind != DType::Sequence && kind != DType::Optional) return tensorFromProto(bytes);
  onnx::SequenceProto sequence;
  onnx::OptionalProto optional;
  google::protobuf::Message* proto = &optional;
  if (kind == DType::Sequence) proto = &sequence;
  if (bytes.size() > INT32_MAX || !proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Status::corrupt("expected an ONNX value of kind {}, found {} bytes that are none", nameOf(kind),
                           bytes.size());
  return kind == DType::Sequence ? sequenceFrom(sequence) : optionalFrom(optional);
}

Result<Tensor> tensorFromProto(std::span<const uint8_t> bytes) {
  onnx::TensorProto proto;
  if (bytes.size() > INT32_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !proto.has_data_type())
    return Status::corrupt("expected an ONNX TensorProto, found {} bytes that are none", bytes.size());
  return tensorFrom(proto);
}

namespace {

onnx::SequenceProto protoOfSequence(const Tensor& value) {
  onnx::SequenceProto proto;
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const Tensor& one : valuesOf(value)) *proto.add_tensor_values() = protoFrom(one, "");
  return proto;
}

/// A TensorProto, SequenceProto or OptionalProto.
std::string serialized(const Tensor& value, const std::string& name) {
  if (value.desc.dtype == DType::Sequence) return protoOfSequence(value).SerializeAsString();
  if (value.desc.dtype != DType::Optional) return protoFrom(value, name).SerializeAsString();
  onnx::OptionalProto proto;
  proto.set_elem_type(onnx::OptionalProto::UNDEFINED);
  for (const Tensor& one : valuesOf(value)) {
    const bool isSequence = one.desc.dtype == DType::Sequence;
    proto.set_elem_type(isSequence ? onnx::OptionalProto::SEQUENCE : onnx::OptionalProto::TENSOR);
    if (isSequence)
      *proto.mutable_sequence_value() = protoOfSequence(one);
    else
      *proto.mutable_tensor_value() = protoFrom(one, "");
  }
  return proto.SerializeAsString();
}

}  // namespace

Result<std::vector<uint8_t>> tensorToProto(const Tensor& tensor, const std::string& name) {
  if (tensor.sizeBytes() > INT32_MAX / 2)
    return Status::unsupported("a TensorProto holds less than 1 GiB, {} has {} bytes", tensor.desc.toString(),
                               tensor.sizeBytes());
  const std::string text = serialized(tensor, name);
  return std::vector<uint8_t>(text.begin(), text.end());
}

}  // namespace opkit
