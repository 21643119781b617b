// The plugin of reload.cpp: it is unloaded, and libopkit with it if nothing keeps that.
#include <cstdio>

#include "api/opkit.h"

/// True if the network of negated numbers ran.
extern "C" __attribute__((visibility("default"))) bool runOnce(const char* model, const char* backend) {
  std::string error;
  const auto network = opkit::api::Network::open(model, {.backend = backend, .threads = 2}, error);
  const float x[] = {1, 2};
  const bool ran = network && network->setInput("x", "f32", {2, 1}, x, sizeof(x), error) && network->run(error);
  if (!ran) std::fprintf(stderr, "reload_plugin: %s\n", error.c_str());
  return ran && static_cast<const float*>(network->output("y"))[1] == -2;
}
