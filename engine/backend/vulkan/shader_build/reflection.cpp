#include "engine/backend/vulkan/shader_build/reflection.h"

#include <spirv_cross/spirv_cross_c.h>

#include <algorithm>
#include <memory>

namespace opkit::shader_build {
namespace {

struct ContextDeleter {
  void operator()(spvc_context context) const { spvc_context_destroy(context); }
};

/// One SPIRV-Cross compiler over one module; every list it returns is owned by the context.
class Module {
 public:
  static Result<Module> parse(const std::vector<uint32_t>& spirv) {
    spvc_context context = nullptr;
    if (spvc_context_create(&context) != SPVC_SUCCESS) return Status::internal("SPIRV-Cross: no context");
    Module module;
    module.context_.reset(context);
    spvc_parsed_ir ir = nullptr;
    if (spvc_context_parse_spirv(context, spirv.data(), spirv.size(), &ir) != SPVC_SUCCESS ||
        spvc_context_create_compiler(context, SPVC_BACKEND_NONE, ir, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                     &module.compiler_) != SPVC_SUCCESS ||
        spvc_compiler_create_shader_resources(module.compiler_, &module.resources_) != SPVC_SUCCESS)
      return Status::internal("SPIRV-Cross: {}", spvc_context_get_last_error_string(context));
    return module;
  }

  spvc_compiler compiler() const { return compiler_; }

  std::span<const spvc_reflected_resource> list(spvc_resource_type type) const {
    const spvc_reflected_resource* items = nullptr;
    size_t count = 0;
    spvc_resources_get_resource_list_for_type(resources_, type, &items, &count);
    return {items, count};
  }

