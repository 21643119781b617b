// Passes of fast Fourier transforms in vectors: each lane belongs to a transform of its own. Thread-safe.
//
// A block of transforms side by side lies as [element][group of lanes][re, im][lane], so that every pass reads and
// writes whole vectors. Stockham's passes go from one half of the work memory to the other and need no reordering.
#pragma once

#include "ops/dft/fourier_tables.h"

namespace opkit::ops::dft {

/// Transforms along the columns of a matrix [points, columns] of complex numbers in planes, or of its transpose.
template <class T>
struct ColumnTransforms {
  /// Element (i, column) lies at i * pitch + column, or `across` at column * pitch + i.
  struct Matrix {
    T* re = nullptr;
    T* im = nullptr;
    int64_t pitch = 0;
    bool across = false;
  };
  const FourierStages<T>* stages = nullptr;
  Matrix from, to;  // may be the same memory if one block has all columns
  // [points, columns] and planeSlack, or none: each result is multiplied by its own.
  const Planes<T>* factors = nullptr;
  int64_t columns = 0;
};

/// Columns of a block: a whole number of vectors and of cache lines.
template <class T>
int64_t blockColumns();
template <>
int64_t blockColumns<float>();
template <>
int64_t blockColumns<double>();
/// Elements of T that are read, never used, behind the planes of a matrix; rows `across` have a pitch that is a
/// multiple of blockColumns.
template <class T>
int64_t planeSlack() {
  return blockColumns<T>();
}
/// Elements of the work memory of one block.
template <class T>
int64_t blockWork(int64_t points);

/// Transforms the columns [firstColumn, firstColumn + blockColumns), as far as there are.
template <class T>
void transformColumns(const ColumnTransforms<T>& job, int64_t firstColumn, T* work);
template <>
void transformColumns(const ColumnTransforms<float>& job, int64_t firstColumn, float* work);
template <>
void transformColumns(const ColumnTransforms<double>& job, int64_t firstColumn, double* work);

}  // namespace opkit::ops::dft
