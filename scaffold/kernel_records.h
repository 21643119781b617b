// The records of an operator's further kernels (further_kernel.h). They refer to its case file and to its folders, so
// `rename` takes them along.
#pragma once

#include <functional>

#include "scaffold/record.h"

namespace opkit::scaffold {

struct KernelRecord {
  std::string key;  // "cpu-fused", unique for the operator
  Record record;
};

/// The name of a kernel's record.
std::string kernelRecordName(const std::string& type, const std::string& key);
/// All of an operator, by key.
std::vector<KernelRecord> kernelRecordsOf(const Tree& tree, const std::string& type);

/// True if the file was written for one of the kernels.
bool isOfKernel(const std::vector<KernelRecord>& kernels, const std::string& path);
/// The text of a file without the cases that were inserted for the kernels.
std::string withoutKernelCases(const std::vector<KernelRecord>& kernels, const std::string& path, std::string text);

/// InvalidArgument names a file or a case of the kernels that was edited since it was written.
Status checkKernelsUnedited(const Tree& tree, const std::vector<KernelRecord>& kernels);

using Rewrite = std::function<std::string(const std::string&)>;
/// The record with other paths and texts. A file that was edited still counts as edited.
Record renamedRecord(const Tree& tree, const Record& record, const Rewrite& path, const Rewrite& text);

}  // namespace opkit::scaffold
