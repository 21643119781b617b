#include "reports/page/page_html.h"

#include <kainjow/mustache.hpp>

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

}  // namespace opkit::reports
