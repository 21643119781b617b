#include <algorithm>

#include "scaffold/plan.h"

namespace opkit::scaffold {
namespace {

constexpr size_t kContext = 3;

struct Line {
  char mark;  // ' ', '-', '+'
  std::string text;
  bool ended = true;  // by a newline
};

std::vector<Line> linesOf(const std::string& text) {
  std::vector<Line> lines;
  for (size_t from = 0; from < text.size();) {
    const size_t newline = text.find('\n', from);
    const bool ended = newline != std::string::npos;
    lines.push_back({' ', text.substr(from, ended ? newline - from : newline), ended});
    from = ended ? newline + 1 : text.size();
  }
  return lines;
}

bool same(const Line& a, const Line& b) { return a.text == b.text && a.ended == b.ended; }

/// Longest common subsequence of the lines between the common beginning and end, by the textbook table.
std::vector<Line> editScript(const std::vector<Line>& a, const std::vector<Line>& b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && same(a[head], b[head])) ++head;
  while (tail + head < a.size() && tail + head < b.size() && same(a[a.size() - 1 - tail], b[b.size() - 1 - tail]))
    ++tail;
  const size_t n = a.size() - head - tail, m = b.size() - head - tail;
  std::vector<std::vector<uint32_t>> longest(n + 1, std::vector<uint32_t>(m + 1, 0));
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;)
      longest[i][j] =
          same(a[head + i], b[head + j]) ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
  std::vector<Line> script(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(head));
  const auto put = [&](char mark, const Line& line) { script.push_back({mark, line.text, line.ended}); };
  for (size_t i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && same(a[head + i], b[head + j])) {
      put(' ', a[head + i++]);
      ++j;
    } else if (i < n && (j == m || longest[i + 1][j] >= longest[i][j + 1])) {
      put('-', a[head + i++]);
    } else {
      put('+', b[head + j++]);
    }
  }
  script.insert(script.end(), a.end() - static_cast<std::ptrdiff_t>(tail), a.end());
  return script;
}

std::string hunks(const std::vector<Line>& script) {
  std::string text;
  size_t oldLine = 1, newLine = 1;
  for (size_t i = 0; i < script.size();) {
    // The next change, and the last one that is near enough to share its hunk.
    size_t change = i;
    while (change < script.size() && script[change].mark == ' ') ++change;
    if (change == script.size()) break;
    size_t last = change;
    for (size_t k = change; k < script.size() && k <= last + 2 * kContext + 1; ++k)
      if (script[k].mark != ' ') last = k;
    const size_t first = change - std::min(change - i, kContext);
    const size_t end = std::min(script.size(), last + kContext + 1);
    oldLine += first - i;
    newLine += first - i;
    size_t oldCount = 0, newCount = 0;
    std::string body;
    for (size_t k = first; k < end; ++k) {
      oldCount += script[k].mark != '+';
      newCount += script[k].mark != '-';
      body += script[k].mark + script[k].text + (script[k].ended ? "\n" : "\n\\ No newline at end of file\n");
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", oldCount ? oldLine : oldLine - 1, oldCount,
                        newCount ? newLine : newLine - 1, newCount, body);
    oldLine += oldCount;
    newLine += newCount;
    i = end;
  }
  return text;
}

}  // namespace

std::string unifiedDiff(const FileChange& change) {
  if (change.isNoOp()) return "";
  std::string text = fmt::format("diff --git a/{0} b/{0}\n", change.path);
  if (!change.before) text += "new file mode 100644\n";
  if (!change.after) text += "deleted file mode 100644\n";
  text += change.before ? "--- a/" + change.path + "\n" : "--- /dev/null\n";
  text += change.after ? "+++ b/" + change.path + "\n" : "+++ /dev/null\n";
  return text + hunks(editScript(linesOf(change.before.value_or("")), linesOf(change.after.value_or(""))));
}

std::string unifiedDiff(const Plan& plan) {
  std::string text;
  for (const FileChange& change : plan) text += unifiedDiff(change);
  return text;
}

}  // namespace opkit::scaffold
