# Shaders are discovered, not listed. For every shaders/<op>/<name>.comp the build makes
# generated/shaders/<op>/<name>.h, which declares struct opkit::shaders::<Name>: its variants, push constants, bindings
# and specialisation constants as C++ types (see engine/backend/vulkan/shader_build/). All are compiled into one
# library, opkit_shaders, which the engine and the operators link.
#
#   opkit_discover_shaders(${PROJECT_SOURCE_DIR}/shaders opkit_ops)

# opkit_shader(path name out-var): the rule for one shader; `name` is "softmax/softmax". The stem is the C++ name, so it is
# unique in the tree, shaders of tests included.
function(opkit_shader path name out)
  # Two stems that differ only in underscores or case would make the same C++ name.
  get_filename_component(stem ${path} NAME_WE)
  string(REPLACE "_" "" key ${stem})
  string(TOLOWER ${key} key)
  get_property(owner GLOBAL PROPERTY OPKIT_SHADER_${key})
  if(owner)
    message(FATAL_ERROR "${path}: the stem is taken by ${owner}; expected unique stems, rename one")
  endif()
  set_property(GLOBAL PROPERTY OPKIT_SHADER_${key} ${path})
  set(stem ${PROJECT_BINARY_DIR}/generated/shaders/${name})
  add_custom_command(
    OUTPUT ${stem}.h ${stem}.cpp
    COMMAND ${OPKIT_LAUNCHER} $<TARGET_FILE:opkit-shader-build> ${path} --name ${name}
            --include ${PROJECT_SOURCE_DIR}/shaders/include --include ${PROJECT_SOURCE_DIR}
            --header ${stem}.h --source ${stem}.cpp --depfile ${stem}.d
    DEPENDS ${path} opkit-shader-build
    DEPFILE ${stem}.d
    VERBATIM COMMENT "shader ${name}")
  set(${out} ${${out}} ${stem}.cpp ${stem}.h PARENT_SCOPE)
endfunction()

# opkit_discover_shaders(root target): makes opkit_shaders from root on the first call; links it to the target.
function(opkit_discover_shaders root target)
  if(NOT TARGET opkit_shaders)
    file(GLOB paths CONFIGURE_DEPENDS ${root}/*/*.comp)
    set(sources "")
    foreach(path ${paths})
      file(RELATIVE_PATH name ${root} ${path})
      string(REGEX REPLACE "\\.comp$" "" name ${name})
      get_filename_component(folder ${name} DIRECTORY)
      opkit_is_chosen(${folder} chosen)
      if(NOT chosen)
        continue()
      endif()
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/shaders/${folder})
      opkit_shader(${path} ${name} sources)
    endforeach()
    # A hash of all shaders: caches on disk are valid for one build's shaders.
    set(compiled ${sources})
    list(FILTER compiled INCLUDE REGEX "\\.cpp$")
    set(hash ${PROJECT_BINARY_DIR}/generated/shaders/shader_hash.cpp)
    opkit_source_hash(${hash} engine/backend/vulkan/shader_hash.h opkit::vulkan kShaderHash ${compiled})
    opkit_library(opkit_shaders ${sources} ${hash})
    foreach(source ${compiled})
      file(RELATIVE_PATH name ${PROJECT_BINARY_DIR} ${source})
      opkit_bucket(${name} 12 bucket)
      opkit_join(opkit_shaders shaders_${bucket} ${source})
    endforeach()
    target_link_libraries(opkit_shaders PUBLIC fmt::fmt)
  endif()
  target_link_libraries(${target} PUBLIC opkit_shaders)
endfunction()
