#include "reports/history/foreign_series.h"

#include <algorithm>

#include "engine/model/model.h"
#include "reports/history/foreign_json.h"

namespace opkit::reports {
namespace {

/// A file without the mark that some editors put before UTF-8, and without blanks before the first word.
std::string_view wordsOf(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

bool looksLikeJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

/// Reads files of one form.
class ForeignReader {
 public:
  explicit ForeignReader(bool higherIsBetter) : higherIsBetter_(higherIsBetter) {}

  Status read(const std::string& path) {
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(path));
    const std::string_view text = wordsOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return Status::invalidArgument("'{}' is empty", path);
    const auto [known, isNew] = contents_.emplace(std::hash<std::string_view>()(text), path);
    if (!isNew)
      return Status::invalidArgument("'{}' has the same content as '{}', which would count twice", path, known->second);
    return readText(path, text).withContext(path);
  }

  Result<ForeignSeries> finish() {
    sortDocuments();
    for (const ForeignDocument& document : documents_)
      OPKIT_TRY(addForeignJson(document, *table_).withContext(document.path));
    return table_->finish();
  }

 private:
  Status readText(const std::string& path, std::string_view text) {
    if (!looksLikeJson(text)) {
      OPKIT_TRY(expect(ForeignForm::Csv));
      return readForeignCsv(text, *table_);
    }
    OPKIT_ASSIGN(ForeignDocument document, parseForeignJson(text));
    OPKIT_TRY(expect(document.form));
    document.path = path;
    documents_.push_back(std::move(document));
    return Status::ok();
  }

  /// All files have the form of the first: nights of two forms have no common order.
  Status expect(ForeignForm form) {
    if (!table_) table_.emplace(nameOf(form), higherIsBetter_), form_ = form;
    if (form == form_) return Status::ok();
    return Status::invalidArgument("expected the form of the first file, {}; found {}", nameOf(form_), nameOf(form));
  }

  void sortDocuments() {
    const auto undated = std::ranges::find_if(documents_, [](const auto& document) { return !document.date; });
    if (undated == documents_.end())
      std::ranges::stable_sort(documents_, {}, [](const auto& document) { return *document.date; });
    else if (std::ranges::any_of(documents_, [](const auto& document) { return document.date.has_value(); }))
      table_->note(fmt::format("'{}' has no date: the files count in the order given", undated->path));
  }

  const bool higherIsBetter_;
  ForeignForm form_ = ForeignForm::Csv;
  std::optional<ForeignTable> table_;
  std::vector<ForeignDocument> documents_;
  std::unordered_map<size_t, std::string> contents_;  // paths by hash
};

}  // namespace

Result<ForeignSeries> readForeignSeries(const std::vector<std::string>& paths, bool higherIsBetter) {
  ForeignReader reader(higherIsBetter);
  for (const std::string& path : paths) OPKIT_TRY(reader.read(path));
  if (paths.empty()) return ForeignSeries{};
  return reader.finish();
}

}  // namespace opkit::reports
