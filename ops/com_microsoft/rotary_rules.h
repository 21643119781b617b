// Rotary embeddings as the rules of com.microsoft emit them. Values are tensor indices of the model.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::com_microsoft {

/// Cosines and sines of tokens, [batch, tokens, pairs].
struct Angles {
  TensorId cosines, sines;
};
/// The rows of the caches [positions, pairs] at places [batch, tokens].
Angles anglesAt(OnnxNode& node, TensorId cosines, TensorId sines, TensorId places);

struct Rotation {
  int64_t heads;
  int64_t turned;    // rotary_dim of the operator RotaryEmbedding
  bool interleaved;  // pairs are neighbours
};
/// x, [batch, tokens, heads * size], with its heads turned.
TensorId rotated(OnnxNode& node, TensorId x, const Angles& angles, const Rotation& rotation);

}  // namespace opkit::ops::com_microsoft
