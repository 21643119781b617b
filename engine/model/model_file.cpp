// The .opk form of a model: model.fbs defines the content, this file converts it to a Model and back. The reader trusts
// nothing: FlatBuffers' Verifier checks that every offset stays inside the bytes, then every value is checked before it
// is used.
#include <cstring>

#include "engine/base/nesting.h"
#include "engine/model/model.h"
#include "engine/model/model_generated.h"
#include "engine/model/model_structure.h"
#include "engine/tensor/lazy_buffer.h"

namespace opkit {
namespace {

constexpr uint32_t kInlineVersion = 1;  // constants within the FlatBuffer; read, not written
constexpr uint32_t kFormatVersion = 2;
constexpr size_t kAlignment = 16;
constexpr size_t kConstantAlignment = 64;
/// A subgraph is three tables deeper than the model around it; FlatBuffers' own limit is 64.
constexpr flatbuffers::uoffset_t kMaxTableDepth = 3 * (kMaxNesting + 2);

/// Copies bytes: the Verifier does not check that 8-byte elements are aligned.
template <class T>
std::vector<T> toVector(const flatbuffers::Vector<T>* values) {
  std::vector<T> copy(values ? values->size() : 0);
  if (!copy.empty()) std::memcpy(copy.data(), values->Data(), copy.size() * sizeof(T));
  return copy;
}

std::vector<TensorId> toTensorIds(const flatbuffers::Vector<int32_t>* numbers) {
  std::vector<TensorId> ids;
  for (const int32_t number : toVector(numbers)) ids.emplace_back(number);
  return ids;
}

std::vector<int32_t> toNumbers(const std::vector<TensorId>& ids) {
  std::vector<int32_t> numbers;
  for (const TensorId id : ids) numbers.push_back(id.number());
  return numbers;
}

std::string toString(const flatbuffers::String* text) { return text ? text->str() : std::string(); }

std::vector<std::string> toStrings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts) {
  std::vector<std::string> strings;
  for (size_t i = 0; texts && i < texts->size(); ++i)
    strings.push_back(toString(texts->Get(static_cast<flatbuffers::uoffset_t>(i))));
  return strings;
}

std::optional<InputDefault> toDefault(const file::DefaultRecord* record) {
  if (!record) return std::nullopt;
  return InputDefault{static_cast<size_t>(std::max(record->position(), 0)), toVector(record->shape()),
                      record->is_fixed()};
}

class ModelReader {
 public:
  /// `bytes` are those of `file` if there is one.
  explicit ModelReader(std::span<const uint8_t> bytes, std::shared_ptr<MappedFile> file = nullptr)
      : bytes_(bytes), file_(std::move(file)) {}

  Result<Model> read() {
    if (!isOpk(bytes_)) return Status::corrupt("not an .opk model: expected the identifier OPKT in bytes 4 to 7");
    OPKIT_TRY(verify(std::min<size_t>(bytes_.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1)));
    const file::ModelRecord& record = *file::GetModelRecord(bytes_.data());
    version_ = record.format_version();
    if (version_ != kInlineVersion && version_ != kFormatVersion)
      return Status::unsupported(".opk model: expected format version {} or {}, found {}", kInlineVersion,
                                 kFormatVersion, version_);
    if (version_ == kFormatVersion) {
      structureBytes_ = record.structure_bytes();
      if (structureBytes_ < 8 || structureBytes_ > bytes_.size() || structureBytes_ >= FLATBUFFERS_MAX_BUFFER_SIZE)
        return Status::corrupt(".opk model: its structure claims {} of the file's {} bytes", structureBytes_,
                               bytes_.size());
      OPKIT_TRY(verify(structureBytes_));  // nothing of the structure may lie among the constants
    }
    OPKIT_ASSIGN(Model model, readGraph(record));
    if (record.metadata())
      for (const file::MetadataRecord* entry : *record.metadata())
        model.metadata.emplace_back(toString(entry->key()), toString(entry->value()));
    OPKIT_TRY(checkStructure(model));
    return model;
  }

