#include "harness/export/case_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/model/model.h"
#include "harness/cases/rng.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostOfName = 99, kMostOfOperator = 40;
constexpr const char* kPartEnd = ".part";

/// A name of a plugin's operator may hold anything.
std::string plainText(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '-';
  return text.substr(0, kMostOfOperator);
}

/// "-f32-8x1024" of the first input, "" without inputs.
std::string firstInputText(const Case& c) {
  const auto first = std::ranges::find_if(c.inputs, [](const auto& input) { return input.has_value(); });
  if (first == c.inputs.end()) return "";
  const Shape& shape = (*first)->shape;
  return fmt::format("-{}-{}", nameOf((*first)->dtype),
                     shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")));
}

fs::path partOf(const std::string& parent, const std::string& name) {
  return fs::path(parent) / ("." + name + kPartEnd);
}

/// Where an older folder waits until the new one has its place.
fs::path olderOf(const std::string& parent, const std::string& name) { return partOf(parent, name + ".old"); }

/// A folder itself, no link to one.
bool isCaseFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored)) && fs::exists(path / "bound.json", ignored);
}

/// Whether anything has this name, be it a link that leads nowhere.
bool isTaken(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

Status cannotMake(const fs::path& folder, const std::error_code& error) {
  return Status::invalidArgument("cannot make the folder '{}': {}", folder.string(), error.message());
}

/// Puts the folder `part` in the place of an older one.
Status swapIn(const fs::path& part, const fs::path& folder, const fs::path& older) {
  std::error_code error, ignored;
  if (isTaken(folder)) fs::rename(folder, older, error);
  if (error) return cannotMake(folder, error);
  fs::rename(part, folder, error);
  if (error) {
    if (isTaken(older)) fs::rename(older, folder, ignored);
    return cannotMake(folder, error);
  }
  fs::remove_all(older, ignored);
  return Status::ok();
}

std::string setName(size_t k) { return fmt::format("test_data_set_{}", k); }
std::string hiddenName(size_t i) { return fmt::format("hidden_{}.pb", i); }
std::string boundName(size_t i) { return fmt::format("bound_{}.pb", i); }

bool hasHidden(const ExportedSet& set, size_t input) {
  return input < set.hidden.size() && std::ranges::count(set.hidden[input], true) > 0;
}

/// One number if all bounds are that number; JSON has no infinity.
std::optional<double> commonBound(const std::vector<double>& bounds) {
  if (bounds.empty()) return 0;
  const bool isOne = std::ranges::all_of(bounds, [&](double bound) { return bound == bounds[0]; });
  return isOne && std::isfinite(bounds[0]) ? std::optional(bounds[0]) : std::nullopt;
}

OutputBound outputBoundOf(const ExportedModel& model, const ExportedSet& set, size_t i) {
  const Tolerance& tolerance = set.tolerances[i];
  OutputBound output{model.outputs[i], tolerance.byClass, tolerance.signOfZero};
  if (tolerance.byClass) return output;
  const auto common = commonBound(boundsOfRounded(set.expected[i], tolerance));
  if (common)
    output.bound = *common;
  else
    output.file = boundName(i);
  return output;
}

/// The questions that a data set has for an engine.
std::vector<std::string> questionsOf(const ExportedModel& model, const ExportedSet& set) {
  std::vector<std::string> questions = {"repeat"};
  if (model.sets.size() > 1) questions.push_back("resize");
  for (size_t i = 0; i < set.hidden.size(); ++i)
    if (hasHidden(set, i)) {
      questions.push_back("hidden");
      break;
    }
  const Lane lane = set.description.lane;
  if (lane == Lane::Specials || lane == Lane::Edges) questions.push_back("specials");
  return questions;
}

/// Writes the files of one folder and counts their bytes.
class CaseFolderWriter {
 public:
  explicit CaseFolderWriter(fs::path folder) : folder_(std::move(folder)) {}

  Status write(const ExportedModel& model) {
    OPKIT_TRY(makeFolder(folder_));
    OPKIT_TRY(put("model.onnx", model.bytes));
    for (size_t k = 0; k < model.sets.size(); ++k) OPKIT_TRY(writeSet(model, k));
    const std::string text = toText(boundFileOf(model));
    return put("bound.json", {text.begin(), text.end()});
  }
  size_t bytes() const { return bytes_; }

 private:
  Status writeSet(const ExportedModel& model, size_t k) {
    const ExportedSet& set = model.sets[k];
    const fs::path place = setName(k);
    OPKIT_TRY(makeFolder(folder_ / place));
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      OPKIT_TRY(putTensor(place / fmt::format("input_{}.pb", i), set.inputs[i], model.inputs[i]));
      if (hasHidden(set, i)) OPKIT_TRY(putHidden(place / hiddenName(i), set.inputs[i].desc.shape, set.hidden[i]));
    }
    for (size_t i = 0; i < set.expected.size(); ++i) {
      OPKIT_ASSIGN(const Tensor rounded, roundedOutput(set.expected[i]));
      OPKIT_TRY(putTensor(place / fmt::format("output_{}.pb", i), rounded, model.outputs[i]));
      if (outputBoundOf(model, set, i).file.empty()) continue;
      OPKIT_ASSIGN(const Tensor bounds,
                   Tensor::fromValues<double>({DType::Float64, set.expected[i].desc.shape},
                                              boundsOfRounded(set.expected[i], set.tolerances[i])));
      OPKIT_TRY(putTensor(place / boundName(i), bounds, model.outputs[i]));
    }
    return Status::ok();
  }

  Status putHidden(const fs::path& name, const Shape& shape, const std::vector<bool>& hidden) {
    OPKIT_ASSIGN(const Tensor flags,
                 Tensor::fromValues<uint8_t>({DType::Bool, shape}, std::vector<uint8_t>(hidden.begin(), hidden.end())));
    return putTensor(name, flags, "hidden");
  }
  Status putTensor(const fs::path& name, const Tensor& tensor, const std::string& port) {
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, tensorToProto(tensor, port));
    return put(name, bytes);
  }
  Status put(const fs::path& name, const std::vector<uint8_t>& bytes) {
    bytes_ += bytes.size();
    return writeFile((folder_ / name).string(), bytes);
  }
  static Status makeFolder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? cannotMake(folder, error) : Status::ok();
  }

  fs::path folder_;
  size_t bytes_ = 0;
};

}  // namespace

