// Single-precision matrix product for the CPU kernels: MatMul and Gemm with constant or dynamic right sides,
// convolution as implicit GEMM.
//
//   C[m, n] = clamp(alpha * A[m, k] * B[k, n] + beta * bias[m, n])
//
// How work is split. The register tile is panelShape(): rows x columns, chosen by instruction set. The left
// operand is read in place, or from panels that packLeft made once (weights of a convolution). The right
// operand is read from panels that packRight made once (weights of a MatMul), or the task that needs its panels packs
// them, one depth block at a time: from any strided matrix, or gathered from an image (im2col that is never stored).
// Tasks are rectangles of C. Products of few rows or columns read both operands where they are (gemm_thin.cpp).
//
// Every element of C is summed by one thread, in the order of k or, where k lies side by side in both operands of a
// thin product, in one sum per lane; so the result does not depend on the number of threads or on the split. Error: |C
// - exact| <= u * k * sum|a*b| at most, as for a plain loop; with FMA where the processor has it. Any extent may be 0;
// k = 0 gives the bias.
//
// Nothing is allocated in run(): reserve Plan::workspaceFloats() at resize. Plans and problems are values;
// run() may be used by one thread per pool at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "engine/base/thread_pool.h"

namespace opkit::cpu::gemm {

/// The register tile of the instruction set in use.
struct PanelShape {
  int64_t rows;     // of A and C
  int64_t columns;  // of B and C
};
PanelShape panelShape();

struct Dims {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

/// A: element (i, p) is data[i * rowStride + p * depthStride], or packed by packLeft (strides unused).
struct Left {
  const float* data = nullptr;
  int64_t rowStride = 0;
  int64_t depthStride = 1;
  bool packed = false;
};

/// B, in one of three forms.
struct Right {
  enum class Form {
    Packed,    // by packRight
    Strided,   // element (p, j) is data[p * depthStride + j * columnStride]
    Gathered,  // element (p, j) is data[depthOffsets[p] + j / runLength * runStride + j % runLength]
  };
  Form form = Form::Strided;
  const float* data = nullptr;
  int64_t depthStride = 0;
  int64_t columnStride = 1;
  const int64_t* depthOffsets = nullptr;  // k of them
  int64_t runLength = 1;
  int64_t runStride = 1;
  /// kGatherSlack floats after every run may be read (not used); makes short runs cheaper.
  bool slack = false;
};
inline constexpr int64_t kGatherSlack = 64;

/// Applied when an element's sum is complete.
struct Epilogue {
  float alpha = 1.0f;
  float beta = 1.0f;
  const float* bias = nullptr;   // element (i, j) is bias[i * biasRowStride + j * biasColumnStride]; null: none
  int64_t biasRowStride = 0;     // 0 repeats along the rows
  int64_t biasColumnStride = 0;  // 0 or 1
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// Batches of products up to this size, and of single dot products up to this depth, are quicker as a loop (measured:
/// decision 0017). Every element of such a product is summed in the order of k, as the loop does: an Execution that is
/// resized to one gives the same bits.
inline constexpr int64_t kLoopProducts = 512;
inline constexpr int64_t kLoopDepth = 256;

/// One product. C is row-major with `cRowStride` elements between rows; it may not overlap the operands.
struct Problem {
  Left left;
  Right right;
  float* c = nullptr;
  int64_t cRowStride = 0;
  Epilogue epilogue;
};

/// How products of one size are cut into tasks, for products of floats and of bytes. Cheap to make.
class TaskPlan {
 public:
  const Dims& dims() const { return dims_; }
  int64_t batch() const { return batch_; }

 protected:
  TaskPlan() = default;
  TaskPlan(const Dims& dims, int64_t batch, size_t threads) : dims_(dims), batch_(batch), threads_(threads) {}
  /// Multiply-adds of all products.
  double work() const {
    return static_cast<double>(dims_.m) * static_cast<double>(dims_.n) * static_cast<double>(dims_.k) *
           static_cast<double>(batch_);
  }
  /// Halves a side of the tasks until there are several per thread: columns while they are more than the rows or, if
  /// each task packs the right operand, more than `fewestColumns`; else rows, never below `fewestRows`.
  void split(bool rightPacked, int64_t fewestRows, int64_t fewestColumns, const PanelShape& panel);
  int64_t workspace() const { return workspacePerThread_ * static_cast<int64_t>(threads_); }
  /// Calls body(problem, first row, end, first column, end, thread) for each task.
  template <class Body>
  void runTasks(ThreadPool& pool, const Body& body) const;

  Dims dims_;
  int64_t batch_ = 0;
  size_t threads_ = 1;
  int64_t rowsPerTask_ = 0;     // a multiple of the panel's rows
  int64_t columnsPerTask_ = 0;  // a multiple of the panel's columns
  int64_t workspacePerThread_ = 0;
};

class Plan : public TaskPlan {
 public:
  Plan() = default;
  /// For `batch` products of `dims` on `threads`; either all right operands are packed or none. `splitsAll` of the
  /// pool: as many tasks as there can be.
  Plan(const Dims& dims, int64_t batch, bool rightPacked, size_t threads, bool splitsAll = false);
  /// Scratch that run() needs.
  int64_t workspaceFloats() const { return workspace(); }

 private:
  friend void run(const Plan&, std::span<const Problem>, float*, ThreadPool&);
};

/// Floats that packLeft and packRight write.
int64_t packedLeftFloats(int64_t m, int64_t k);
int64_t packedRightFloats(int64_t k, int64_t n);
/// Packs A[m, k] into [m / rows][k][rows], the last panel padded with zeros. `target` is 64-byte aligned.
void packLeft(const Left& left, int64_t m, int64_t k, float* target);
/// Packs B[k, n] into [n / columns][k][columns], the last panel padded. `target` is 64-byte aligned.
void packRight(const Right& right, int64_t k, int64_t n, float* target);
/// Keeps a B[k, n] that will not change, in as many floats as packRight: in panels, or few columns one after the other.
void keepRight(const Right& right, int64_t k, int64_t n, float* target);
/// The right side that keepRight left at `data`. The plan is that of a packed one.
Right keptRight(const float* data, int64_t k, int64_t n);

/// Computes problems[0 .. plan.batch()). REQUIRES a pool of at most the plan's threads and a 64-byte aligned
/// workspace (may be null when none is needed).
void run(const Plan& plan, std::span<const Problem> problems, float* workspace, ThreadPool& pool);

}  // namespace opkit::cpu::gemm
