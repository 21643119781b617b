#include "reports/history/vanished.h"

#include <algorithm>
#include <array>
#include <map>

#include "reports/history/keys.h"

namespace opkit::reports {
namespace {

constexpr size_t kNightsRead = 20;  // in which the nights before are sought; not every device runs every night
constexpr size_t kNightsBefore = 10, kLeastMeasured = 8;
// Cases that were absent on some nights and returned, for each one that is absent tonight, from which on they are a
// sample. In samples of any size there are eight or more of them on average.
constexpr size_t kReturnedOfEach = 2;

/// Of a case on tonight, place 0, and the nights before.
struct Presence {
  size_t newest = 0, oldest = 0, nights = 0;
  bool hasGap() const { return nights <= oldest - newest; }
};

/// The cases of one kind that ran on one device with the same options. Night 0 is tonight.
struct Group {
  std::array<std::map<int64_t, int64_t>, kNightsRead> subjects;  // by item
};

class Finder {
 public:
  explicit Finder(const Database& database) : database_(database) {}

  Result<std::vector<Vanished>> find() {
    OPKIT_TRY(readNights());
    OPKIT_ASSIGN(Statement most, database_.prepare("SELECT ifnull(max(id), 0) FROM subject"));
    OPKIT_TRY(most.step().error());
    places_.resize(static_cast<size_t>(most.integer(0)) + 1);  // checkRows has seen that the ids are small
    OPKIT_ASSIGN(subject_, database_.prepare("SELECT item, kind, backend, name, uuid, machine, options FROM subject "
                                             "JOIN item ON item.id = subject.item JOIN device ON device.id = "
                                             "subject.device WHERE subject.id = ?"));
    OPKIT_ASSIGN(seen_, database_.prepare("SELECT subject FROM seen WHERE run = ?"));
    for (size_t night = 0; night < names_.size(); ++night) OPKIT_TRY(readRuns(night));
    if (names_.empty() || cut_[0]) return std::move(vanished_);
    for (auto& [key, group] : groups_) OPKIT_TRY(compare(group));
    std::ranges::stable_sort(vanished_, {}, [](const Vanished& one) { return std::pair(one.kind, one.caseId); });
    return std::move(vanished_);
  }

 private:
  struct Place {
    Group* group = nullptr;
    int64_t item = 0;
  };

  Status readNights() {
    OPKIT_ASSIGN(Statement rows,
                 database_.prepare(fmt::format(
                     "SELECT night.id, night.name FROM night JOIN run ON run.night = night.id GROUP BY night.id ORDER "
                     "BY min(at) DESC, night.name DESC, commit_id DESC, dirty DESC LIMIT {}",
                     kNightsRead)));
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) return Status::ok();
      ids_.push_back(rows.integer(0));
      names_.push_back(rows.text(1));
    }
  }

  Status readRuns(size_t night) {
    OPKIT_ASSIGN(Statement rows, database_.prepare(fmt::format("SELECT id, {} FROM run WHERE night = ?", kRunIsCut)));
    rows.bind(ids_[night]);
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) return Status::ok();
      cut_[night] |= rows.integer(1) != 0;
      OPKIT_TRY(readCases(rows.integer(0), night));
    }
  }

  Status readCases(int64_t run, size_t night) {
    seen_.bind(run);
    while (true) {
      OPKIT_ASSIGN(const bool more, seen_.step());
      if (!more) break;
      OPKIT_ASSIGN(const Place place, placeOf(seen_.integer(0)));
      if (place.group) place.group->subjects[night][place.item] = seen_.integer(0);
    }
    seen_.reset();
    return Status::ok();
  }

  /// Of no group if there is no such subject: rows that refer to none are not read.
  Result<Place> placeOf(int64_t subject) {
    if (subject < 0 || static_cast<size_t>(subject) >= places_.size()) return Place();
    Place& place = places_[static_cast<size_t>(subject)];
    if (place.group) return place;
    OPKIT_ASSIGN(const bool isKnown, subject_.bind(subject).step());
    if (!isKnown) return Place();
    std::array<std::string, 6> key;
    for (size_t i = 0; i < key.size(); ++i) key[i] = subject_.text(static_cast<int>(i) + 1);
    place = {&groups_[key], subject_.integer(0)};
    subject_.reset();
    return place;
  }

  Status compare(const Group& group) {
    if (group.subjects[0].empty()) return Status::ok();
    std::vector<size_t> nights = {0};
    for (size_t night = 1; night < names_.size() && nights.size() <= kNightsBefore; ++night)
      if (!group.subjects[night].empty() && !cut_[night]) nights.push_back(night);
    const std::map<int64_t, Presence> presences = presencesOf(group, nights);
    std::vector<int64_t> absent;
    size_t returned = 0;
    for (const auto& [item, presence] : presences) {
      returned += presence.hasGap();
      if (presence.newest > 0 && presence.nights >= kLeastMeasured) absent.push_back(item);
    }
    if (absent.size() * kReturnedOfEach <= returned) return Status::ok();
    for (const int64_t item : absent) {
      const Presence& presence = presences.at(item);
      OPKIT_TRY(add(group.subjects[nights[presence.newest]].at(item), names_[nights[presence.newest]], presence.nights,
                    nights.size() - 1));
    }
    return Status::ok();
  }

  static std::map<int64_t, Presence> presencesOf(const Group& group, const std::vector<size_t>& nights) {
    std::map<int64_t, Presence> presences;
    for (size_t place = 0; place < nights.size(); ++place)
      for (const auto& [item, subject] : group.subjects[nights[place]]) {
        Presence& presence = presences.try_emplace(item, Presence{place, place, 0}).first->second;
        presence.oldest = place;
        ++presence.nights;
      }
    return presences;
  }

  /// A case that was refused or left out every night was not measured.
  Status add(int64_t subject, const std::string& lastNight, size_t measured, size_t compared) {
    OPKIT_ASSIGN(
        Statement row,
        database_.prepare("SELECT kind, case_id, backend, device, options, repro FROM outcomes WHERE subject = "
                          "? AND status NOT IN ('unsupported', 'skip', 'unproved') ORDER BY variant DESC"));
    OPKIT_ASSIGN(const bool found, row.bind(subject).step());
    if (found)
      vanished_.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), lastNight, measured,
                           compared, row.text(5)});
    return Status::ok();
  }

  const Database& database_;
  Statement subject_, seen_;
  std::vector<int64_t> ids_;  // of nights
  std::vector<std::string> names_;
  std::array<bool, kNightsRead> cut_{};  // a run lacks its end
  std::vector<Place> places_;            // by subject
  std::map<std::array<std::string, 6>, Group> groups_;
  std::vector<Vanished> vanished_;
};

}  // namespace

std::string Vanished::what() const {
  return fmt::format("{} {} on {}{}{}: last measured {}, on {} of the {} nights before", kind, caseId, backend,
                     options.empty() ? "" : " ", options, lastNight, measured, compared);
}

std::string vanishedSummary(const std::vector<Vanished>& vanished) {
  if (vanished.empty()) return "";
  return fmt::format("{} case{} vanished", vanished.size(), vanished.size() == 1 ? "" : "s");
}

Result<std::vector<Vanished>> readVanished(const Database& database) { return Finder(database).find(); }

}  // namespace opkit::reports
