// NumPy's .npy: magic, version, the length of a header that is a Python dictionary, then the elements.
// Source: numpy.lib.format, versions 1.0 (16-bit header length), 2.0 (32-bit) and 3.0 (UTF-8 header).
#include <charconv>
#include <cstring>

#include "engine/model/tensor_file.h"
#include "engine/tensor/float_format.h"

namespace opkit {
namespace {

constexpr size_t kMagicSize = 6;
constexpr size_t kHeaderAlignment = 64;

struct NpyType {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr NpyType kTypes[] = {{"f4", DType::Float32}, {"f2", DType::Float16}, {"f8", DType::Float64},
                              {"i1", DType::Int8},    {"u1", DType::UInt8},   {"i2", DType::Int16},
                              {"u2", DType::UInt16},  {"i4", DType::Int32},   {"u4", DType::UInt32},
                              {"i8", DType::Int64},   {"u8", DType::UInt64},  {"b1", DType::Bool}};

/// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } in any key order.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<TensorDesc> parse() {
    if (!take('{')) return malformed();
    while (!take('}')) {
      const std::optional<std::string_view> key = quoted();
      if (!key || !take(':')) return malformed();
      OPKIT_TRY(parseValue(*key));
      take(',');
    }
    if (!dtype_ || !shape_) return malformed();
    OPKIT_TRY(checkShape(*shape_));
    return TensorDesc{*dtype_, *shape_};
  }

 private:
  static Status malformed() {
    return Status::corrupt("its .npy header must be a dictionary of 'descr', 'fortran_order' and 'shape'");
  }

  void skipSpace() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n\t"), text_.size())); }

  bool take(char symbol) {
    skipSpace();
    if (text_.empty() || text_.front() != symbol) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool takeWord(std::string_view word) {
    skipSpace();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> quoted() {
    skipSpace();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }

  Status parseValue(std::string_view key) {
    if (key == "descr") return parseType();
    if (key == "shape") return parseShape();
    if (key != "fortran_order") return malformed();
    if (takeWord("False")) return Status::ok();
    if (takeWord("True")) return Status::unsupported(".npy in Fortran order; expected row-major (C order)");
    return malformed();
  }

  Status parseType() {
    const std::optional<std::string_view> code = quoted();
    if (!code || code->empty()) return Status::unsupported(".npy with structured elements; expected plain numbers");
    const bool hasOrder = std::string_view("<>|=").find(code->front()) != std::string_view::npos;
    const std::string_view bare = code->substr(hasOrder ? 1 : 0);
    for (const NpyType& type : kTypes)
      if (type.code == bare && (code->front() != '>' || sizeOf(type.dtype) == 1)) dtype_ = type.dtype;
    if (!dtype_) return Status::unsupported(".npy elements of type '{}'; expected little-endian f, i, u or b", *code);
    return Status::ok();
  }

  Status parseShape() {
    if (!take('(')) return malformed();
    Shape shape;
    while (!take(')')) {
      skipSpace();
      int64_t extent = 0;
      const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (parsed.ec != std::errc() || shape.size() > 64) return malformed();
      text_.remove_prefix(static_cast<size_t>(parsed.ptr - text_.data()));
      shape.push_back(extent);
      take(',');
    }
    shape_ = std::move(shape);
    return Status::ok();
  }

  std::string_view text_;
  std::optional<DType> dtype_;
  std::optional<Shape> shape_;
};

}  // namespace

Result<Tensor> tensorFromNpy(std::span<const uint8_t> bytes) {
  const bool isShort = bytes.size() > kMagicSize && bytes[kMagicSize] == 1;
  const size_t lengthBytes = isShort ? 2 : 4;
  const size_t start = kMagicSize + 2 + lengthBytes;
  if (bytes.size() < start) return Status::corrupt("expected an .npy header, found {} bytes", bytes.size());
  if (bytes[kMagicSize] < 1 || bytes[kMagicSize] > 3)
    return Status::unsupported(".npy version {}; expected 1, 2 or 3", bytes[kMagicSize]);
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i) length |= size_t{bytes[kMagicSize + 2 + i]} << (8 * i);
  if (length > bytes.size() - start)
    return Status::corrupt(".npy header of {} bytes in a file of {}", length, bytes.size());
  OPKIT_ASSIGN(const TensorDesc desc,
               HeaderParser({reinterpret_cast<const char*>(bytes.data() + start), length}).parse());
  const std::span<const uint8_t> elements = bytes.subspan(start + length);
  if (elements.size() != desc.sizeBytes())
    return Status::corrupt("{} needs {} bytes of elements, found {}", desc.toString(), desc.sizeBytes(),
                           elements.size());
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(desc));
  if (!elements.empty()) std::memcpy(tensor.bytes().data(), elements.data(), elements.size());
  if (desc.dtype == DType::Bool)
    for (uint8_t& element : tensor.data<uint8_t>()) element = element != 0;
  return tensor;
}

namespace {

/// Each element of a packed tensor in a byte of its own: integers as their values, floats as their codes.
std::vector<uint8_t> inBytes(const Tensor& tensor) {
  std::vector<uint8_t> bytes(static_cast<size_t>(tensor.desc.elements()));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = isFloat(tensor.desc.dtype) ? static_cast<uint8_t>(readCode(tensor, i))
                                          : static_cast<uint8_t>(static_cast<int>(readCoded(tensor, i)));
  return bytes;
}

std::string npyCodeOf(DType dtype) {
  if (dtype == DType::Int4 || dtype == DType::Int2) return "|i1";
  if (dtype == DType::UInt4 || dtype == DType::UInt2) return "|u1";
  // NumPy itself has no such floats: like its extension ml_dtypes, this writes their bytes.
  if (isCodedFloat(dtype)) return fmt::format("|V{}", bytesOf(dtype, 1));
  for (const NpyType& type : kTypes)
    if (type.dtype == dtype) return fmt::format("{}{}", sizeOf(dtype) == 1 ? '|' : '<', type.code);
  return "";
}

}  // namespace

std::vector<uint8_t> tensorToNpy(const Tensor& tensor) {
  std::string shape;
  for (int64_t extent : tensor.desc.shape) shape += fmt::format("{},", extent);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", npyCodeOf(tensor.desc.dtype), shape);
  const size_t start = kMagicSize + 4;
  header.append(kHeaderAlignment - (start + header.size() + 1) % kHeaderAlignment, ' ');
  header += '\n';
  std::vector<uint8_t> bytes{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  bytes.push_back(static_cast<uint8_t>(header.size() & 0xFF));
  bytes.push_back(static_cast<uint8_t>(header.size() >> 8));
  bytes.insert(bytes.end(), header.begin(), header.end());
  if (isPacked(tensor.desc.dtype)) {
    const std::vector<uint8_t> codes = inBytes(tensor);
    bytes.insert(bytes.end(), codes.begin(), codes.end());
    return bytes;
  }
  const std::span<std::byte> elements = tensor.bytes();
  bytes.resize(bytes.size() + elements.size());
  if (!elements.empty()) std::memcpy(bytes.data() + start + header.size(), elements.data(), elements.size());
  return bytes;
}

}  // namespace opkit
