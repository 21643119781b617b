#include "harness/mutate/glsl_mutants.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace opkit::harness {
namespace {

struct Edit {
  const char* kind;
  const char* from;
  const char* to;
};

// Longer tokens first: the first token that matches is taken.
constexpr Edit kEdits[] = {
    {"bound", "<=", "<"},         {"bound", ">=", ">"},        {"bound", "==", "!="},      {"bound", "!=", "=="},
    {"skip", "<<=", nullptr},     {"skip", ">>=", nullptr},    {"skip", "<<", nullptr},    {"skip", ">>", nullptr},
    {"operator", "+=", "-="},     {"operator", "-=", "+="},    {"operator", "*=", "+="},   {"skip", "/=", nullptr},
    {"skip", "++", nullptr},      {"skip", "--", nullptr},     {"logic", "&&", "||"},      {"logic", "||", "&&"},
    {"bound", "<", "<="},         {"bound", ">", ">="},        {"operator", "+", "-"},     {"operator", "-", "+"},
    {"operator", "*", "+"},       {"operator", "/", "*"},      {"operator", "%", "/"},     {"function", "max(", "min("},
    {"function", "min(", "max("}, {"component", ".xy", ".yx"}, {"component", ".x", ".y"},  {"component", ".y", ".x"},
    {"component", "[0]", "[1]"},  {"component", "[1]", "[0]"}, {"constant", "0.0", "1.0"}, {"constant", "1.0", "0.0"},
    {"constant", "0.5", "1.0"},   {"constant", "2.0", "1.0"},
};

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : line.substr(first, last - first + 1);
}

/// True if a token that begins or ends with a word character is a whole word there.
bool standsAlone(const std::string& line, size_t at, const std::string& token) {
  if (isWord(token.front()) && at > 0 && (isWord(line[at - 1]) || line[at - 1] == '.')) return false;
  const size_t end = at + token.size();
  return !(isWord(token.back()) && end < line.size() && (isWord(line[end]) || line[end] == '.' || line[end] == '('));
}

/// True if a sign is unary or part of an exponent: changing it is invalid or changes the number.
bool isSign(const std::string& line, size_t at) {
  size_t before = at;
  while (before > 0 && line[before - 1] == ' ') --before;
  return before == 0 || (!isWord(line[before - 1]) && line[before - 1] != ')' && line[before - 1] != ']') ||
         (before == at && (line[at - 1] == 'e' || line[at - 1] == 'E'));
}

class Mutator {
 public:
  explicit Mutator(const std::string& glsl) {
    std::istringstream text(glsl);
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
  }

  std::vector<Mutant> run() {
    bool inComment = false;
    int interfaceDepth = 0;
    bool inCondition = false;  // #if or #elif that goes on; the bodies of macros are code
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string line = trimmed(lines_[i]);
      const bool opens = line.find("/*") != std::string::npos, closes = line.find("*/") != std::string::npos;
      const bool layout =
          line.starts_with("layout") && line.find('{') != std::string::npos && line.find('}') == std::string::npos;
      if (layout) interfaceDepth = 1;
      inCondition = inCondition || line.starts_with("#if") || line.starts_with("#elif");
      const bool skipped = inCondition || inComment || opens || interfaceDepth > 0 || line.empty() || line[0] == '#' ||
                           line.starts_with("//") || line.starts_with("layout") || line.starts_with("shared");
      if (!skipped) mutateLine(i, line);
      inCondition = inCondition && line.ends_with('\\');
      if (interfaceDepth > 0 && line.find('}') != std::string::npos) interfaceDepth = 0;
      inComment = (inComment || opens) && !closes;
    }
    return std::move(mutants_);
  }

 private:
  void add(size_t i, const char* kind, const std::string& after) {
    std::string text;
    for (size_t k = 0; k < lines_.size(); ++k) text += (k == i ? after : lines_[k]) + "\n";
    mutants_.push_back({i + 1, kind, trimmed(lines_[i]), trimmed(after), std::move(text)});
  }

  void mutateLine(size_t i, const std::string& line) {
    if (line.starts_with("barrier();")) return add(i, "barrier", "");
    if (line.starts_with("if (") && line.ends_with("return;")) add(i, "guard", "");
    if (line.starts_with("if (") && line.ends_with("continue;")) add(i, "guard", "");
    const std::string& full = lines_[i];
    const size_t comment = std::min(full.find("//"), full.size());
    for (size_t at = 0; at < comment;) {
      const Edit* edit = editAt(full, at);
      if (!edit) {
        at += 1;
        continue;
      }
      const std::string from = edit->from;
      if (edit->to) add(i, edit->kind, full.substr(0, at) + edit->to + full.substr(at + from.size()));
      at += from.size();
    }
    mutateIntegers(i, full, comment);
  }

  static const Edit* editAt(const std::string& line, size_t at) {
    const Edit* best = nullptr;
    size_t length = 0;
    for (const Edit& edit : kEdits) {
      const std::string from = edit.from;
      if (from.size() <= length || line.compare(at, from.size(), from) != 0 || !standsAlone(line, at, from)) continue;
      if ((from == "-" || from == "+") && isSign(line, at)) continue;
      best = &edit;
      length = from.size();
    }
    return best;
  }

  /// 0 to 1, n to n + 1.
  void mutateIntegers(size_t i, const std::string& line, size_t end) {
    for (size_t at = 0; at < end; ++at) {
      if (!std::isdigit(static_cast<unsigned char>(line[at])) ||
          (at > 0 && (isWord(line[at - 1]) || line[at - 1] == '.')))
        continue;
      size_t last = at;
      while (last < end && std::isdigit(static_cast<unsigned char>(line[last]))) ++last;
      const bool whole =
          last >= line.size() || (line[last] != '.' && line[last] != 'x' && line[last] != 'e' && line[last] != ']');
      if (whole && last - at <= 4)
        add(i, "constant",
            line.substr(0, at) + std::to_string(std::stoi(line.substr(at, last - at)) + 1) + line.substr(last));
      at = last;
    }
  }

  std::vector<std::string> lines_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutantsOf(const std::string& glsl) { return Mutator(glsl).run(); }

std::vector<Mutant> sample(std::vector<Mutant> mutants, size_t limit) {
  if (limit == 0 || mutants.size() <= limit) return mutants;
  std::map<std::string, std::vector<Mutant>> byKind;
  for (Mutant& mutant : mutants) byKind[mutant.kind].push_back(std::move(mutant));
  std::vector<Mutant> chosen;
  const size_t share = std::max<size_t>(limit / byKind.size(), 1);
  for (auto& [kind, list] : byKind) {
    const size_t count = std::min(share, list.size());
    for (size_t k = 0; k < count; ++k) chosen.push_back(std::move(list[k * list.size() / count]));
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Mutant& a, const Mutant& b) { return a.line < b.line; });
  return chosen;
}

}  // namespace opkit::harness
