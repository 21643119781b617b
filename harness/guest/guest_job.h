// The work of `check --ort` in a worker process: groups of cases as models, asked of a guest. Results return to the
// command as text.
#pragma once

#include <filesystem>

#include "harness/guest/guest_check.h"

namespace opkit::harness {

/// Forms of ever older opsets that are offered to a guest, until it claims one.
inline constexpr int kMostForms = 4;

/// The unit of isolation: a group, or after a crash one case of it.
struct GuestUnit {
  const CaseGroup* group = nullptr;
  std::optional<size_t> only;
  bool leak = false;  // also ask for leaks
};

/// Results of a unit with the printed text of failures.
struct GuestReports {
  struct One {
    CaseRecord record;
    std::string block;
  };
  std::vector<One> reports;
  std::string error;  // why the guest cannot be opened; empty

  std::string toText() const;
  static GuestReports fromText(const std::string& text);
};

class GuestJob {
 public:
  /// All arguments must outlive the job.
  GuestJob(const GuestChoice& choice, const OpRegistry& registry, const OnnxRules& rules, int opset)
      : choice_(choice), registry_(registry), rules_(rules), opset_(opset) {}

  /// Opens the guest at its first call in this process, which must be a worker. Everything that the process prints from
  /// then on goes into `log`.
  GuestReports run(const GuestUnit& unit, const std::filesystem::path& log);

 private:
  std::vector<CaseResult> ask(const GuestUnit& unit);
  std::vector<CaseResult> askModel(const ExportedModel& model, const GuestLoad& load, const CaseGroup& group,
                                   bool leak);
  /// A group in a form of ONNX, and the session of its first model.
  struct Claimed {
    ExportedGroup group;
    GuestLoad first;
  };
  /// The newest form that the guest claims; nothing if it claims none.
  std::optional<Claimed> claimed(const CaseGroup& group, std::string& refusal);

  const GuestChoice& choice_;
  const OpRegistry& registry_;
  const OnnxRules& rules_;
  int opset_;
  std::unique_ptr<Guest> guest_;
};

/// From now on this process prints into `path`.
void printInto(const std::filesystem::path& path);

/// Describes the guest, in a worker process. InvalidArgument: it cannot be opened, or the worker ended.
Result<GuestInfo> describeGuest(const GuestChoice& choice);

/// The command line that repeats a case. `opset`: see ExportOptions.
std::string repeatGuest(const GuestChoice& choice, const std::string& id, int opset = 0);

}  // namespace opkit::harness
