#include "engine/import/onnx/lean_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/unknown_field_set.h>

#include <deque>
#include <utility>

#include "engine/base/nesting.h"
#include "engine/import/onnx/wire_messages.h"

namespace opkit {
namespace {

constexpr int kRawData = 9;        // of TensorProto
constexpr int kLeftOut = 100'001;  // of TensorProto, in no version of ONNX
constexpr uint64_t kVarint = 0, kEightBytes = 1, kLengthDelimited = 2, kFourBytes = 5;  // wire types

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

/// Fields that merge if a message gives them twice, and hold values.
bool holdsOneValue(WireMessage message, uint64_t number) {
  switch (message) {
    case WireMessage::Attribute: return number == 5 || number == 22;
    case WireMessage::SparseTensor: return number == 1 || number == 2;
    case WireMessage::Tensor: return number == kRawData;
    default: return false;
  }
}

}  // namespace

/// Goes through the fields of the messages that may hold tensors, without recursion.
class LeanModel::Walk {
 public:
  explicit Walk(LeanModel& lean) : lean_(lean), bytes_(lean.model_) {}

  /// False if the bytes are not understood to their end.
  bool run() {
    open_.push_back({.message = WireMessage::Model, .end = bytes_.size()});
    while (!open_.empty())
      if (at_ == open_.back().end)
        close();
      else if (!readField())
        return false;
    return true;
  }

 private:
  struct Open {
    WireMessage message;
    size_t end;
    size_t begin = 0;
    size_t edit = 0;     // of its length, which stands before `begin`
    uint32_t given = 0;  // a bit per field that holds one value
    int64_t growth = 0;  // in bytes, by the edits inside
  };

  bool readField() {
    Open& around = open_.back();
    const size_t fieldAt = at_;
    uint64_t tag = 0, value = 0;
    if (!readVarint(tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    const uint64_t number = tag >> 3;
    if (around.message == WireMessage::Tensor && number == kLeftOut) return false;
    switch (tag & 7) {
      case kVarint: return readVarint(value);
      case kEightBytes: return skip(8);
      case kFourBytes: return skip(4);
      case kLengthDelimited: break;
      default: return false;
    }
    const size_t lengthAt = at_;
    if (!readVarint(value) || value > around.end - at_) return false;
    if (holdsOneValue(around.message, number) && std::exchange(around.given, around.given | 1U << number) >> number & 1)
      return false;
    if (const WireMessage inner = messageIn(around.message, number); inner != WireMessage::Other)
      return open(inner, lengthAt, value);
    at_ += value;
    if (around.message == WireMessage::Tensor && number == kRawData && value >= kLeastBytes)
      leaveOut(fieldAt, {at_ - value, value});
    return true;
  }

  bool open(WireMessage message, size_t lengthAt, size_t sizeBytes) {
    if (static_cast<int>(open_.size()) > kMostMessages) return false;
    open_.push_back({.message = message, .end = at_ + sizeBytes, .begin = at_, .edit = lean_.edits_.size()});
    lean_.edits_.push_back({lengthAt, at_ - lengthAt, {}});
    return true;
  }

  void leaveOut(size_t fieldAt, ByteRange value) {
    std::string text = varint(uint64_t{kLeftOut} << 3 | kVarint) + varint(lean_.values_.size());
    lean_.values_.push_back(value);
    lean_.edits_.push_back({fieldAt, at_ - fieldAt, std::move(text)});
    open_.back().growth += growthBy(lean_.edits_.back());
  }

  /// The message that ends here gets its new length; without edits inside, it keeps its bytes.
  void close() {
    const Open inner = open_.back();
    open_.pop_back();
    if (open_.empty()) return;
    if (inner.growth == 0) return lean_.edits_.pop_back();
    Edit& length = lean_.edits_[inner.edit];
    length.text = varint(static_cast<uint64_t>(static_cast<int64_t>(inner.end - inner.begin) + inner.growth));
    open_.back().growth += inner.growth + growthBy(length);
  }

  static int64_t growthBy(const Edit& edit) {
    return static_cast<int64_t>(edit.text.size()) - static_cast<int64_t>(edit.sizeBytes);
  }

  /// A tag or a length, or a value of a field; all lie within the message.
  bool readVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at_ < open_.back().end; shift += 7) {
      const uint8_t byte = bytes_[at_++];
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool skip(size_t count) {
    if (count > open_.back().end - at_) return false;
    at_ += count;
    return true;
  }

  LeanModel& lean_;
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  std::vector<Open> open_;
};

const int LeanModel::kMostMessages = 3 * (static_cast<int>(kMaxNesting) + 1) + 8;

LeanModel::LeanModel(std::span<const uint8_t> model) : model_(model) {
  if (Walk(*this).run()) return;
  values_.clear();
  edits_.clear();
}

bool LeanModel::parse(onnx::ModelProto& proto) const {
  namespace io = google::protobuf::io;
  std::deque<io::ArrayInputStream> pieces;
  size_t at = 0;
  const auto add = [&](const void* bytes, size_t size) { pieces.emplace_back(bytes, static_cast<int>(size)); };
  for (const Edit& edit : edits_) {
    add(model_.data() + at, edit.offset - at);
    add(edit.text.data(), edit.text.size());
    at = edit.offset + edit.sizeBytes;
  }
  add(model_.data() + at, model_.size() - at);
  std::vector<io::ZeroCopyInputStream*> streams;
  for (io::ArrayInputStream& piece : pieces) streams.push_back(&piece);
  io::ConcatenatingInputStream joined(streams.data(), static_cast<int>(streams.size()));
  io::CodedInputStream stream(&joined);
  stream.SetRecursionLimit(kMostMessages);
  return proto.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

std::optional<uint64_t> numberOfValue(const onnx::TensorProto& proto) {
  const google::protobuf::UnknownFieldSet& fields = proto.GetReflection()->GetUnknownFields(proto);
  for (int i = 0; i < fields.field_count(); ++i)
    if (const auto& field = fields.field(i);
        field.number() == kLeftOut && field.type() == google::protobuf::UnknownField::TYPE_VARINT)
      return field.varint();
  return std::nullopt;
}

}  // namespace opkit
