#include "reports/detect/false_discovery.h"

#include <algorithm>

namespace opkit::reports::detect {

double falseDiscoveryCutoff(std::vector<double> probabilities, size_t hypotheses, double rate) {
  std::sort(probabilities.begin(), probabilities.end());
  for (size_t i = probabilities.size(); i > 0; --i)
    if (probabilities[i - 1] <= rate * static_cast<double>(i) / static_cast<double>(hypotheses))
      return probabilities[i - 1];
  return 0;
}

}  // namespace opkit::reports::detect
