// opkit_encoder: how a plugin's GLSL kernel records its dispatches, each checked against the shader's reflection.
#pragma once

#include "engine/plugin/call.h"
#include "engine/plugin/contents.h"

namespace opkit::plugin {

/// The host's `dispatch` and `linear_groups`.
opkit_code dispatch(opkit_encoder* encoder, const opkit_dispatch* dispatch);
/// Fails the callback that the encoder belongs to.
opkit_code failDispatch(opkit_encoder* encoder, opkit_code code, std::string message);
void linearGroups(int64_t items, uint32_t localSize, uint32_t groups[3]);

/// A Vulkan kernel. REQUIRES its compiled shader; empty in a build without Vulkan.
Creator vulkanCreator(const std::string& plugin, const GlslSpec& kernel, void* user,
                      const std::shared_ptr<const AttributeReader>& reader);

}  // namespace opkit::plugin
