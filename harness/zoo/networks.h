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
/// Two encoder layers, attention and GELU spelled out in primitive operators. Vaswani et al. 2017.
std::vector<uint8_t> buildTransformer();

}  // namespace opkit::zoo
