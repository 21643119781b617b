// The one source that holds volk, the Vulkan loader that needs no Vulkan library at link time.
#define VOLK_IMPLEMENTATION
#include <volk.h>