std::string folderName(const Case& c) {
  const std::string front = plainText(c.op) + firstInputText(c);
  const std::string back = fmt::format("-{}-{:08x}", nameOf(c.lane), static_cast<uint32_t>(hashText(c.id())));
  return front.substr(0, kMostOfName - back.size()) + back;
}

Status checkFolderNames(const std::vector<CaseGroup>& groups) {
  std::map<std::string, std::string> ids;
  for (const CaseGroup& group : groups)
    for (const Case& c : group.cases) {
      const std::string name = folderName(c), id = c.id();
      const auto [known, isNew] = ids.emplace(name, id);
      if (!isNew && known->second != id)
        return Status::invalidArgument("two cases have the folder name '{}': {} and {}; export them apart", name,
                                       known->second, id);
    }
  return Status::ok();
}

Result<Tensor> roundedOutput(const OracleTensor& expected) {
  OPKIT_ASSIGN(Tensor rounded, Tensor::onHost(expected.desc));
  expected.toTensor(rounded);
  return rounded;
}

std::vector<double> boundsOfRounded(const OracleTensor& expected, const Tolerance& tolerance) {
  std::vector<double> bounds = tolerance.bound;
  for (size_t i = 0; i < bounds.size(); ++i) {
    const double exact = expected.real[i], rounded = roundTo(expected.desc.dtype, exact);
    const bool isBounded = bounds[i] > 0 && std::isfinite(rounded);
    bounds[i] = isBounded ? bounds[i] + std::fabs(rounded - exact) : 0;
  }
  return bounds;
}