 private:
  Status verify(size_t size) const {
    flatbuffers::Verifier verifier(bytes_.data(), size, kMaxTableDepth);
    if (file::VerifyModelRecordBuffer(verifier)) return Status::ok();
    return Status::corrupt(".opk model: its {} bytes are truncated, damaged or hold subgraphs more than {} deep",
                           bytes_.size(), kMaxNesting);
  }

  Result<Model> readGraph(const file::ModelRecord& record) {
    Model model{toString(record.producer()), {}, {}, toTensorIds(record.inputs()), toTensorIds(record.outputs())};
    if (record.tensors())
      for (const file::TensorRecord* tensor : *record.tensors()) {
        OPKIT_TRY(readTensor(*tensor, model));
        model.tensors.back().extentNames = toStrings(tensor->extent_names());
        model.tensors.back().defaultOf = toDefault(tensor->default_of());
      }
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
      model.tensors[model.addTensor(name, desc)].startShape = toVector(record.start_shape());
      return Status::ok();
    }
    OPKIT_TRY(checkShape(desc.shape).withContext(fmt::format(".opk model: constant '{}'", name)));
    if (isObject(desc.dtype)) return Status::corrupt(".opk model: constant '{}' is {}", name, desc.toString());
    OPKIT_ASSIGN(const std::span<const uint8_t> stored, constantBytes(record, name, desc));
    constantBytes_ += stored.size();  // records may share bytes; a small file must not ask for much memory
    if (constantBytes_ > bytes_.size())
      return Status::corrupt(".opk model: its constants claim more than the file's {} bytes", bytes_.size());
    if (file_) {
      OPKIT_ASSIGN(Tensor value, constantIn(file_, static_cast<size_t>(stored.data() - bytes_.data()), desc));
      model.addConstant(name, std::move(value));
      return Status::ok();
    }
    OPKIT_ASSIGN(Tensor value, constantFrom(stored, desc));
    model.addConstant(name, std::move(value));
    return Status::ok();
  }

  Result<std::span<const uint8_t>> constantBytes(const file::TensorRecord& record, const std::string& name,
                                                 const TensorDesc& desc) const {
    const size_t needed = desc.sizeBytes();
    if (version_ == kInlineVersion) {
      const size_t stored = record.data() ? record.data()->size() : 0;
      if (stored != needed)
        return Status::corrupt(".opk model: constant '{}' is {} and needs {} bytes, found {}", name, desc.toString(),
                               needed, stored);
      return record.data() ? std::span(record.data()->data(), stored) : bytes_.first(0);
    }
    if (needed == 0) return bytes_.first(0);
    const uint64_t at = record.data_at();
    if (at < structureBytes_ || at % kConstantAlignment != 0 || at > bytes_.size() || needed > bytes_.size() - at)
      return Status::corrupt(".opk model: constant '{}' needs {} bytes at {}, the file has constants from {} to {}",
                             name, needed, at, structureBytes_, bytes_.size());
    return bytes_.subspan(at, needed);
  }

