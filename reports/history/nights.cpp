#include "reports/history/nights.h"

#include <map>

#include "reports/history/keys.h"
#include "reports/history/store.h"

namespace opkit::reports {
namespace {

constexpr int kRows = 30;  // nights on the page

/// The worst outcome of each subject in one night.
struct JudgedNight {
  CaseStatus status = CaseStatus::Pass;
  int64_t variant = 0;
};
using Judgements = std::map<int64_t, JudgedNight>;

int rank(CaseStatus status) { return rankOf(status).value_or(-1); }

Result<Judgements> judgementsOf(const Database& database, int64_t night) {
  OPKIT_ASSIGN(
      Statement rows,
      database.prepare("SELECT DISTINCT subject, status, variant FROM run CROSS JOIN seen ON seen.run = run.id "
                       "JOIN outcome USING (subject, variant) JOIN conclusion ON conclusion.id = "
                       "outcome.conclusion WHERE run.night = ?"));
  rows.bind(night);
  Judgements judgements;
  while (true) {
    OPKIT_ASSIGN(const bool more, rows.step());
    if (!more) return judgements;
    const CaseStatus status = statusFromName(rows.text(1)).value_or(CaseStatus::Fail);
    const auto [found, isNew] = judgements.try_emplace(rows.integer(0));
    if (isNew || rank(status) > rank(found->second.status)) found->second = {status, rows.integer(2)};
  }
}

Status addChanges(const Database& database, int64_t before, int64_t after, Nights& nights) {
  OPKIT_ASSIGN(const Judgements old, judgementsOf(database, before));
  OPKIT_ASSIGN(const Judgements now, judgementsOf(database, after));
  OPKIT_ASSIGN(
      Statement names,
      database.prepare("SELECT case_id, kind, backend, reason, repro FROM outcomes WHERE subject = ? AND variant = ?"));
  for (const auto& [subject, judged] : now) {
    const auto was = old.find(subject);
    if (was == old.end() || !isNews(was->second.status, judged.status)) continue;
    OPKIT_TRY(names.bind(subject, judged.variant).step().error());
    const CaseStatus from = was->second.status;
    const bool worse = rank(judged.status) > std::max(rank(from), 0) || (rank(judged.status) < 0 && rank(from) == 0);
    nights.changes.push_back({names.text(0), names.text(1), names.text(2), nameOf(from), nameOf(judged.status),
                              names.text(3), names.text(4), worse});
    names.reset();
  }
  return Status::ok();
}

}  // namespace

std::string NightRow::end() const {
  if (cut == 0) return "complete";
  return fmt::format("cut off: {} of {} run{} did not reach {} end", cut, runs, runs == 1 ? "" : "s",
                     cut == 1 ? "its" : "their");
}

Result<Nights> readNights(const std::string& path) {
  OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
  const Database& database = store.database();
  OPKIT_ASSIGN(
      Statement rows,
      database.prepare(fmt::format(
          "SELECT night.id, name, commit_id, dirty, (SELECT count(*) FROM run WHERE night = night.id), "
          "(SELECT ifnull(sum(written), 0) FROM run WHERE night = night.id), "
          "(SELECT count(*) FROM run CROSS JOIN seen ON seen.run = run.id JOIN outcome USING (subject, variant) WHERE "
          "run.night = night.id AND conclusion IN (SELECT id FROM conclusion WHERE status IN ('fail', 'crash', 'hang', "
          "'fallback', 'mistrusted', 'unexpected'))), "
          "(SELECT count(*) FROM run WHERE night = night.id AND {}) "
          "FROM (SELECT night.*, min(run.at) AS at FROM night JOIN run ON run.night = night.id GROUP BY night.id) "
          "AS night ORDER BY at DESC, name DESC, commit_id DESC, dirty DESC LIMIT {}",
          kRunIsCut, kRows)));
  Nights nights;
  std::vector<int64_t> ids;
  while (true) {
    OPKIT_ASSIGN(const bool more, rows.step());
    if (!more) break;
    ids.push_back(rows.integer(0));
    nights.rows.push_back({rows.text(1), rows.text(2), rows.integer(3) != 0, static_cast<size_t>(rows.integer(4)),
                           static_cast<size_t>(rows.integer(5)), static_cast<size_t>(rows.integer(6)),
                           static_cast<size_t>(rows.integer(7))});
  }
  if (ids.size() > 1) OPKIT_TRY(addChanges(database, ids[1], ids[0], nights));
  OPKIT_ASSIGN(nights.vanished, readVanished(database));
  return nights;
}

}  // namespace opkit::reports
