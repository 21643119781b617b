#include "scaffold/kernel_records.h"

#include <algorithm>

#include "scaffold/rows.h"

namespace opkit::scaffold {

std::string kernelRecordName(const std::string& type, const std::string& key) {
  return fmt::format("kernel-{}-{}", type, key);
}

std::vector<KernelRecord> kernelRecordsOf(const Tree& tree, const std::string& type) {
  std::vector<KernelRecord> kernels;
  const std::string prefix = kernelRecordName(type, "");
  for (const std::string& name : recordNames(tree)) {
    const auto record = name.starts_with(prefix) ? readRecord(tree, name) : std::nullopt;
    if (record) kernels.push_back({name.substr(prefix.size()), *record});
  }
  return kernels;
}

bool isOfKernel(const std::vector<KernelRecord>& kernels, const std::string& path) {
  return std::ranges::any_of(kernels, [&](const KernelRecord& one) { return one.record.files.contains(path); });
}

std::string withoutKernelCases(const std::vector<KernelRecord>& kernels, const std::string& path, std::string text) {
  for (const KernelRecord& kernel : kernels)
    for (const Block& block : kernel.record.blocks)
      if (const auto without = block.path == path ? withoutBlock(text, block.text) : std::nullopt) text = *without;
  return text;
}

Status checkKernelsUnedited(const Tree& tree, const std::vector<KernelRecord>& kernels) {
  for (const KernelRecord& kernel : kernels) {
    for (const auto& [path, hash] : kernel.record.files)
      if (const auto text = tree.read(path); text && hashOf(*text) != hash)
        return Status::invalidArgument("{} was edited since it was scaffolded", path);
    for (const Block& block : kernel.record.blocks)
      if (!withoutBlock(tree.read(block.path).value_or(""), block.text))
        return Status::invalidArgument("{}: the case of the kernel {} was edited since it was scaffolded", block.path,
                                       kernel.key);
  }
  return Status::ok();
}

Record renamedRecord(const Tree& tree, const Record& record, const Rewrite& path, const Rewrite& text) {
  Record renamed{record.spec, {}, {}};
  for (const auto& [file, hash] : record.files) {
    const auto before = tree.read(file);
    renamed.files[path(file)] = before && hashOf(*before) == hash ? hashOf(text(*before)) : hash;
  }
  for (const Block& block : record.blocks) renamed.blocks.push_back({path(block.path), text(block.text)});
  return renamed;
}

}  // namespace opkit::scaffold
