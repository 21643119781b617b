// One function per network of the zoo; each returns the bytes of an ONNX model.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/status.h"

namespace opkit::zoo {

/// SqueezeNet 1.1: convolutions, concatenations, no normalisation. Iandola et al. 2016.
std::vector<uint8_t> buildSqueezenet();
/// MobileNetV2: depthwise convolutions, BatchNormalization, Clip. Sandler et al. 2018.
std::vector<uint8_t> buildMobilenetV2();
/// ResNet-50 v1.5 (the stride sits in the 3x3 convolution). He et al. 2015.
std::vector<uint8_t> buildResnet50();
/// The same in bytes: i8 weights with a scale per channel, u8 activations. Every layer stands between DequantizeLinear
/// and QuantizeLinear, or is a quantised operator (of com.microsoft where ONNX has none). Both give the same outputs.
std::vector<uint8_t> buildResnet50Qdq();
std::vector<uint8_t> buildResnet50QLinear();
/// Two encoder layers, attention and GELU spelled out in primitive operators. Vaswani et al. 2017.
std::vector<uint8_t> buildTransformer();
/// U-Net of 16 to 256 channels: ConvTranspose, skips, Softmax over the channels. Height and width are multiples of 16.
/// Ronneberger et al. 2015.
std::vector<uint8_t> buildUnet();
/// MobileNetV1 of width 0.25 in f16 between casts of its input and output. Howard et al. 2017.
std::vector<uint8_t> buildMobilenetV1Fp16();
/// ViT-Ti/16, pre-normalised, for images of 224 x 224. Dosovitskiy et al. 2020.
std::vector<uint8_t> buildVit();
/// Log-mel spectra of 25 ms of speech at 16 kHz (STFT, MelWeightMatrix), one LSTM of 128 units, and the letter of each
/// frame. At least 400 samples. Graves et al. 2006, Hannun et al. 2014.
std::vector<uint8_t> buildSpeech();
/// One-stage detector over two levels of a feature pyramid: Resize, TopK, NonMaxSuppression. The number of output rows
/// depends on the data. Lin et al. 2017, Tian et al. 2019.
std::vector<uint8_t> buildDetector();

struct DecoderSizes {
  int64_t layers = 2;
  int64_t model = 64;        // elements of a token's vector
  int64_t heads = 4;         // of queries; a head has model / heads elements
  int64_t kvHeads = 2;       // of keys and values; each serves heads / kvHeads heads of queries
  int64_t hidden = 176;      // of the feed-forward layers
  int64_t vocabulary = 256;  // token ids
  int64_t context = 256;     // positions
};
/// InvalidArgument unless every head has an even number of elements and the weights fit into one ONNX file.
Status checkDecoder(const DecoderSizes& sizes);
/// Decoder-only language model with a cache: RMSNormalization, RotaryEmbedding, grouped-query Attention and SwiGLU of
/// opset 23. Touvron et al. 2023, Ainslie et al. 2023, Su et al. 2021, Shazeer 2020.
/// Inputs: input_ids and position_ids i64 [N, S]; for each layer L past_key_L and past_value_L f32 [N, kvHeads, P,
/// model / heads], P may be 0. Outputs: logits [N, S, vocabulary], present_key_L and present_value_L [N, kvHeads, P +
/// S, model / heads]. Token s sees the P cached tokens and the tokens up to s.
std::vector<uint8_t> buildDecoder(const DecoderSizes& sizes);

}  // namespace opkit::zoo
