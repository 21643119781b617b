// Transaction: changes of a tree on disk that are made as a whole or not at all, even if the process is killed.
//
// The folder .opkit/pending of the tree is the journal: plan.json lists the changes, new/N holds the text that change N
// writes, old/N the file that it replaces. It is complete before the tree changes. Renaming it to .opkit/done commits.
// A program that finds .opkit/pending undoes it, one that finds .opkit/done completes it; a lock on .opkit tells both
// from a program that is still at work.
#pragma once

#include <string>

#include "scaffold/plan.h"

namespace opkit::scaffold {

/// Writes the plan below `root`. On any failure nothing is changed. InvalidArgument if a file changed since the plan
/// was made, if it lies outside the tree, or if it cannot be written; Internal if a signal ended it.
Status applyPlan(const std::string& root, const Plan& plan);

/// Undoes or completes the command that was killed here last; says so in a sentence, which is empty if there was none.
/// InvalidArgument names a file that changed since: the journal stays, and so does the tree.
Result<std::string> finishKilledCommand(const std::string& root);

}  // namespace opkit::scaffold
