#include "scaffold/record.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "engine/base/json_text.h"

namespace opkit::scaffold {
namespace {

using nlohmann::json;
constexpr const char* kRecordFolder = ".opkit/scaffold/";

}  // namespace

bool isInside(const std::string& path) {
  const std::filesystem::path parts = path;
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  return !path.empty() && parts.is_relative() && std::ranges::find(parts, "..") == parts.end() &&
         std::ranges::none_of(path, isControl);
}

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
  const auto text = name.find('/') == name.npos ? tree.read(recordPath(name)) : std::nullopt;
  if (!text) return std::nullopt;
  const auto damaged = [&](const std::string& how) {
    return TreeError(fmt::format("{} {}; delete it, and {} counts as not scaffolded", recordPath(name), how, name));
  };
  Record record;
  try {
    const json document = parseJson(*text);
    record.spec = document.at("spec");
    document.at("files").get_to(record.files);
    for (const json& block : document.at("blocks")) record.blocks.push_back({block.at("path"), block.at("text")});
    for (const Block& block : record.blocks)
      if (block.text.empty()) throw damaged("has a block without text");
  } catch (const json::exception&) {
    throw damaged("is no record of op-scaffold");
  }
  for (const auto& [path, hash] : record.files)
    if (!isInside(path)) throw damaged(fmt::format("names {}, which is not in the tree", path));
  for (const Block& block : record.blocks)
    if (!isInside(block.path)) throw damaged(fmt::format("names {}, which is not in the tree", block.path));
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
