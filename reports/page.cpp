#include "reports/page.h"

#include <kainjow/mustache.hpp>

#include "engine/model/model.h"
#include "reports/history/store.h"
#include "reports/report_template.h"

namespace opkit::reports {

Status addHistory(const std::string& path, PageSources& sources) {
  OPKIT_ASSIGN(sources.nights, readNights(path));
  OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
  OPKIT_ASSIGN(sources.judged, judgeStore(store));
  OPKIT_ASSIGN(sources.times, readTimeHistory(path));
  return Status::ok();
}

Status writePage(const Results& results, const PageSources& sources, const std::string& path) {
  kainjow::mustache::mustache page{std::string(kReportTemplate)};
  if (!page.is_valid()) return Status::internal("the page's template is wrong: {}", page.error_message());
  const std::string html = page.render(reportData(results, sources));
  return writeFile(path, {reinterpret_cast<const uint8_t*>(html.data()), html.size()});
}

}  // namespace opkit::reports
