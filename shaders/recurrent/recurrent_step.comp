// Steps of RNN, GRU or LSTM for one direction: the products of the state with r, and what the gates do with them.
//
// A team of invocations makes one unit of `rows` sequences: it walks the unit's rows of r together, each in kGates of
// them, and folds its sums through shared memory. Then each lane finishes every team-th sequence. A team of one folds
// nothing. The grid is units * blocks of sequences, numbered along all axes. With `walks` a work group has all units of its
// sequences: it makes several steps, and the state between them lies in shared memory.
//
// CELL gru_gates stores the update gate and the state times the reset gate; gru_hidden follows with that as its state.
// gru_linear (linear_before_reset) needs one dispatch. READ single: hidden is no multiple of 4. States are those
// of the direction, [batch, hidden]; products and y as ops/recurrent/recurrent.h says. Driven by
// ops/recurrent/recurrent_vulkan.cpp.
//! variant CELL: rnn gru_gates gru_hidden gru_linear lstm
//! variant READ: single ssbo texel
#version 450
#include "common.glsl"
#include "math.glsl"
#include "read4.glsl"

#if defined(CELL_LSTM)
const uint kFirstGate = 0u, kGates = 4u;
#elif defined(CELL_GRU_LINEAR)
const uint kFirstGate = 0u, kGates = 3u;
#elif defined(CELL_GRU_GATES)
const uint kFirstGate = 0u, kGates = 2u;
#elif defined(CELL_GRU_HIDDEN)
const uint kFirstGate = 2u, kGates = 1u;
#else
const uint kFirstGate = 0u, kGates = 1u;
#endif

const uint kMostRows = 8u;
const uint kMostSlots = 512u;  // rows * invocations of a work group; with `walks`, rows * units too
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint team = 1;  // a power of two that divides the work group
layout(constant_id = 2) const uint rows = 1;  // of a team: 1, 2, 4 or 8
// Activations f, g and h by their numbers in recurrent.fbs.
layout(constant_id = 3) const uint functionF = 2;
layout(constant_id = 4) const uint functionG = 1;
layout(constant_id = 5) const uint functionH = 1;
layout(constant_id = 6) const bool walks = false;

layout(binding = 0) readonly buffer Products { float products[]; };
#ifdef READ_SINGLE
const uint kUnits = 1u;
#define UNIT float
layout(binding = 1) readonly buffer R { float r[]; };
layout(binding = 2) readonly buffer Operand { float operand[]; };
#define R_UNIT(i) r[i]
#define SHARED_UNIT(i) walked[i]
#define DOT(a, b) ((a) * (b))
#else
const uint kUnits = 4u;
#define UNIT vec4
READ4_BUFFER(1, R, r, vec4)
layout(binding = 2) readonly buffer Operand { vec4 operand[]; };
#define R_UNIT(i) READ4(r, i)
#define SHARED_UNIT(i) vec4(walked[4u * (i)], walked[4u * (i) + 1u], walked[4u * (i) + 2u], walked[4u * (i) + 3u])
#define DOT(a, b) dot(a, b)
#endif
layout(binding = 3) buffer States { float states[]; };  // before and after a step, in turns
layout(binding = 4) readonly buffer Bias { float bias[]; };
layout(binding = 5) readonly buffer Lengths { int lengths[]; };
layout(binding = 6) readonly buffer Peepholes { float peepholes[]; };
layout(binding = 7) buffer Cells { float cells[]; };  // LSTM: the cell state; GRU: the update gate
layout(binding = 8) writeonly buffer Kept { float kept[]; };  // gru_gates: the state times the reset gate
layout(binding = 9) writeonly buffer Y { float y[]; };
layout(binding = 10) buffer Bad { int bad[]; };
#include "report.glsl"

