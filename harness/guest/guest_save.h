// The capsule of a guest's failure: the shrunk case as a folder with its model, data, and a program that shows it
// without OpKit (show_program.h).
#pragma once

#include <string>
#include <vector>

#include "harness/guest/guest_job.h"

namespace opkit::harness {

/// How cases are asked.
struct GuestSetup {
  const GuestChoice& choice;
  const GuestInfo& info;
  const OpRegistry& registry;
  const OnnxRules& rules;
  int opset = 0;  // see ExportOptions
  double timeoutSeconds = 60;
};

struct SavedFailure {
  std::string path;    // of the folder; empty: there is none
  std::string reason;  // why there is none
  std::string id;      // of the shrunk case
  int64_t elementsBefore = 0, elementsAfter = 0;
  size_t trials = 0;
};

/// Shrinks the failure `one`, of a case among `groups`, as long as its state and question stay, and writes the folder
/// into `parent`, in place of an older one. InvalidArgument: the folder cannot be written.
Result<SavedFailure> saveGuestFailure(const GuestSetup& setup, const std::vector<CaseGroup>& groups,
                                      const CaseRecord& one, const std::string& parent);

}  // namespace opkit::harness
