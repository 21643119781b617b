#include "harness/zoo/zoo.h"

#include "harness/zoo/networks.h"

namespace opkit {
namespace {

struct Network {
  const char* name;
  std::vector<uint8_t> (*build)();
};

constexpr Network kNetworks[] = {{"detector", zoo::buildDetector},
                                 {"mobilenet_v1_fp16", zoo::buildMobilenetV1Fp16},
                                 {"mobilenet_v2", zoo::buildMobilenetV2},
                                 {"resnet50", zoo::buildResnet50},
                                 {"resnet50_qdq", zoo::buildResnet50Qdq},
                                 {"resnet50_qlinear", zoo::buildResnet50QLinear},
                                 {"speech", zoo::buildSpeech},
                                 {"squeezenet", zoo::buildSqueezenet},
                                 {"transformer", zoo::buildTransformer},
                                 {"unet", zoo::buildUnet},
                                 {"vit", zoo::buildVit}};

}  // namespace

std::vector<std::string> zooNames() {
  std::vector<std::string> names;
  for (const Network& network : kNetworks) names.emplace_back(network.name);
  return names;
}

Result<std::vector<uint8_t>> buildZoo(const std::string& name) {
  for (const Network& network : kNetworks)
    if (network.name == name) return network.build();
  return Status::invalidArgument("the zoo has no network '{}'; expected one of {}", name, fmt::join(zooNames(), ", "));
}

}  // namespace opkit
