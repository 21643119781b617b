#include "engine/tensor/tensor.h"

#include <charconv>
#include <cstring>
#include <new>

#include "engine/tensor/float_format.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

constexpr size_t kHostAlignment = 64;

template <class To, class From>
To convertElement(From value) {
  if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, Half>)
    return value;
  else if constexpr (std::is_same_v<From, Half>)
    return static_cast<To>(toFloat(value));
  else if constexpr (std::is_same_v<To, Half>)
    return toHalf(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

/// As above; to bool, anything but zero is true.
template <class To, class From>
To convertElement(From value, DType to) {
  return to == DType::Bool ? convertElement<To>(convertElement<double>(value) != 0.0) : convertElement<To>(value);
}

/// Calls visitor(read): read(i) is element i, as its C++ type or, of a dtype that is stored as codes, as a double.
template <class Visitor>
void visitReader(const Tensor& from, const Visitor& visitor) {
  if (isCoded(from.desc.dtype)) return visitor([&from](size_t i) { return readCoded(from, i); });
  visitDType(from.desc.dtype,
             [&](auto tag) { visitor([elements = from.data<decltype(tag)>()](size_t i) { return elements[i]; }); });
}

/// Calls visitor(write): write(i, value) converts and stores element i.
template <class Visitor>
void visitWriter(const Tensor& to, const Visitor& visitor) {
  const DType dtype = to.desc.dtype;
  if (isCoded(dtype)) return visitor([&to](size_t i, auto value) { writeCoded(to, i, convertElement<double>(value)); });
  visitDType(dtype, [&](auto tag) {
    using To = decltype(tag);
    visitor(
        [dtype, elements = to.data<To>()](size_t i, auto value) { elements[i] = convertElement<To>(value, dtype); });
  });
}

/// Copies element by element, from one order to another.
void convertLayout(const Tensor& from, const Tensor& to) {
  OPKIT_CHECK(from.desc.shape == to.desc.shape);
  const LayoutView source(from.desc.shape, from.layout);
  const LayoutView target(to.desc.shape, to.layout);
  if (to.layout == Layout::NC4HW4 && to.sizeBytes() > 0) std::memset(to.bytes().data(), 0, to.sizeBytes());
  visitReader(from, [&](auto read) {
    visitWriter(to, [&](auto write) {
      for (int64_t n = 0; n < source.batch; ++n)
        for (int64_t c = 0; c < source.channels; ++c)
          for (int64_t i = 0; i < source.spatial; ++i)
            write(static_cast<size_t>(target.at(n, c, i)), read(static_cast<size_t>(source.at(n, c, i))));
    });
  });
}

}  // namespace

Result<TensorDesc> parseTensorDesc(const std::string& text) {
  const Status malformed = Status::invalidArgument("expected a tensor description such as f32[8,1024], got '{}'", text);
  const size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']') return malformed;
  const auto dtype = dtypeFromName(std::string_view(text).substr(0, open));
  if (!dtype) return malformed;
  TensorDesc desc{*dtype, {}};
  const char* cursor = text.data() + open + 1;
  const char* end = text.data() + text.size() - 1;
  while (cursor < end) {
    int64_t extent = kDynamic;
    if (*cursor == '?') {
      ++cursor;
    } else {
      const auto parsed = std::from_chars(cursor, end, extent);
      if (parsed.ec != std::errc() || extent < 0) return malformed;
      cursor = parsed.ptr;
    }
    desc.shape.push_back(extent);
    if (cursor == end) break;
    if (*cursor++ != ',' || cursor == end) return malformed;
  }
  return desc;
}

void HostBuffer::Free::operator()(std::byte* data) const { ::operator delete(data, std::align_val_t(kHostAlignment)); }

Result<std::shared_ptr<HostBuffer>> HostBuffer::create(size_t sizeBytes, Fill fill) {
  HostMemoryShare counted;
  OPKIT_TRY(counted.atLeast(sizeBytes));
  void* data = ::operator new(std::max<size_t>(sizeBytes, 1), std::align_val_t(kHostAlignment), std::nothrow);
  if (!data) return Status::outOfMemory("the host refused {} bytes", sizeBytes);
  std::unique_ptr<std::byte, Free> owned(static_cast<std::byte*>(data));
  if (fill == Fill::Zero) std::memset(data, 0, sizeBytes);
  return std::shared_ptr<HostBuffer>(new HostBuffer(sizeBytes, std::move(owned), std::move(counted)));
}

Result<Tensor> Tensor::onHost(TensorDesc desc, Fill fill) {
  OPKIT_TRY(checkShape(desc.shape));
  if (isObject(desc.dtype)) return emptyObject(desc);
  OPKIT_ASSIGN(auto buffer, HostBuffer::create(desc.sizeBytes(), fill));
  return Tensor{std::move(desc), std::move(buffer), 0, 0};
}

void convertElements(const Tensor& from, const Tensor& to) {
  OPKIT_CHECK(from.desc.elements() == to.desc.elements());
  if (from.layout != to.layout) return convertLayout(from, to);
  if (from.desc.dtype == to.desc.dtype) {
    if (from.sizeBytes() > 0) std::memcpy(to.bytes().data(), from.bytes().data(), from.sizeBytes());
    return;
  }
  const auto count = static_cast<size_t>(from.desc.elements());
  visitReader(from, [&](auto read) {
    visitWriter(to, [&](auto write) {
      for (size_t i = 0; i < count; ++i) write(i, read(i));
    });
  });
}

std::vector<int64_t> toInt64(const Tensor& tensor) {
  OPKIT_CHECK(!isFloat(tensor.desc.dtype));
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(tensor.desc.elements()));
  if (isCoded(tensor.desc.dtype)) {
    for (size_t i = 0; i < static_cast<size_t>(tensor.desc.elements()); ++i)
      values.push_back(static_cast<int64_t>(readCoded(tensor, i)));
    return values;
  }
  visitDType(tensor.desc.dtype, [&](auto tag) {
    for (auto value : tensor.data<decltype(tag)>()) {
      if constexpr (!std::is_same_v<decltype(value), Half>) values.push_back(static_cast<int64_t>(value));
    }
  });
  return values;
}

}  // namespace opkit