  /// The Verifier bounds the depth of nesting (kMaxTableDepth).
  Status readNode(const file::NodeRecord& record, Model& model) {
    ModelNode node{toString(record.name()),
                   toString(record.type()),
                   record.version(),
                   toTensorIds(record.inputs()),
                   toTensorIds(record.outputs()),
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
  std::shared_ptr<MappedFile> file_;  // shared with the constants that stay there; null if bytes are copied
  uint32_t version_ = 0;
  size_t structureBytes_ = 0;
  size_t constantBytes_ = 0;
};

/// The constants of a model and its subgraphs, and their places in the file.
struct Constants {
  uint64_t end;  // where the next one may begin
  std::vector<std::pair<uint64_t, std::span<const uint8_t>>> placed = {};

  uint64_t place(const Tensor& value) {
    if (value.sizeBytes() == 0) return 0;
    const uint64_t at = (end + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
    const std::span<std::byte> bytes = asStored(value).bytes();
    placed.emplace_back(at, std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    end = at + bytes.size();
    return at;
  }
};

class ModelWriter {
 public:
  /// `structureBytes` is the size of the FlatBuffer to come.
  explicit ModelWriter(uint64_t structureBytes) : structureBytes_(structureBytes), constants_{structureBytes} {
    builder_.ForceDefaults(true);  // so that the size does not depend on the values
  }

  void write(const Model& model) { file::FinishModelRecordBuffer(builder_, writeGraph(model)); }
  std::span<const uint8_t> structure() const { return {builder_.GetBufferPointer(), builder_.GetSize()}; }
  const Constants& constants() const { return constants_; }

 private:
  flatbuffers::Offset<file::TensorRecord> writeTensor(const ModelTensor& tensor) {
    const auto name = builder_.CreateString(tensor.name);
    const auto shape = builder_.CreateVector(tensor.desc.shape.data(), tensor.desc.shape.size());
    flatbuffers::Offset<flatbuffers::Vector<int64_t>> start;
    if (!tensor.startShape.empty()) start = builder_.CreateVector(tensor.startShape.data(), tensor.startShape.size());
    const uint64_t at = tensor.constant ? constants_.place(*tensor.constant) : 0;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> names;
    if (!tensor.extentNames.empty()) names = builder_.CreateVectorOfStrings(tensor.extentNames);
    const auto defaultOf = writeDefault(tensor);
    return file::CreateTensorRecord(builder_, name, static_cast<uint8_t>(tensor.desc.dtype), shape,
                                    tensor.constant.has_value(), 0, start, at, names, defaultOf);
  }

  flatbuffers::Offset<file::DefaultRecord> writeDefault(const ModelTensor& tensor) {
    if (!tensor.defaultOf) return 0;
    const InputDefault& input = *tensor.defaultOf;
    const auto shape = builder_.CreateVector(input.shape.data(), input.shape.size());
    return file::CreateDefaultRecord(builder_, static_cast<int32_t>(input.position), shape, input.isFixed);
  }

  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<file::MetadataRecord>>> writeMetadata(
      const Model& model) {
    if (model.metadata.empty()) return 0;
    std::vector<flatbuffers::Offset<file::MetadataRecord>> entries;
    for (const auto& [key, value] : model.metadata) {
      const auto keyText = builder_.CreateString(key);
      entries.push_back(file::CreateMetadataRecord(builder_, keyText, builder_.CreateString(value)));
    }
    return builder_.CreateVector(entries);
  }

  flatbuffers::Offset<file::NodeRecord> writeNode(const ModelNode& node) {
    std::vector<flatbuffers::Offset<file::SubgraphRecord>> subgraphs;
    for (const Subgraph& subgraph : node.subgraphs) {
      const auto model = writeGraph(subgraph.model);
      const auto name = builder_.CreateString(subgraph.name);
      subgraphs.push_back(file::CreateSubgraphRecord(builder_, name, model, builder_.CreateVector(subgraph.captures)));
    }
    const auto type = builder_.CreateString(node.type);
    const auto name = builder_.CreateString(node.name);
    const auto inputs = builder_.CreateVector(toNumbers(node.inputs));
    const auto outputs = builder_.CreateVector(toNumbers(node.outputs));
    builder_.ForceVectorAlignment(node.params.size(), 1, kAlignment);
    const auto params = builder_.CreateVector(node.params);
    const auto subgraphVector = subgraphs.empty() ? 0 : builder_.CreateVector(subgraphs);
    return file::CreateNodeRecord(builder_, type, node.version, name, inputs, outputs, params, subgraphVector);
  }

  flatbuffers::Offset<file::ModelRecord> writeGraph(const Model& model) {
    // The first object made is at the end of the structure: a vector of whole words, so that it does not end in unread
    // padding.
    const auto inputs = builder_.CreateVector(toNumbers(model.inputs));
    const auto outputs = builder_.CreateVector(toNumbers(model.outputs));
    std::vector<flatbuffers::Offset<file::TensorRecord>> tensors;
    for (const ModelTensor& tensor : model.tensors) tensors.push_back(writeTensor(tensor));
    std::vector<flatbuffers::Offset<file::NodeRecord>> nodes;
    for (const ModelNode& node : model.nodes) nodes.push_back(writeNode(node));
    const auto producer = builder_.CreateString(model.producer);
    const auto tensorVector = builder_.CreateVector(tensors);
    const auto nodeVector = builder_.CreateVector(nodes);
    const auto metadata = writeMetadata(model);
    return file::CreateModelRecord(builder_, kFormatVersion, producer, tensorVector, nodeVector, inputs, outputs,
                                   structureBytes_, metadata);
  }

  uint64_t structureBytes_;
  flatbuffers::FlatBufferBuilder builder_;
  Constants constants_;
};

/// Strings, shapes and parameters, an upper bound: FlatBuffers cannot grow beyond 2 GiB and does not say so.
size_t structureBound(const Model& model) {
  size_t bytes = 1024 + model.producer.size();
  for (const auto& [key, value] : model.metadata) bytes += 64 + key.size() + value.size();
  for (const ModelTensor& tensor : model.tensors) {
    bytes += 128 + tensor.name.size() + 8 * (tensor.desc.shape.size() + tensor.startShape.size());
    for (const std::string& name : tensor.extentNames) bytes += 16 + name.size();
    if (tensor.defaultOf) bytes += 64 + 8 * tensor.defaultOf->shape.size();
  }
  for (const ModelNode& node : model.nodes) {
    bytes +=
        192 + node.type.size() + node.name.size() + node.params.size() + 4 * (node.inputs.size() + node.outputs.size());
    for (const Subgraph& subgraph : node.subgraphs)
      bytes += 64 + subgraph.name.size() + 4 * subgraph.captures.size() + structureBound(subgraph.model);
  }
  return bytes;
}

Status checkConstants(const Model& model) {
  for (const ModelTensor& tensor : model.tensors)
    if (tensor.constant && isObject(tensor.desc.dtype))
      return Status::unsupported(".opk models hold constants of numbers and bool, '{}' is {}", tensor.name,
                                 tensor.desc.toString());
  for (const ModelNode& node : model.nodes)
    for (const Subgraph& subgraph : node.subgraphs) OPKIT_TRY(checkConstants(subgraph.model));
  return Status::ok();
}

/// Calls `use` with the parts of the file in their order.
template <class Use>
auto withParts(const Model& model, Use use) -> decltype(use(std::vector<std::span<const uint8_t>>())) {
  if (const size_t bytes = structureBound(model); bytes >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Status::unsupported(".opk models hold less than 2 GiB beside constants, this one may take {} bytes", bytes);
  OPKIT_TRY(checkConstants(model));
  ModelWriter measured(0);
  measured.write(model);
  ModelWriter writer(measured.structure().size());
  writer.write(model);
  OPKIT_CHECK(writer.structure().size() == measured.structure().size());
  static constexpr uint8_t kPadding[kConstantAlignment] = {};
  std::vector<std::span<const uint8_t>> parts{writer.structure()};
  uint64_t end = writer.structure().size();
  for (const auto& [at, bytes] : writer.constants().placed) {
    parts.push_back(std::span(kPadding).first(at - end));
    parts.push_back(bytes);
    end = at + bytes.size();
  }
  return use(parts);
}

}  // namespace

bool isOpk(std::span<const uint8_t> bytes) {
  return bytes.size() >= 8 && file::ModelRecordBufferHasIdentifier(bytes.data());
}

Result<Model> readModel(std::span<const uint8_t> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return ModelReader(bytes).read();
  const std::vector<uint8_t> aligned(bytes.begin(), bytes.end());  // FlatBuffers reads scalars in place
  return ModelReader(aligned).read();
}

Result<Model> readModel(const std::shared_ptr<MappedFile>& file) { return ModelReader(file->contents(), file).read(); }

Result<std::vector<uint8_t>> writeModel(const Model& model) {
  return withParts(model, [](const std::vector<std::span<const uint8_t>>& parts) -> Result<std::vector<uint8_t>> {
    std::vector<uint8_t> bytes;
    for (const std::span<const uint8_t> part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
  });
}

Result<size_t> writeModel(const Model& model, const std::string& path) {
  return withParts(model, [&](const std::vector<std::span<const uint8_t>>& parts) -> Result<size_t> {
    OPKIT_TRY(writeFile(path, parts));
    size_t bytes = 0;
    for (const std::span<const uint8_t> part : parts) bytes += part.size();
    return bytes;
  });
}

}  // namespace opkit