 private:
  std::unique_ptr<spvc_context_s, ContextDeleter> context_;
  spvc_compiler compiler_ = nullptr;
  spvc_resources resources_ = nullptr;
};

Status refuseOtherResources(const Module& module) {
  static constexpr std::pair<spvc_resource_type, const char*> kKinds[] = {
      {SPVC_RESOURCE_TYPE_UNIFORM_BUFFER, "uniform buffer"},
      {SPVC_RESOURCE_TYPE_SEPARATE_IMAGE, "image"},
      {SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS, "sampler"},
      {SPVC_RESOURCE_TYPE_ATOMIC_COUNTER, "atomic counter"},
      {SPVC_RESOURCE_TYPE_ACCELERATION_STRUCTURE, "acceleration structure"}};
  for (const auto& [type, what] : kKinds)
    for (const auto& resource : module.list(type))
      return Status::invalidArgument(
          "'{}' is a {}: only storage buffers, samplerBuffers, sampler2Ds and writeonly image2Ds can be bound",
          resource.name, what);
  return Status::ok();
}

Result<BindingInfo> reflectBinding(const Module& module, const spvc_reflected_resource& block) {
  spvc_compiler compiler = module.compiler();
  const spvc_type type = spvc_compiler_get_type_handle(compiler, block.base_type_id);
  if (spvc_type_get_num_member_types(type) != 1)
    return Status::invalidArgument("buffer block '{}' must hold exactly one array: its name is the binding's name",
                                   block.name);
  if (spvc_compiler_get_decoration(compiler, block.id, SpvDecorationDescriptorSet) != 0)
    return Status::invalidArgument("buffer block '{}' must be in descriptor set 0", block.name);
  const bool noWrite = spvc_compiler_has_member_decoration(compiler, block.base_type_id, 0, SpvDecorationNonWritable);
  const bool noRead = spvc_compiler_has_member_decoration(compiler, block.base_type_id, 0, SpvDecorationNonReadable);
  return BindingInfo{{spvc_compiler_get_member_name(compiler, block.base_type_id, 0)},
                     noWrite  ? vulkan::Access::Read
                     : noRead ? vulkan::Access::Write
                              : vulkan::Access::ReadWrite};
}

/// A samplerBuffer, which a device class may prefer for reads (shaders/include/read4.glsl), or a sampler2D or image2D
/// (shaders/include/image4.glsl).
Result<BindingInfo> reflectTexels(const Module& module, const spvc_reflected_resource& resource, bool stored) {
  spvc_compiler compiler = module.compiler();
  const SpvDim dimension =
      spvc_type_get_image_dimension(spvc_compiler_get_type_handle(compiler, resource.base_type_id));
  const bool bound = spvc_compiler_get_decoration(compiler, resource.id, SpvDecorationDescriptorSet) == 0;
  if (!stored && bound && dimension == SpvDimBuffer) return BindingInfo{{resource.name}, vulkan::Access::Texel};
  if (!stored && bound && dimension == SpvDim2D) return BindingInfo{{resource.name}, vulkan::Access::Image};
  if (stored && bound && dimension == SpvDim2D &&
      spvc_compiler_has_decoration(compiler, resource.id, SpvDecorationNonReadable))
    return BindingInfo{{resource.name}, vulkan::Access::ImageWrite};
  return Status::invalidArgument(
      "'{}' is an image: only samplerBuffers, sampler2Ds and writeonly image2Ds of descriptor set 0 can be bound",
      resource.name);
}

Status reflectBindings(const Module& module, Reflection& result) {
  for (const auto& block : module.list(SPVC_RESOURCE_TYPE_STORAGE_BUFFER)) {
    const unsigned number = spvc_compiler_get_decoration(module.compiler(), block.id, SpvDecorationBinding);
    OPKIT_ASSIGN(BindingInfo info, reflectBinding(module, block));
    mergeBinding(info, result.bindings[number]);
  }
  for (const bool stored : {false, true})
    for (const auto& resource :
         module.list(stored ? SPVC_RESOURCE_TYPE_STORAGE_IMAGE : SPVC_RESOURCE_TYPE_SAMPLED_IMAGE)) {
      const unsigned number = spvc_compiler_get_decoration(module.compiler(), resource.id, SpvDecorationBinding);
      OPKIT_ASSIGN(BindingInfo info, reflectTexels(module, resource, stored));
      if (!result.bindings.emplace(number, info).second)
        return Status::invalidArgument("'{}' shares binding {} with another", info.names.front(), number);
    }
  return Status::ok();
}

struct Scalar {
  const char* type;
  uint32_t sizeBytes;
};

Result<Scalar> scalarOf(spvc_basetype base, const std::string& name) {
  switch (base) {
    case SPVC_BASETYPE_UINT32: return Scalar{"uint32_t", 4};
    case SPVC_BASETYPE_INT32: return Scalar{"int32_t", 4};
    case SPVC_BASETYPE_FP32: return Scalar{"float", 4};
    case SPVC_BASETYPE_UINT64: return Scalar{"uint64_t", 8};
    case SPVC_BASETYPE_INT64: return Scalar{"int64_t", 8};
    default: return Status::invalidArgument("push constant '{}' must be a uint, int, float, uint64_t or int64_t", name);
  }
}

Result<PushField> reflectField(const Module& module, spvc_type block, unsigned index, const std::string& name) {
  spvc_compiler compiler = module.compiler();
  const spvc_type type = spvc_compiler_get_type_handle(compiler, spvc_type_get_member_type(block, index));
  OPKIT_ASSIGN(const Scalar scalar, scalarOf(spvc_type_get_basetype(type), name));
  PushField field{name, scalar.type, 0, 0};
  spvc_compiler_type_struct_member_offset(compiler, block, index, &field.offset);
  const unsigned width = spvc_type_get_vector_size(type);
  const unsigned dimensions = spvc_type_get_num_array_dimensions(type);
  if (dimensions > 1 || spvc_type_get_columns(type) > 1)
    return Status::invalidArgument("push constant '{}' must be a scalar, a vector or a one-dimensional array", name);
  if (width > 1) field.count = width;
  if (dimensions == 1) {
    unsigned stride = 0;
    spvc_compiler_type_struct_member_array_stride(compiler, block, index, &stride);
    if (stride != width * scalar.sizeBytes)
      return Status::invalidArgument("push constant '{}' has gaps between its elements: use scalars, 2- or 4-vectors",
                                     name);
    field.count = width * spvc_type_get_array_dimension(type, 0);
  }
  return field;
}

Status reflectPush(const Module& module, Reflection& result) {
  for (const auto& block : module.list(SPVC_RESOURCE_TYPE_PUSH_CONSTANT)) {
    const spvc_type type = spvc_compiler_get_type_handle(module.compiler(), block.base_type_id);
    for (unsigned i = 0; i < spvc_type_get_num_member_types(type); ++i) {
      OPKIT_ASSIGN(
          PushField field,
          reflectField(module, type, i, spvc_compiler_get_member_name(module.compiler(), block.base_type_id, i)));
      const uint32_t width = field.type.find("64") == std::string::npos ? 4 : 8;
      result.pushBytes = std::max(result.pushBytes, field.offset + width * std::max(field.count, 1u));
      result.push.push_back(std::move(field));
    }
  }
  std::sort(result.push.begin(), result.push.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return Status::ok();
}

Result<std::string> constantType(const Module& module, spvc_constant constant, const std::string& name) {
  const spvc_type type = spvc_compiler_get_type_handle(module.compiler(), spvc_constant_get_type(constant));
  switch (spvc_type_get_basetype(type)) {
    case SPVC_BASETYPE_UINT32: return std::string("uint32_t");
    case SPVC_BASETYPE_INT32: return std::string("int32_t");
    case SPVC_BASETYPE_FP32: return std::string("float");
    case SPVC_BASETYPE_BOOLEAN: return std::string("bool");
    default: return Status::invalidArgument("specialisation constant '{}' must be a uint, int, float or bool", name);
  }
}

Status reflectConstants(const Module& module, Reflection& result) {
  const spvc_specialization_constant* constants = nullptr;
  size_t count = 0;
  spvc_compiler_get_specialization_constants(module.compiler(), &constants, &count);
  spvc_specialization_constant local[3];
  spvc_compiler_get_work_group_size_specialization_constants(module.compiler(), &local[0], &local[1], &local[2]);
  for (size_t i = 0; i < count; ++i) {
    std::string name = spvc_compiler_get_name(module.compiler(), constants[i].id);
    for (size_t axis = 0; axis < 3; ++axis) {
      if (local[axis].id != constants[i].id) continue;
      result.localSizeConstants[axis] = constants[i].constant_id;
      if (name.empty()) name = std::string("localSize") + "XYZ"[axis];
    }
    if (name.empty())
      return Status::invalidArgument("specialisation constant {} has no name", constants[i].constant_id);
    const spvc_constant value = spvc_compiler_get_constant_handle(module.compiler(), constants[i].id);
    OPKIT_ASSIGN(std::string type, constantType(module, value, name));
    result.constants.push_back({constants[i].constant_id, name, type, spvc_constant_get_scalar_u32(value, 0, 0)});
  }
  std::sort(result.constants.begin(), result.constants.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return Status::ok();
}

}  // namespace

void mergeBinding(const BindingInfo& from, BindingInfo& into) {
  if (into.names.empty())
    into.access = from.access;
  else if (into.access != from.access)  // a buffer that some variants read through texels is only read
    into.access =
        vulkan::writes(into.access) || vulkan::writes(from.access) ? vulkan::Access::ReadWrite : vulkan::Access::Read;
  for (const std::string& name : from.names)
    if (std::find(into.names.begin(), into.names.end(), name) == into.names.end()) into.names.push_back(name);
}

Result<Reflection> reflect(const std::vector<uint32_t>& spirv) {
  OPKIT_ASSIGN(const Module module, Module::parse(spirv));
  Reflection result;
  OPKIT_TRY(refuseOtherResources(module));
  OPKIT_TRY(reflectBindings(module, result));
  OPKIT_TRY(reflectPush(module, result));
  OPKIT_TRY(reflectConstants(module, result));
  for (unsigned axis = 0; axis < 3; ++axis)
    result.localSize[axis] =
        spvc_compiler_get_execution_mode_argument_by_index(module.compiler(), SpvExecutionModeLocalSize, axis);
  return result;
}

}  // namespace opkit::shader_build
