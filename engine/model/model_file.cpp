// The .opk form of a model: model.fbs defines the content, this file converts it to a Model and back. The reader trusts
// nothing: FlatBuffers' Verifier checks that every offset stays inside the bytes, then every value is checked before it
// is used.
#include <cstring>

#include "engine/model/model.h"
#include "engine/model/model_generated.h"
#include "engine/model/model_structure.h"

namespace opkit {
namespace {

constexpr uint32_t kFormatVersion = 1;
constexpr size_t kAlignment = 16;

/// Copies bytes: the Verifier does not check that 8-byte elements are aligned.
template <class T>
std::vector<T> toVector(const flatbuffers::Vector<T>* values) {
  std::vector<T> copy(values ? values->size() : 0);
  if (!copy.empty()) std::memcpy(copy.data(), values->Data(), copy.size() * sizeof(T));
  return copy;
}

std::string toString(const flatbuffers::String* text) { return text ? text->str() : std::string(); }

class ModelReader {
 public:
  explicit ModelReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  Result<Model> read() {
    if (bytes_.size() < 8 || !file::ModelRecordBufferHasIdentifier(bytes_.data()))
      return Status::corrupt("not an .opk model: expected the identifier OPKT in bytes 4 to 7");
    if (bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
      return Status::unsupported(".opk models must be smaller than 2 GiB, found {} bytes", bytes_.size());
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
    if (!file::VerifyModelRecordBuffer(verifier))
      return Status::corrupt(".opk model: its {} bytes are truncated or damaged", bytes_.size());
    const file::ModelRecord& record = *file::GetModelRecord(bytes_.data());
    if (record.format_version() != kFormatVersion)
      return Status::unsupported(".opk model: expected format version {}, found {}", kFormatVersion,
                                 record.format_version());
    OPKIT_ASSIGN(Model model, readGraph(record));
    OPKIT_TRY(checkStructure(model));
    return model;
  }

 private:
  Result<Model> readGraph(const file::ModelRecord& record) {
    Model model{toString(record.producer()), {}, {}, toVector(record.inputs()), toVector(record.outputs())};
    if (record.tensors())
      for (const file::TensorRecord* tensor : *record.tensors()) OPKIT_TRY(readTensor(*tensor, model));
    if (record.nodes())
      for (const file::NodeRecord* node : *record.nodes()) OPKIT_TRY(readNode(*node, model));
    return model;
  }

  Status readTensor(const file::TensorRecord& record, Model& model) {
    const std::string name = toString(record.name());
    if (!isValidDType(record.dtype()))
      return Status::corrupt(".opk model: tensor '{}' has dtype number {}, which does not exist", name, record.dtype());
    const TensorDesc desc{static_cast<DType>(record.dtype()), toVector(record.shape())};
    if (!record.is_constant()) {
      model.tensors[static_cast<size_t>(model.addTensor(name, desc))].startShape = toVector(record.start_shape());
      return Status::ok();
    }
    OPKIT_TRY(checkShape(desc.shape).withContext(fmt::format(".opk model: constant '{}'", name)));
    const size_t stored = record.data() ? record.data()->size() : 0;
    if (stored != desc.sizeBytes())
      return Status::corrupt(".opk model: constant '{}' is {} and needs {} bytes, found {}", name, desc.toString(),
                             desc.sizeBytes(), stored);
    constantBytes_ += stored;  // records may share bytes; a small file must not ask for much memory
    if (constantBytes_ > bytes_.size())
      return Status::corrupt(".opk model: its constants claim more than the file's {} bytes", bytes_.size());
    OPKIT_ASSIGN(Tensor value, Tensor::onHost(desc));
    if (stored > 0) std::memcpy(value.bytes().data(), record.data()->data(), stored);
    if (desc.dtype == DType::Bool)
      for (uint8_t& element : value.data<uint8_t>()) element = element != 0;
    model.addConstant(name, std::move(value));
    return Status::ok();
  }

  /// Nesting is bounded by the Verifier.
  Status readNode(const file::NodeRecord& record, Model& model) {
    ModelNode node{toString(record.name()),
                   toString(record.type()),
                   record.version(),
                   toVector(record.inputs()),
                   toVector(record.outputs()),
                   toVector(record.params()),
                   {}};
    if (record.subgraphs()) {
      for (const file::SubgraphRecord* subgraph : *record.subgraphs()) {
        OPKIT_ASSIGN(Model inner, readGraph(*subgraph->model()));
        node.subgraphs.push_back({toString(subgraph->name()), std::move(inner), toVector(subgraph->captures())});
      }
    }
    model.nodes.push_back(std::move(node));
    return Status::ok();
  }

  std::span<const uint8_t> bytes_;
  size_t constantBytes_ = 0;
};

flatbuffers::Offset<file::TensorRecord> writeTensor(flatbuffers::FlatBufferBuilder& builder,
                                                    const ModelTensor& tensor) {
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> data;
  if (tensor.constant) {
    const std::span<std::byte> bytes = tensor.constant->bytes();
    builder.ForceVectorAlignment(bytes.size(), 1, kAlignment);
    data = builder.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  const auto name = builder.CreateString(tensor.name);
  const auto shape = builder.CreateVector(tensor.desc.shape);
  flatbuffers::Offset<flatbuffers::Vector<int64_t>> start;
  if (!tensor.startShape.empty()) start = builder.CreateVector(tensor.startShape);
  return file::CreateTensorRecord(builder, name, static_cast<uint8_t>(tensor.desc.dtype), shape,
                                  tensor.constant.has_value(), data, start);
}

flatbuffers::Offset<file::ModelRecord> writeGraph(flatbuffers::FlatBufferBuilder& builder, const Model& model);

flatbuffers::Offset<file::NodeRecord> writeNode(flatbuffers::FlatBufferBuilder& builder, const ModelNode& node) {
  std::vector<flatbuffers::Offset<file::SubgraphRecord>> subgraphs;
  for (const Subgraph& subgraph : node.subgraphs) {
    const auto model = writeGraph(builder, subgraph.model);
    const auto name = builder.CreateString(subgraph.name);
    subgraphs.push_back(file::CreateSubgraphRecord(builder, name, model, builder.CreateVector(subgraph.captures)));
  }
  const auto type = builder.CreateString(node.type);
  const auto name = builder.CreateString(node.name);
  const auto inputs = builder.CreateVector(node.inputs);
  const auto outputs = builder.CreateVector(node.outputs);
  builder.ForceVectorAlignment(node.params.size(), 1, kAlignment);
  const auto params = builder.CreateVector(node.params);
  const auto subgraphVector = subgraphs.empty() ? 0 : builder.CreateVector(subgraphs);
  return file::CreateNodeRecord(builder, type, node.version, name, inputs, outputs, params, subgraphVector);
}

flatbuffers::Offset<file::ModelRecord> writeGraph(flatbuffers::FlatBufferBuilder& builder, const Model& model) {
  // The first object made is at the end of the file: a vector of whole words, so that the file does not end in unread
  // padding.
  const auto inputs = builder.CreateVector(model.inputs);
  const auto outputs = builder.CreateVector(model.outputs);
  std::vector<flatbuffers::Offset<file::TensorRecord>> tensors;
  for (const ModelTensor& tensor : model.tensors) tensors.push_back(writeTensor(builder, tensor));
  std::vector<flatbuffers::Offset<file::NodeRecord>> nodes;
  for (const ModelNode& node : model.nodes) nodes.push_back(writeNode(builder, node));
  const auto producer = builder.CreateString(model.producer);
  const auto tensorVector = builder.CreateVector(tensors);
  const auto nodeVector = builder.CreateVector(nodes);
  return file::CreateModelRecord(builder, kFormatVersion, producer, tensorVector, nodeVector, inputs, outputs);
}

size_t constantBytesOf(const Model& model) {
  size_t bytes = 0;
  for (const ModelTensor& tensor : model.tensors)
    if (tensor.constant) bytes += tensor.constant->sizeBytes();
  for (const ModelNode& node : model.nodes)
    for (const Subgraph& subgraph : node.subgraphs) bytes += constantBytesOf(subgraph.model);
  return bytes;
}

}  // namespace

Result<Model> readModel(std::span<const uint8_t> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return ModelReader(bytes).read();
  const std::vector<uint8_t> aligned(bytes.begin(), bytes.end());  // FlatBuffers reads scalars in place
  return ModelReader(aligned).read();
}

Result<std::vector<uint8_t>> writeModel(const Model& model) {
  const size_t constantBytes = constantBytesOf(model);
  if (constantBytes > FLATBUFFERS_MAX_BUFFER_SIZE / 16 * 15)
    return Status::unsupported(".opk models must be smaller than 2 GiB, this one has {} bytes of constants",
                               constantBytes);
  flatbuffers::FlatBufferBuilder builder(constantBytes + 4096);
  file::FinishModelRecordBuffer(builder, writeGraph(builder, model));
  return std::vector<uint8_t>(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

}  // namespace opkit
