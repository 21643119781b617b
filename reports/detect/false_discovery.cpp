#include "reports/detect/false_discovery.h"

#include <algorithm>

namespace opkit::reports::detect {

double falseDiscoveryCutoff(std::vector<double> probabilities, size_t hypotheses, double rate) {
  std::sort(probabilities.begin(), probabilities.end());
  for (size_t i = probabilities.size(); i > 0; --i) {
    const double threshold = rate * static_cast<double>(i) / static_cast<double>(hypotheses);
    if (probabilities[i - 1] <= threshold) return threshold;
  }
  return 0;
}

}  // namespace opkit::reports::detect
