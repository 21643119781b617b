// libFuzzer target over the files of one kind, which OPKIT_TEXTS_KIND names (text_kinds.h); see fuzz/README.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "engine/base/check.h"
#include "fuzz/run_corpus.h"
#include "fuzz/text_kinds.h"

namespace opkit::fuzz {
namespace {

/// A folder for the process, which removes it at its end.
struct Folder {
  Folder() { OPKIT_CHECK(mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path = (std::filesystem::temp_directory_path() / "opkit-texts-XXXXXX").string();
};

const TextKind& chosenKind() {
  static const Folder folder;
  static const TextKind kind = [] {
    const char* name = std::getenv("OPKIT_TEXTS_KIND");
    return textKind(name ? name : "expectations", folder.path);
  }();
  return kind;
}

}  // namespace

std::vector<CorpusSeed> corpusSeeds() {
  std::vector<CorpusSeed> seeds;
  for (const Bytes& bytes : chosenKind().seeds) seeds.push_back({std::to_string(seeds.size()), bytes});
  return seeds;
}

}  // namespace opkit::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace opkit::fuzz;
  const std::string fault = faultOf(attempt(chosenKind(), {data, data + size}));
  if (!fault.empty()) std::fputs((fault + "\n").c_str(), stderr);
  OPKIT_CHECK(fault.empty());
  return 0;
}