layout(push_constant) uniform Push {
  uint firstStep;
  uint lastStep;  // one behind
  uint operandBase;  // where the operand begins, in elements
  uint stateElements;
  uint unitGroups;  // work groups for all units
  uint times;
  uint batches;
  uint hidden;
  uint directions;
  uint direction;
  uint gates;  // of the cell
  uint reverse;
  uint batchFirst;
  uint hasBias;
  uint hasLengths;
  uint hasPeepholes;
  uint coupled;  // LSTM: input_forget
  float clip;    // 0: none
  vec2 figuresF;  // alpha and beta
  vec2 figuresG;
  vec2 figuresH;
} push;

float activate(uint kind, vec2 figures, float x) {
  if (push.clip > 0.0) x = x < -push.clip ? -push.clip : x > push.clip ? push.clip : x;
  const float alpha = figures.x, beta = figures.y;
  if (kind == 0u) return x < 0.0 ? 0.0 : x;
  if (kind == 1u) return mathTanh(x);
  if (kind == 2u) return mathSigmoid(x);
  if (kind == 3u) return alpha * x + beta;
  if (kind == 4u) return x < 0.0 ? alpha * x : x;
  if (kind == 5u) return x < alpha ? 0.0 : x;
  if (kind == 6u) return alpha * mathTanh(beta * x);
  if (kind == 7u) {
    const float value = alpha * x + beta;
    return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
  }
  if (kind == 8u) return x < 0.0 ? alpha * mathExpm1(x) : x;
  if (kind == 9u) return x / (1.0 + abs(x));
  return mathSoftplus(x);
}
float f(float x) { return activate(functionF, push.figuresF, x); }
float g(float x) { return activate(functionG, push.figuresG, x); }
float h(float x) { return activate(functionH, push.figuresH, x); }

shared float sums[kGates * kMostSlots];
#define SUM(gate, row, invocation) sums[((gate) * rows + (row)) * gl_WorkGroupSize.x + (invocation)]
shared float walked[kMostSlots];  // the state of this group's sequences

uint firstRow() { return linearGroup() / push.unitGroups * rows; }

// The sums of the team over k, in the slots of its first lane.
void multiply(uint unit, uint lane) {
  const uint here = gl_LocalInvocationIndex, first = firstRow(), units = push.hidden / kUnits;
  float sum[kGates][kMostRows];
  [[unroll]] for (uint gate = 0u; gate < kGates; ++gate)
    [[unroll]] for (uint row = 0u; row < rows; ++row) sum[gate][row] = 0.0;
  if (unit < push.hidden) {
    const uint matrix = (push.direction * push.gates + kFirstGate) * push.hidden + unit;
    for (uint k = lane; k < units; k += team) {
      UNIT values[kMostRows];
      [[unroll]] for (uint row = 0u; row < rows; ++row)
        values[row] = walks ? SHARED_UNIT(row * units + k)
                            : operand[push.operandBase / kUnits + min(first + row, push.batches - 1u) * units + k];
      [[unroll]] for (uint gate = 0u; gate < kGates; ++gate) {
        const UNIT weights = R_UNIT((matrix + gate * push.hidden) * units + k);
        [[unroll]] for (uint row = 0u; row < rows; ++row) sum[gate][row] += DOT(weights, values[row]);
      }
    }
  }
  [[unroll]] for (uint gate = 0u; gate < kGates; ++gate)
    [[unroll]] for (uint row = 0u; row < rows; ++row) SUM(gate, row, here) = sum[gate][row];
  if (team == 1u) return;
  barrier();
  for (uint width = team / 2u; width > 0u; width /= 2u) {
    if (lane < width)
      [[unroll]] for (uint gate = 0u; gate < kGates; ++gate)
        [[unroll]] for (uint row = 0u; row < rows; ++row) SUM(gate, row, here) += SUM(gate, row, here + width);
    barrier();
  }
}

float biasOf(uint gate, uint unit, uint ofR) {
  if (push.hasBias == 0u) return 0.0;
  return bias[(push.direction * 2u * push.gates + ofR * push.gates + gate) * push.hidden + unit];
}
float peepholeOf(uint which, uint unit, float cell) {
  if (push.hasPeepholes == 0u) return 0.0;
  return peepholes[(push.direction * 3u + which) * push.hidden + unit] * cell;
}

