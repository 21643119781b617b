// Record: the files that op-scaffold wrote for an operator, kept in .opkit/scaffold/ of the tree (ignored by git), so
// that `remove` and `rename` can detect later edits.
#pragma once

#include <map>
#include <string>

#include "scaffold/plan.h"
#include "scaffold/spec.h"

namespace opkit::scaffold {

/// A block of text in a file that belongs to another operator.
struct Block {
  std::string path;
  std::string text;
};

struct Record {
  nlohmann::json spec;                       // see specToJson; null if there is none (backends)
  std::map<std::string, std::string> files;  // path -> hash of the text that was written
  std::vector<Block> blocks;                 // inserted into other files
};

/// Whether a path that a file names may be one of the tree: "ops/softmax/softmax.cpp", not "/etc/passwd" or
/// "ops/../..".
bool isInside(const std::string& path);
std::string hashOf(const std::string& text);
std::string recordPath(const std::string& name);

/// The record of a plan that makes files and inserts blocks.
Record recordOf(const Plan& plan, nlohmann::json spec);
/// The names of all records, sorted.
std::vector<std::string> recordNames(const Tree& tree);
/// Nullopt if there is none. Throws TreeError if it is damaged, or names a file outside the tree.
std::optional<Record> readRecord(const Tree& tree, const std::string& name);
std::string recordText(const Record& record);
/// The change that writes (or, with nullopt, deletes) the record.
FileChange recordChange(const Tree& tree, const std::string& name, const std::optional<Record>& record);

/// The changes shown to users: without records.
Plan visible(const Plan& plan);

}  // namespace opkit::scaffold
