#include "engine/import/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace opkit {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length = {};
};

Result<uint64_t> numberOf(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return Status::invalidArgument("its external data has the {} '{}': expected a whole number", key, text);
  return value;
}

Result<Place> placeOf(const onnx::TensorProto& proto) {
  Place place;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") {
      OPKIT_ASSIGN(place.offset, numberOf("offset", entry.value()));
    }
    if (entry.key() == "length") {
      OPKIT_ASSIGN(place.length, numberOf("length", entry.value()));
      if (place.length == 0) place.length.reset();  // ONNX's own loader reads to the end: as if it were absent
    }
  }
  if (place.location.empty()) return Status::invalidArgument("its external data has no location");
  return place;
}

}  // namespace

Result<std::shared_ptr<MappedFile>> ExternalData::fileAt(const std::string& location) {
  if (modelPath_.empty())
    return Status::unsupported("its data is in the file '{}' beside the model, and the model came without a path",
                               location);
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const fs::path relative(location);
  const auto outside = [&] {
    return Status::invalidArgument("its data is in '{}': expected a file in the folder of the model", location);
  };
  if (relative.is_absolute() || std::ranges::find(relative, "..") != relative.end()) return outside();
  std::error_code error;
  const fs::path model = fs::absolute(modelPath_, error);
  const fs::path path = model.parent_path() / relative;
  const fs::path real = fs::canonical(path, error);
  if (error) return Status::invalidArgument("cannot read '{}': {}", path.string(), error.message());
  // A model may be a link to a store of files; its data may lie there too.
  bool inside = false;
  for (const fs::path& folder : {model.parent_path(), fs::canonical(model, error).parent_path()}) {
    const fs::path base = fs::canonical(folder, error);
    inside =
        inside || (!error && std::mismatch(base.begin(), base.end(), real.begin(), real.end()).first == base.end());
  }
  if (!inside) return outside();
  OPKIT_ASSIGN(auto file, MappedFile::open(path.string()));
  files_.emplace(location, file);
  return file;
}

Result<Tensor> ExternalData::read(const onnx::TensorProto& proto, const TensorDesc& desc) {
  OPKIT_ASSIGN(const Place place, placeOf(proto));
  const size_t needed = desc.sizeBytes();
  if (place.length && *place.length != needed)
    return Status::corrupt("{} needs {} bytes of external data, found a length of {}", desc.toString(), needed,
                           *place.length);
  OPKIT_ASSIGN(const auto file, fileAt(place.location));
  if (place.offset > file->sizeBytes() || needed > file->sizeBytes() - place.offset)
    return Status::corrupt("{} needs {} bytes at {} of '{}', which has {} bytes", desc.toString(), needed, place.offset,
                           place.location, file->sizeBytes());
  return constantIn(file, place.offset, desc);
}

std::optional<ByteRange> ExternalData::rangeOf(const onnx::TensorProto& proto) const {
  const std::optional<uint64_t> number = own_.ranges.empty() ? std::nullopt : numberOfValue(proto);
  return number && *number < own_.ranges.size() ? std::optional(own_.ranges[*number]) : std::nullopt;
}

Result<Tensor> ExternalData::read(ByteRange range, const TensorDesc& desc) const {
  if (own_.file) return constantIn(own_.file, range.offset, desc);
  return constantFrom(own_.bytes.subspan(range.offset, range.sizeBytes), desc);
}

}  // namespace opkit
