#include "ops/dft/fourier_core.h"

#include "engine/base/check.h"

namespace opkit::ops::dft {

void transformOnHost(std::vector<std::complex<double>>& values) {
  const auto points = static_cast<int64_t>(values.size());
  OPKIT_CHECK(isSmooth(points));
  const bool split = divisorNearRoot(points) > 1;
  const FourierCore<double> core(points, split);
  const auto plane = static_cast<size_t>(core.planeScalars());
  // Vectors load from whole cache lines.
  constexpr size_t kLine = 64 / sizeof(double);
  std::vector<double> memory(4 * plane + static_cast<size_t>(core.workScalars()) + kLine);
  double* const first = memory.data();
  const PlaneView<double> a{first, first + plane}, b{first + 2 * plane, first + 3 * plane};
  const auto address = reinterpret_cast<uintptr_t>(first + 4 * plane);
  double* const work = first + 4 * plane + (64 - address % 64) % 64 / sizeof(double);
  for (size_t i = 0; i < values.size(); ++i) a.re[i] = values[i].real(), a.im[i] = values[i].imag();
  if (split)
    core.transformRow(a, b, {nullptr, work, core.workScalars()});
  else
    core.transformTogether(a, 1, work);
  for (size_t i = 0; i < values.size(); ++i) values[i] = {a.re[i], a.im[i]};
}

}  // namespace opkit::ops::dft
