// Attention and feed-forward blocks, spelled out in primitive operators; shared by the transformers of the zoo.
#pragma once

#include <string>
#include <vector>

#include "harness/zoo/network_builder.h"

namespace opkit::zoo {

/// Blocks over values of [N, S, model].
class Encoder {
 public:
  struct Size {
    int64_t model;
    int64_t heads;
    int64_t hidden;
  };
  Encoder(NetworkBuilder& net, const Size& size) : net_(net), size_(size) {}

  std::string norm(const std::string& x);
  /// Multi-head attention of x to itself.
  std::string attention(const std::string& x);
  /// Two linear layers with a GELU between them.
  std::string feedForward(const std::string& x);

 private:
  std::string linear(const std::string& x, int64_t in, int64_t out);
  /// Reshapes to [N, S, tail...], N and S read from `like` at run time.
  std::string reshapeLike(const std::string& x, const std::string& like, const std::vector<int64_t>& tail);
  /// [N, S, model] to [N, heads, S, size], or to [N, heads, size, S] for keys.
  std::string heads(const std::string& x, bool keys);

  NetworkBuilder& net_;
  Size size_;
};

}  // namespace opkit::zoo
