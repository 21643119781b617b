#include "harness/check/traced_cases.h"

#include <charconv>
#include <sstream>

#include "harness/cases/costs.h"

namespace opkit::harness {

extern const char* const kTracedCases;  // traced.tsv; generated

Result<TracedCases> TracedCases::parse(const std::string& text) {
  TracedCases cases;
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns(line);
    std::string hash, variant, op, shader;
    std::getline(columns, hash, '\t');
    std::getline(columns, variant, '\t');
    std::getline(columns, op, '\t');
    uint64_t value = 0;
    const auto parsed = std::from_chars(hash.data(), hash.data() + hash.size(), value, 16);
    const bool isHash = hash.size() == 16 && parsed.ptr == hash.data() + hash.size();
    size_t shaders = 0;
    for (; std::getline(columns, shader, '\t'); ++shaders)
      cases.operatorsByShader_[shader.substr(0, shader.find(' '))].insert(op);
    if (!isHash || !variant.starts_with("device class ") || shaders == 0)
      return Status::invalidArgument("line {} is not a hash, a device class, an operator and shaders: '{}'", number,
                                     line);
    cases.variants_[value].push_back(variant);
  }
  return cases;
}

std::set<std::string> TracedCases::operatorsOf(const std::string& shader) const {
  const auto found = operatorsByShader_.find(shader);
  return found == operatorsByShader_.end() ? std::set<std::string>() : found->second;
}

const TracedCases& TracedCases::builtin() {
  static const TracedCases cases = *parse(kTracedCases);
  return cases;
}

const std::vector<std::string>& TracedCases::of(const Case& c) const {
  static const std::vector<std::string> none;
  if (c.anyFallback) return none;  // drawn
  const auto found = variants_.find(caseHash(c));
  return found == variants_.end() ? none : found->second;
}

size_t TracedCases::tracesOf(const CaseGroup& group) const {
  size_t count = 0;
  for (const Case& c : group.cases) count += of(c).size();
  return count;
}

uint64_t caseHash(const Case& c) { return hashOf(CaseGroup{.cases = {c}}); }

}  // namespace opkit::harness
