// The messages of a serialised ONNX model that are walked without protobuf.
#pragma once

#include <cstdint>

namespace opkit {

enum class WireMessage { Model, Graph, Function, Node, Attribute, SparseTensor, Tensor, Other };

/// The message in field `number` of a message; Other if it holds neither graphs nor tensors.
inline WireMessage messageIn(WireMessage around, uint64_t number) {
  using enum WireMessage;
  switch (around) {
    case Model: return number == 7 ? Graph : number == 25 ? Function : Other;
    case Graph: return number == 1 ? Node : number == 5 ? Tensor : number == 15 ? SparseTensor : Other;
    case Function: return number == 7 ? Node : number == 11 ? Attribute : Other;
    case Node: return number == 5 ? Attribute : Other;
    case Attribute:
      switch (number) {
        case 5:
        case 10: return Tensor;
        case 6:
        case 11: return Graph;
        case 22:
        case 23: return SparseTensor;
        default: return Other;
      }
    case SparseTensor: return number == 1 || number == 2 ? Tensor : Other;
    case Tensor:
    case Other: break;
  }
  return Other;
}

}  // namespace opkit
