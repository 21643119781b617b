// Fast Fourier transforms of rows of complex numbers in planes, on the host.
//
// Rows are transformed side by side, each in a lane of its own, or one alone: it is split into [first][second], whose
// columns and then rows are transformed as columns of two matrices. A length with a prime factor above 13 becomes a
// convolution. A constant object is thread-safe; memory belongs to the caller.
#pragma once

#include <algorithm>
#include <complex>
#include <functional>

#include "engine/base/thread_pool.h"
#include "ops/dft/fourier_rows.h"
#include "ops/dft/fourier_vectors.h"

namespace opkit::ops::dft {

/// In place, forward, on this thread. REQUIRES a smooth size.
void transformOnHost(std::vector<std::complex<double>>& values);

/// The threads that work on one row: those of a pool, or the calling one alone.
template <class T>
struct FourierCrew {
  ThreadPool* pool = nullptr;  // null: alone
  T* work = nullptr;           // of the thread, or of all threads
  int64_t workSize = 0;        // of one

  /// body(first column, work) for each block of columns.
  template <class Body>
  void eachBlock(int64_t columns, const Body& body) const {
    const int64_t step = blockColumns<T>(), blocks = (columns + step - 1) / step;
    const auto one = [&](size_t block, size_t thread) {
      body(static_cast<int64_t>(block) * step, work + static_cast<int64_t>(thread) * workSize);
    };
    if (pool) return pool->parallelFor(static_cast<size_t>(blocks), std::ref(one));
    for (int64_t block = 0; block < blocks; ++block) one(static_cast<size_t>(block), 0);
  }
  /// body(begin, end) for parts of [0, count).
  template <class Body>
  void eachRange(int64_t count, const Body& body) const {
    constexpr int64_t kRange = 4096;
    if (!pool) return body(int64_t{0}, count);
    const auto one = [&](size_t range, size_t) {
      const int64_t begin = static_cast<int64_t>(range) * kRange;
      body(begin, std::min(begin + kRange, count));
    };
    pool->parallelFor(static_cast<size_t>((count + kRange - 1) / kRange), std::ref(one));
  }
};

template <class T>
class FourierCore {
 public:
  FourierCore() = default;
  FourierCore(int64_t points, bool split)
      : tables_(FourierTables<T>::of(points, split)), loops_(rowLoops<T>()), slack_(planeSlack<T>()) {}

  const FourierTables<T>& tables() const { return tables_; }
  const FourierRowLoops<T>& loops() const { return loops_; }

  /// Scalars from one row to the next of those that are transformed together.
  int64_t pitch() const { return rounded(std::max(tables_.size, tables_.points + 1)) + slack_; }
  /// Scalars of a plane of one row that is transformed alone.
  int64_t planeScalars() const { return std::max(tables_.second * rounded(tables_.first), pitch()) + slack_; }
  int64_t workScalars() const { return blockWork<T>(std::max(tables_.first, tables_.second)); }

  /// Transforms `rows` rows, at most blockColumns, `pitch` apart, in place.
  void transformTogether(PlaneView<T> all, int64_t rows, T* work) const {
    const auto eachRow = [&](int64_t count, const auto& body) {
      for (int64_t row = 0; row < rows; ++row) body(int64_t{0}, count, all.from(row * pitch()));
    };
    transform(eachRow, [&](bool inverse) {
      const PlaneView<T> view = inverse ? all.swapped() : all;
      const typename ColumnTransforms<T>::Matrix matrix{view.re, view.im, pitch(), true};
      transformColumns<T>({&tables_.firstStages, matrix, matrix, nullptr, rows}, 0, work);
    });
  }

  /// The same for rows whose numbers lie side by side: number i of row r at i * blockColumns + r. REQUIRES a smooth
  /// length.
  void transformAlong(PlaneView<T> all, int64_t rows, T* work) const {
    const typename ColumnTransforms<T>::Matrix matrix{all.re, all.im, blockColumns<T>(), false};
    transformColumns<T>({&tables_.firstStages, matrix, matrix, nullptr, rows}, 0, work);
  }

  /// Transforms one row in `a`; `b` is for work. REQUIRES that the transform is split.
  void transformRow(PlaneView<T> a, PlaneView<T> b, const FourierCrew<T>& crew) const {
    const auto ranges = [&](int64_t count, const auto& body) {
      crew.eachRange(count, [&](int64_t begin, int64_t end) { body(begin, end, a); });
    };
    transform(ranges, [&](bool inverse) {
      if (inverse)
        transformSplit(a.swapped(), b, crew);
      else
        transformSplit(a, b, crew);
    });
  }

 private:
  int64_t rounded(int64_t count) const { return (count + slack_ - 1) / slack_ * slack_; }
  static PlaneView<const T> viewOf(const Planes<T>& planes, int64_t begin) {
    return {planes.re.data() + begin, planes.im.data() + begin};
  }

  /// A smooth length: `fourier` alone. Else a convolution; `ranges` calls body(begin, end, row) for parts of rows.
  template <class Ranges, class Fourier>
  void transform(const Ranges& ranges, const Fourier& fourier) const {
    if (!tables_.usesChirp()) return fourier(false);
    const auto multiplyBy = [&](const Planes<T>& factors) {
      return [&](int64_t begin, int64_t end, PlaneView<T> row) {
        loops_.multiply(viewOf(factors, begin), end - begin, row.from(begin));
      };
    };
    ranges(tables_.points, multiplyBy(tables_.chirp));
    ranges(tables_.size - tables_.points, [&](int64_t begin, int64_t end, PlaneView<T> row) {
      std::fill(row.re + tables_.points + begin, row.re + tables_.points + end, T(0));
      std::fill(row.im + tables_.points + begin, row.im + tables_.points + end, T(0));
    });
    fourier(false);
    ranges(tables_.size, multiplyBy(tables_.spectrum));
    fourier(true);
    ranges(tables_.points, multiplyBy(tables_.chirp));
  }

  void transformSplit(PlaneView<T> a, PlaneView<T> b, const FourierCrew<T>& crew) const {
    const int64_t first = tables_.first, second = tables_.second, pitch = rounded(first);
    const ColumnTransforms<T> columns{
        &tables_.firstStages, {a.re, a.im, second, false}, {b.re, b.im, pitch, true}, &tables_.twiddles, second};
    crew.eachBlock(second, [&](int64_t column, T* work) { transformColumns<T>(columns, column, work); });
    const ColumnTransforms<T> rows{
        &tables_.secondStages, {b.re, b.im, pitch, false}, {a.re, a.im, first, false}, nullptr, first};
    crew.eachBlock(first, [&](int64_t column, T* work) { transformColumns<T>(rows, column, work); });
  }

  FourierTables<T> tables_;
  FourierRowLoops<T> loops_{};
  int64_t slack_ = 0;
};

}  // namespace opkit::ops::dft
