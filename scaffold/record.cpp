#include "scaffold/record.h"

#include "engine/base/json_text.h"

#include <xxhash.h>

namespace opkit::scaffold {
namespace {

using nlohmann::json;
constexpr const char* kRecordFolder = ".opkit/scaffold/";

}  // namespace

std::string hashOf(const std::string& text) { return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0)); }

std::string recordPath(const std::string& name) { return kRecordFolder + name + ".json"; }

Record recordOf(const Plan& plan, json spec) {
  Record record{std::move(spec), {}, {}};
  for (const FileChange& change : plan) {
    if (!change.inserted.empty())
      record.blocks.push_back({change.path, change.inserted});
    else if (change.after)
      record.files[change.path] = hashOf(*change.after);
  }
  return record;
}

std::vector<std::string> recordNames(const Tree& tree) {
  const std::string ending = recordPath("").substr(std::string(kRecordFolder).size());
  std::vector<std::string> names;
  for (const std::string& file : tree.list(kRecordFolder))
    if (file.ends_with(ending)) names.push_back(file.substr(0, file.size() - ending.size()));
  return names;
}

std::optional<Record> readRecord(const Tree& tree, const std::string& name) {
  const std::string text = tree.read(recordPath(name)).value_or("");
  if (!checkJsonDepth(text).isOk()) return std::nullopt;
  const json document = parseJson(text);
  if (!document.is_object() || !document.contains("files") || !document.contains("blocks")) return std::nullopt;
  Record record;
  record.spec = document.value("spec", json());
  for (const auto& item : document["files"].items())
    if (item.value().is_string()) record.files[item.key()] = item.value().get<std::string>();
  for (const json& item : document["blocks"]) record.blocks.push_back({item.value("path", ""), item.value("text", "")});
  return record;
}

std::string recordText(const Record& record) {
  json document{{"spec", record.spec}, {"files", record.files}, {"blocks", json::array()}};
  for (const Block& block : record.blocks) document["blocks"].push_back({{"path", block.path}, {"text", block.text}});
  return document.dump(2) + "\n";
}

FileChange recordChange(const Tree& tree, const std::string& name, const std::optional<Record>& record) {
  const std::string path = recordPath(name);
  return {path, tree.read(path), record ? std::optional(recordText(*record)) : std::nullopt};
}

Plan visible(const Plan& plan) {
  Plan result;
  for (const FileChange& change : plan)
    if (change.path.rfind(kRecordFolder, 0) != 0) result.push_back(change);
  return result;
}

}  // namespace opkit::scaffold
