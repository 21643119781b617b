// Tables that programs read: of nights, of peers' times, of other programs' numbers, of operators, and of the harness.
#include "fuzz/mutate_text.h"
#include "fuzz/text_kinds.h"
#include "harness/cases/costs.h"
#include "harness/check/margins.h"
#include "harness/check/traced_cases.h"
#include "reports/history/foreign_series.h"
#include "reports/history/halves.h"
#include "reports/history/judged.h"
#include "reports/night_parts.h"
#include "reports/ops_page/ops_differences.h"
#include "reports/ops_page/ops_page.h"
#include "reports/page/page_html.h"
#include "reports/peer_times.h"

namespace opkit::fuzz {
namespace {

using namespace reports;
using Use = std::function<Status(const std::string& path, std::vector<std::string>& notes)>;

/// A kind whose reader takes a path.
TextKind fileKind(const char* name, std::vector<Bytes> seeds, const std::string& folder, const Use& use) {
  const auto attempt = [=](const std::string& text) {
    Trial trial;
    trial.status = use(place(folder, name, text), trial.notes);
    return trial;
  };
  return {std::move(seeds), mutateText, attempt};
}

/// A kind whose reader takes a text.
TextKind plainKind(std::vector<Bytes> seeds, Status (*use)(const std::string& text)) {
  return {std::move(seeds), mutateText, [use](const std::string& text) { return Trial{use(text), {}}; }};
}

/// The first lines of a table of the tree.
Bytes headOf(const std::string& path, size_t lines) {
  const Bytes whole = sourceFile(path);
  auto end = whole.begin();
  for (; lines > 0 && end != whole.end(); --lines) end = std::find(end, whole.end(), '\n') + 1;
  return {whole.begin(), end};
}

Status useParts(const std::string& path, std::vector<std::string>& notes) {
  PageSources sources;
  OPKIT_ASSIGN(sources.parts, readNightParts(path, "2026-11-30"));
  notes.push_back(sources.parts->summary());
  return pageHtml({}, sources).error();
}

Status usePeers(const std::string& path, std::vector<std::string>& notes) {
  PageSources sources;
  OPKIT_ASSIGN(sources.peers, readPeerTimes(path));
  notes.push_back(sources.peers->summary());
  return pageHtml({}, sources).error();
}

Status useForeign(const std::string& path, std::vector<std::string>& notes) {
  for (const bool higherIsBetter : {false, true}) {
    OPKIT_ASSIGN(const ForeignSeries foreign, readForeignSeries({path}, higherIsBetter));
    notes.insert(notes.end(), foreign.notes.begin(), foreign.notes.end());
    PageSources sources;
    sources.judged = judgeSeries(foreign.nights, foreign.environments, foreign.series);
    static_cast<void>(compareHalvesOfNights(foreign.nights, foreign.series).summary());
    sources.headlines = Headlines{sources.judged->summary(), "", "", true};
    OPKIT_TRY(pageHtml({}, sources).error());
  }
  return Status::ok();
}

Status useOpsPage(const std::string& text) {
  OPKIT_ASSIGN(const OpsTable page, parseOpsPage(text));
  OPKIT_TRY(parseOpsPage(renderOpsPage(page)).error().withContext("the page of a page"));
  return updatedOpsTable(page, page).error();
}

Status useMargins(const std::string& text) {
  OPKIT_ASSIGN(const harness::RecordedMargins margins, harness::RecordedMargins::parse(text));
  static_cast<void>(margins.changesTo(harness::RecordedMargins::builtin()));
  return harness::RecordedMargins::parse(margins.text()).error();
}

std::string csvOfNights() {
  std::string text = "name,run,value,commit,date,unit\n";
  for (int night = 1; night <= 9; ++night)
    for (int run = 0; run < 4; ++run)
      text +=
          fmt::format("sum/64,n{},{},c{},2026-01-0{},ns\n", night, 100 + night * run + 40 * (night == 9), night, night);
  return text;
}

constexpr const char* kParts =
    "part minutes last verdict\nsync 10 2026-11-27 red: exit code 1\nmasks 12 2026-11-28 green\nloops 9 never\n";
constexpr const char* kPeers =
    "# 2026-11-28, commit f68dc258, ONNX Runtime 1.30.0\nnetwork\tthreads\tONNX "
    "Runtime\tOpKit\tratio\tspread\tdearest\tof "
    "it\nvit\t1\t10.5\t9.5\t0.905\t1 %\tGemm 3\tMatMul 4\nvit\t2\t6\t9\t1.5\t2 %\tGemm 3\tMatMul "
    "4\nlarge\t\t\t\t\t\tno "
    "memory\t\n";

}  // namespace

TextKind partsKind(const std::string& folder) { return fileKind("parts", {bytesOf(kParts)}, folder, useParts); }
TextKind peersKind(const std::string& folder) { return fileKind("peers", {bytesOf(kPeers)}, folder, usePeers); }

TextKind seriesKind(const std::string& folder) {
  std::vector<Bytes> seeds = {bytesOf(csvOfNights()), sourceFile("reports/testing/google_benchmark.json"),
                              sourceFile("reports/testing/hyperfine.json")};
  return fileKind("series", std::move(seeds), folder, useForeign);
}

TextKind opsPageKind(const std::string&) { return plainKind({sourceFile("docs/ops.md")}, useOpsPage); }

TextKind costsKind(const std::string&) {
  return plainKind({headOf("harness/cases/costs.tsv", 12)},
                   [](const std::string& text) { return harness::CaseCosts::parse(text).error(); });
}

TextKind marginsKind(const std::string&) { return plainKind({headOf("harness/check/margins.tsv", 12)}, useMargins); }

TextKind tracedKind(const std::string&) {
  return plainKind({headOf("harness/check/traced.tsv", 12)},
                   [](const std::string& text) { return harness::TracedCases::parse(text).error(); });
}

}  // namespace opkit::fuzz
