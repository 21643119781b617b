// Matrix product of 8-bit integers for the CPU kernels: C[m, n] = sum over k of (A[m, k] - za[m]) * (B[k, n] - zb[n]),
// exact modulo 2^32.
//
// Both operands are packed into panels in which four neighbours of the depth lie side by side: the unit that processors
// multiply and add at once. A becomes signed and B unsigned, by an offset of 128 that the zero points take up; each
// panel ends with the sums of its rows or columns, by which the zero points enter when a tile is finished:
//
//   sum (a - za)(b - zb) = sum ab - za * sum b - zb * (sum a - k * za)
//
// Instructions: tdpbsud where the processor has AMX and Linux lets the process use it; vpdpbusd where it has AVX-512
// VNNI; else bytes are widened in registers, and products of 16 bits are added in pairs, which cannot overflow. The
// result never depends on the instructions, the threads or the split.
//
// Nothing is allocated in run(): reserve Plan::workspaceBytes() at resize. Plans and problems are values; run() may be
// used by one thread per pool at a time.
#pragma once

#include <cstdint>
#include <span>

#include "engine/backend/cpu/gemm/gemm.h"

namespace opkit::cpu::bytes {

using gemm::Dims;
using gemm::PanelShape;

/// The register tile of the instruction set in use.
PanelShape panelShape();
/// Whether AMX multiplies.
bool usesTiles();

/// A: element (i, p) is data[i * rowStride + p].
struct Left {
  const uint8_t* data = nullptr;
  int64_t rowStride = 0;
  bool isSigned = false;
};

/// B, packed by packRight if `packed`. Else element (p, j) is data[p * depthStride + j]; or, with `depthOffsets`,
/// data[depthOffsets[p] + j / runLength * runStride + j % runLength].
struct Right {
  const uint8_t* data = nullptr;
  bool packed = false;
  bool isSigned = false;
  int64_t depthStride = 0;
  const int64_t* depthOffsets = nullptr;  // k of them
  int64_t runLength = 1;
  int64_t runStride = 1;
  /// kGatherSlack bytes after every run may be read (not used); makes gathering cheaper.
  bool slack = false;
};
inline constexpr int64_t kGatherSlack = 64;

/// One value for each row or column: data[i * step] for the i-th. `step` is 1, or 0 where all have the same.
template <class T>
struct PerLine {
  const T* data = nullptr;
  int64_t step = 0;
};

/// Makes 8-bit results: round(float(C) * (left * right / target)) + zeroPoint, each operation rounded to f32, then to
/// nearest even, saturated.
struct Requantization {
  PerLine<float> left;   // scales of rows
  PerLine<float> right;  // of columns
  float target = 1;
  int32_t zeroPoint = 0;
  bool isSigned = false;
};

/// One product. A is packed by packLeft. C has `cRowStride` elements between rows; `c` or `y` is set.
struct Problem {
  const uint8_t* left = nullptr;
  Right right;
  PerLine<int32_t> leftZeroPoint;   // of A as packed: less 128 if A is unsigned
  PerLine<int32_t> rightZeroPoint;  // of B as packed: more by 128 if B is signed
  PerLine<int32_t> bias;            // of rows, added to C; null: none
  int64_t cRowStride = 0;
  int32_t* c = nullptr;  // C, or
  uint8_t* y = nullptr;  // the results of `requantization`
  Requantization requantization;
};

/// Packing adds this to the operand, so it is added to the zero point too.
constexpr int32_t leftOffset(bool isSigned) { return isSigned ? 0 : -128; }
constexpr int32_t rightOffset(bool isSigned) { return isSigned ? 128 : 0; }

class Plan : public gemm::TaskPlan {
 public:
  Plan() = default;
  /// For `batch` products of `dims` on `pool`; either all right operands are packed or none.
  Plan(const Dims& dims, int64_t batch, bool rightPacked, const ThreadPool& pool);
  /// Scratch that run() needs.
  int64_t workspaceBytes() const { return workspace(); }

 private:
  friend void run(const Plan&, std::span<const Problem>, uint8_t*, ThreadPool&);
};

/// Bytes that packLeft and packRight write.
int64_t packedLeftBytes(int64_t m, int64_t k);
int64_t packedRightBytes(int64_t k, int64_t n);
/// Packs `matrices` matrices of m rows each, one after the other, with `pool` if given. `target` is 64-byte aligned.
void packLeft(const Left& left, int64_t matrices, int64_t m, int64_t k, uint8_t* target, ThreadPool* pool);
/// Packs B[k, n]. `target` is 64-byte aligned.
void packRight(const Right& right, int64_t k, int64_t n, uint8_t* target);

/// Computes problems[0 .. plan.batch()). REQUIRES a 64-byte aligned workspace (may be null when none is needed).
void run(const Plan& plan, std::span<const Problem> problems, uint8_t* workspace, ThreadPool& pool);

}  // namespace opkit::cpu::bytes
