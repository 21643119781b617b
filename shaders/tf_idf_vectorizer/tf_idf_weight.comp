// TfIdfVectorizer: counts become weighted floats, one invocation per element. Driven by
// ops/tf_idf_vectorizer/tf_idf_vectorizer_vulkan.cpp.
#version 450
#include "common.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint mode = 0u;
layout(constant_id = 1) const bool isWeighted = false;

layout(binding = 0) readonly buffer Counts { uint counts[]; };     // [rows, width]
layout(binding = 1) readonly buffer Weights { float weights[]; };  // [width], or anything if not isWeighted
layout(binding = 2) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint width;
} push;

// As in tf_idf_vectorizer.fbs.
const uint kTf = 0u, kIdf = 1u;  // 2: counts times weights

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint times = counts[i];
  const float weight = isWeighted && mode != kTf ? weights[i % push.width] : 1.0;
  y[i] = mode == kIdf ? (times > 0u ? weight : 0.0) : float(times) * weight;
}
