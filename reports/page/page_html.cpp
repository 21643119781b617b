#include "reports/page/page_html.h"

#include <fmt/format.h>

#include <kainjow/mustache.hpp>

#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "reports/history/store.h"
#include "reports/page/page_data.h"
#include "reports/page_texts.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::object;

/// uPlot with its licence; false if the build has none.
data charts() {
  if (kUplot.empty()) return data(false);
  return object{{"code", fmt::format("/*!\n{}*/\n{}", kUplotLicence, kUplot)}};
}

}  // namespace

Status addHistory(const std::string& path, PageSources& sources) {
  OPKIT_ASSIGN(sources.nights, readNights(path));
  OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
  for (const std::string& note : store.notes()) printNote("op-report", note);
  OPKIT_ASSIGN(sources.judged, judgeStore(store));
  return Status::ok();
}

std::map<std::string, OperatorNote> operatorNotes(const OpRegistry& registry) {
  std::map<std::string, OperatorNote> notes;
  for (const OpDef* def : registry.all())
    notes[def->type] = {def->summary, def->folder.empty() ? "" : fmt::format("ops/{0}/{0}.md", def->folder)};
  return notes;
}

Result<std::string> pageHtml(const Results& results, const PageSources& sources) {
  kainjow::mustache::mustache page{std::string(kTemplate)};
  if (!page.is_valid()) return Status::internal("the page's template: {}", page.error_message());
  object content = reportData(results, sources);
  content["style"] = fmt::format("{}{}", kStyle, kUplotStyle);
  content["script"] = fmt::format("{}{}{}", kScript, kChartsScript, kViewsScript);
  content["charts"] = charts();
  content["hasCharts"] = data(!kUplot.empty());
  content["data"] = packed(dataText(results, sources));
  return page.render(data(content));
}

Status writePage(const Results& results, const PageSources& sources, const std::string& path) {
  OPKIT_ASSIGN(const std::string html, pageHtml(results, sources));
  return writeText(path, html);
}

Status writeText(const std::string& path, const std::string& text) {
  return writeFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace opkit::reports