BoundFile boundFileOf(const ExportedModel& model) {
  const size_t colons = model.form.type.find("::");
  const bool isOnnx = colons == std::string::npos;
  const Case& first = model.sets[0].description;
  BoundFile file{.op = first.op,
                 .onnx = isOnnx ? model.form.type : model.form.type.substr(colons + 2),
                 .domain = isOnnx ? "" : model.form.type.substr(0, colons),
                 .opset = model.form.opset,
                 .catches = first.name,
                 .sets = {}};
  for (size_t k = 0; k < model.sets.size(); ++k) {
    const ExportedSet& set = model.sets[k];
    BoundSet& one = file.sets.emplace_back();
    one.set = setName(k);
    one.id = set.description.id();
    one.lane = nameOf(set.description.lane);
    one.ask = questionsOf(model, set);
    for (size_t i = 0; i < set.inputs.size(); ++i)
      if (hasHidden(set, i)) one.hidden.push_back(hiddenName(i));
    for (size_t i = 0; i < set.expected.size(); ++i) one.outputs.push_back(outputBoundOf(model, set, i));
  }
  return file;
}

Result<size_t> writeCaseFolder(const std::string& parent, const std::string& name, const ExportedModel& model) {
  const fs::path folder = fs::path(parent) / name;
  if (isTaken(folder)) return Status::invalidArgument("'{}' exists already", folder.string());
  return replaceCaseFolder(parent, name, model);
}

Result<size_t> replaceCaseFolder(const std::string& parent, const std::string& name, const ExportedModel& model) {
  const fs::path part = partOf(parent, name), folder = fs::path(parent) / name;
  if (isTaken(folder) && !isCaseFolder(folder))
    return Status::invalidArgument("'{}' is no folder with a bound.json, and stays as it is", folder.string());
  removePartsOf(parent, name);
  CaseFolderWriter writer(part);
  Status status = writer.write(model);
  if (status.isOk()) status = swapIn(part, folder, olderOf(parent, name));
  if (status.isOk()) return writer.bytes();
  std::error_code ignored;
  fs::remove_all(part, ignored);
  return status;
}

Status removeCaseFolder(const std::string& parent, const std::string& name) {
  const fs::path folder = fs::path(parent) / name, older = olderOf(parent, name);
  if (!isCaseFolder(folder)) return Status::ok();
  removePartsOf(parent, name);
  std::error_code error;
  fs::rename(folder, older, error);  // it is there whole or not at all
  if (!error) fs::remove_all(older, error);
  if (!error) return Status::ok();
  return Status::invalidArgument("cannot remove '{}': {}", folder.string(), error.message());
}

bool isPartFolder(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code ignored;
  return name.starts_with('.') && name.ends_with(kPartEnd) && entry.is_directory(ignored) && !entry.is_symlink(ignored);
}

void removePartFolders(const std::string& parent) {
  std::error_code error;
  std::vector<fs::path> parts;
  for (const auto& entry : fs::directory_iterator(parent, error))
    if (isPartFolder(entry)) parts.push_back(entry.path());
  for (const fs::path& part : parts) fs::remove_all(part, error);
}

void removePartsOf(const std::string& parent, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& path : {partOf(parent, name), olderOf(parent, name)})
    if (isPartFolder(fs::directory_entry(path, ignored))) fs::remove_all(path, ignored);
}

bool holdsOtherThanParts(const std::string& parent) {
  std::error_code error;
  if (!fs::exists(parent, error)) return false;
  fs::directory_iterator entries(parent, error);
  if (error) return true;
  return std::ranges::any_of(fs::begin(entries), fs::end(entries),
                             [](const auto& entry) { return !isPartFolder(entry); });
}

}  // namespace opkit::harness
