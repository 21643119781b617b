#include "harness/mutate/marks.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/checked_file.h"
#include "engine/base/json_text.h"

namespace opkit::harness {

using Json = nlohmann::json;

Status EquivalentMarks::add(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Status::ok();
  OPKIT_ASSIGN(const std::string whole, readText(path));
  const Json document = parseJson(whole);
  if (!document.is_object() || !document.contains("equivalent") || !document["equivalent"].is_array())
    return Status::invalidArgument("{}: expected {{\"equivalent\": [{{\"shader\", \"change\", \"reason\"}}]}}", path);
  for (const Json& entry : document["equivalent"]) {
    const auto text = [&](const char* key) { return textField(entry, key); };
    std::vector<std::string> subjects = {text("shader") + text("op")};
    if (entry.is_object() && entry.contains("ops") && entry["ops"].is_array()) {
      subjects.assign(entry["ops"].size(), "");
      std::ranges::transform(entry["ops"], subjects.begin(), [](const Json& op) {
        return op.is_string() ? op.get<std::string>() : "";  // refused below
      });
    }
    if (subjects.empty() || std::ranges::count(subjects, "") > 0 || text("change").empty() || text("reason").empty())
      return Status::invalidArgument(
          "{}: every entry needs \"shader\", \"op\" or \"ops\", \"change\" and \"reason\", got {}", path, entry.dump());
    for (const std::string& subject : subjects) reasons_[{subject, text("change")}] = text("reason");
  }
  return Status::ok();
}

Result<EquivalentMarks> EquivalentMarks::read(const std::string& source) {
  EquivalentMarks marks;
  for (const char* tree : {"ops", "shaders"}) {
    std::error_code error;
    for (const auto& folder : std::filesystem::directory_iterator(source + "/" + tree, error)) {
      const std::string name = folder.path().filename().string();
      OPKIT_TRY(marks.add((folder.path() / (name + ".mutants.json")).string()));
    }
    if (error)
      return Status::invalidArgument("{}/{}: cannot be read; --source names the source tree: {}", source, tree,
                                     error.message());
  }
  return marks;
}

const std::string* EquivalentMarks::reasonOf(const std::string& subject, const std::string& change) const {
  const auto found = reasons_.find({subject, change});
  return found == reasons_.end() ? nullptr : &found->second;
}

}  // namespace opkit::harness