// The new state of a unit, whose sums begin at `here`; `product` is the row of the products.
float finish(uint row, uint unit, uint product, uint element, float old, uint here) {
#define INPUT(gate) (products[product + (gate) * push.hidden + unit] + biasOf(gate, unit, 0u))
#define GATE(gate) (INPUT(gate) + SUM((gate) - kFirstGate, row, here) + biasOf(gate, unit, 1u))
#if defined(CELL_LSTM)
  const float cell = cells[element];
  const float ofInput = f(GATE(0u) + peepholeOf(0u, unit, cell));
  float forget = 1.0 - ofInput;
  if (push.coupled == 0u) forget = f(GATE(2u) + peepholeOf(2u, unit, cell));
  const float made = forget * cell + ofInput * g(GATE(3u));
  cells[element] = made;
  return f(GATE(1u) + peepholeOf(1u, unit, made)) * h(made);
#elif defined(CELL_GRU_GATES)
  cells[element] = f(GATE(0u));
  return f(GATE(1u)) * old;
#elif defined(CELL_GRU_HIDDEN)
  const float update = cells[element];
  return (1.0 - update) * g(GATE(2u)) + update * old;
#elif defined(CELL_GRU_LINEAR)
  const float update = f(GATE(0u)), linear = SUM(2u, row, here) + biasOf(2u, unit, 1u);
  return (1.0 - update) * g(INPUT(2u) + f(GATE(1u)) * linear) + update * old;
#else
  return f(GATE(0u));
#endif
}

// One step of the unit of one sequence, number `row` of its block.
void makeStep(uint step, uint row, uint unit, uint here) {
  const uint batch = firstRow() + row, element = batch * push.hidden + unit;
  if (batch >= push.batches) return;
  const uint length = push.hasLengths != 0u ? uint(checkedRange(lengths[batch], int(push.times))) : push.times;
  const bool runs = step < length;
  const uint time = runs && push.reverse != 0u ? length - 1u - step : step;
  const uint productRow = push.batchFirst != 0u ? batch * push.times + time : time * push.batches + batch;
  const uint product = (productRow * push.directions + push.direction) * push.gates * push.hidden;
  const float old = states[(step & 1u) * push.stateElements + element];
  const float made = runs ? finish(row, unit, product, element, old, here) : old;
#ifdef CELL_GRU_GATES
  kept[element] = made;
#else
  states[(~step & 1u) * push.stateElements + element] = made;
  if (walks) walked[row * push.hidden + unit] = made;
  const uint outputRow = push.batchFirst != 0u ? (batch * push.times + time) * push.directions + push.direction
                                               : (time * push.directions + push.direction) * push.batches + batch;
  y[outputRow * push.hidden + unit] = runs ? made : 0.0;
#endif
}

void loadWalked() {
  const uint here = gl_LocalInvocationIndex, base = (push.firstStep & 1u) * push.stateElements;
  for (uint i = here; i < rows * push.hidden; i += gl_WorkGroupSize.x) {
    const uint batch = min(firstRow() + i / push.hidden, push.batches - 1u);
    walked[i] = states[base + batch * push.hidden + i % push.hidden];
  }
  memoryBarrierBuffer();  // the second step stores where this loop loads
  barrier();
}

void main() {
  const uint lane = gl_LocalInvocationIndex % team;
  const uint unit = linearGroup() % push.unitGroups * (gl_WorkGroupSize.x / team) + gl_LocalInvocationIndex / team;
  if (walks) loadWalked();
  for (uint step = push.firstStep; step < push.lastStep; ++step) {
    multiply(unit, lane);
    if (walks) barrier();  // the state before was read
    if (unit < push.hidden)
      for (uint row = lane; row < rows; row += team) makeStep(step, row, unit, gl_LocalInvocationIndex - lane);
    if (walks) barrier();
  }
}
