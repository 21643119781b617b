// One function per network of the zoo; each returns the bytes of an ONNX model.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace opkit::zoo
