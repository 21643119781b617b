# Operators are discovered, not listed. A folder ops/<op>/ holds <op>.cpp (defines namespace opkit::ops::<op> with `void
# define(OpRegistry&)`) and optionally
#   <op>.fbs            parameters; flatc makes <op>_generated.h, and k<Op>Schema appears in <op>_schema.h
#   <op>_cpu.cpp        `void addCpu(OpRegistry&)`
#   <op>_onednn.cpp     `void addOnednn(OpRegistry&)`; only where the build found oneDNN
#   *_codec.cpp         compiled only where the build found the libraries of images
#   <op>_vulkan.cpp     `void addVulkan(OpRegistry&)`
#   <op>_<name>_cpu.cpp, <op>_<name>_vulkan.cpp   a further kernel, if it defines `void addFurtherKernel(OpRegistry&)`
#                       in the namespace <op>::<name>_cpu or <op>::<name>_vulkan; called before addCpu and addVulkan
#   <op>_<backend>.cpp  of a backend found in engine/backend: `void addKernels(OpRegistry&)` in the namespace <op>::<backend>
#   <op>_onnx.cpp       `void addOnnx(OnnxRules&)`
#   <op>_passes.cpp     `void addPasses(OpRegistry&)`: graph passes that make or know this operator
#   <op>_reference.cpp  `Status reference(const OracleArgs&)`, the oracle, where a card names it
#   <op>_hidden.cpp     `HiddenElements hidden(const OracleArgs&)`, where a card names it (engine/op/hidden.h)
#   anything else .cpp  compiled along; *_vulkan.cpp only with Vulkan
# The end of a name chooses how its loops are compiled; a source with foreach_target.h must have one of the last two:
#   *_cpu, *_maps, *_means, *_columns   loops over elements: vectors for unknown counts (opkit_kernel_sources)
#   *_vectors, *_rows                   the same; Highway's vectors of each instruction set
#   *_wide                              plain loops as vectors of each instruction set (opkit_wide_sources)
# The build writes the header <op>_parts.h. It declares the functions that the folder has, and includes the operator's
# contract and the parameters. An operator needs its own header only for other declarations that its files share. The
# build writes the one list that calls them: ops/builtin_ops.cpp in the build tree.

# Writes text to a file only if it differs, to avoid needless rebuilds.
function(opkit_write_if_different path text)
  if(EXISTS ${path})
    file(READ ${path} old)
    if(old STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE ${path} "${text}")
endfunction()

# opkit_fbs(fbs-file output-folder out-var): compiles a schema with the object API; embeds its text as
# k<File>Schema in <file>_schema.h. Appends the generated headers to out-var.
function(opkit_fbs fbs folder headers)
  get_filename_component(stem ${fbs} NAME_WE)
  string(REGEX REPLACE "(^|_)([a-z0-9])" ";\\2" words ${stem})
  set(camel "")
  string(REPLACE "_" ";" words ${stem})
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND camel ${first}${rest})
  endforeach()
  set(output ${PROJECT_BINARY_DIR}/generated/${folder}/${stem}_generated.h)
  add_custom_command(
    OUTPUT ${output}
    COMMAND flatbuffers::flatc --cpp --gen-object-api --scoped-enums --reflect-types -o ${PROJECT_BINARY_DIR}/generated/${folder} ${fbs}
    DEPENDS ${fbs} VERBATIM COMMENT "flatc ${folder}/${stem}.fbs")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fbs})
  file(READ ${fbs} text)
  opkit_write_if_different(${PROJECT_BINARY_DIR}/generated/${folder}/${stem}_schema.h
    "// Generated from ${folder}/${stem}.fbs.\n#pragma once\n#include <string_view>\nnamespace opkit {\ninline constexpr std::string_view k${camel}Schema = R\"fbs(${text})fbs\";\n}  // namespace opkit\n")
  set(${headers} ${${headers}} ${output} PARENT_SCOPE)
endfunction()

# opkit_join_sources(target sources...): compiles in groups of several operators what describes them (<op>.cpp, _onnx, _passes),
# their oracles, their Vulkan recordings and their other helpers: headers and templates take most of the time of a small
# source. Of Vulkan recordings and helpers a group holds one per folder, since these like to give the same names. Kernels
# are compiled alone: their loops are edited most, and files with foreach_target.h include themselves. So are further
# kernels.
function(opkit_join_sources target)
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(op ${folder} NAME)
    get_filename_component(name ${file} NAME_WE)
    file(STRINGS ${file} repeated REGEX "foreach_target\\.h" LIMIT_COUNT 1)
    if(repeated AND NOT name MATCHES "_(vectors|rows|wide)$")
      message(FATAL_ERROR "${file}: a source with foreach_target.h ends in _vectors, _rows or _wide, see cmake/opkit_ops.cmake")
    endif()
    file(STRINGS ${file} further REGEX "^void addFurtherKernel\\(" LIMIT_COUNT 1)
    if(further)
      set(repeated TRUE)
    endif()
    if(name STREQUAL op OR name MATCHES "_(onnx|passes)$")
      opkit_bucket(${op} 28 bucket)
      opkit_join(${target} describe_${bucket} ${file})
    elseif(name MATCHES "_(reference|hidden)$")
      opkit_bucket(${op} 12 bucket)
      opkit_join(${target} ${CMAKE_MATCH_1}_${bucket} ${file})
    elseif(NOT repeated AND NOT name MATCHES "_(cpu|onednn|codec|wide)$")
      set(kind parts)
      if(name MATCHES "_vulkan$")
        set(kind vulkan)
      endif()
      opkit_bucket(${op} 12 bucket)
      math(EXPR bucket "(${bucket} + 0${${kind}_of_${op}}) % 12")
      math(EXPR ${kind}_of_${op} "0${${kind}_of_${op}} + 1")
      opkit_join(${target} ${kind}_${bucket} ${file})
    endif()
  endforeach()
endfunction()

# opkit_further_kernels(op files declarations-var calls-var): of the sources of an operator that add a further kernel.
function(opkit_further_kernels op files declarations calls)
  set(found_declarations "")
  set(found_calls "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    if(NOT name MATCHES "^${op}_(.+_(cpu|vulkan))$" OR (CMAKE_MATCH_2 STREQUAL "vulkan" AND NOT OPKIT_VULKAN))
      continue()
    endif()
    set(inner ${CMAKE_MATCH_1})
    file(STRINGS ${file} defined REGEX "^void addFurtherKernel\\(OpRegistry& " LIMIT_COUNT 1)
    if(defined)
      string(APPEND found_declarations "namespace opkit::ops::${op}::${inner} {\nvoid addFurtherKernel(OpRegistry&);\n}\n")
      string(APPEND found_calls "  ${op}::${inner}::addFurtherKernel(registry);\n")
    endif()
  endforeach()
  set(${declarations} "${found_declarations}" PARENT_SCOPE)
  set(${calls} "${found_calls}" PARENT_SCOPE)
endfunction()

# opkit_discover_ops(root sources-var headers-var): sources and generated headers of every folder of root.
function(opkit_discover_ops root sources headers)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${root}/*)
  get_property(backends GLOBAL PROPERTY OPKIT_BACKENDS)
  set(found_sources "")
  set(found_headers "")
  set(declarations "")
  set(op_calls "")
  set(onnx_calls "")
  foreach(folder ${folders})
    get_filename_component(op ${folder} NAME)
    if(NOT EXISTS ${folder}/${op}.cpp)
      continue()
    endif()
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.fbs)
    opkit_is_chosen(${op} chosen)
    if(NOT chosen)  # other folders may know its parameters
      list(FILTER files INCLUDE REGEX "\\.fbs$")
      foreach(file ${files})
        opkit_fbs(${file} ops/${op} found_headers)
      endforeach()
      continue()
    elseif(OPKIT_OPS)
      list(FILTER files EXCLUDE REGEX "_(onnx|rules|passes)\\.cpp$")
    endif()
    opkit_further_kernels(${op} "${files}" further further_calls)
    set(parts "void define(OpRegistry&);\n")
    set(parts_includes "")
    string(APPEND op_calls "  registry.setFolder(\"${op}\");\n  ${op}::define(registry);\n${further_calls}")
    foreach(backend ${backends})
      if(EXISTS ${folder}/${op}_${backend}.cpp)
        string(APPEND further "namespace opkit::ops::${op}::${backend} {\nvoid addKernels(OpRegistry&);\n}\n")
        string(APPEND op_calls "  ${op}::${backend}::addKernels(registry);\n")
      endif()
    endforeach()
    foreach(file ${files})
      get_filename_component(name ${file} NAME)
      if(name MATCHES "_test\\.cpp$")
        continue()
      elseif(name MATCHES "_vulkan\\.cpp$" AND NOT OPKIT_VULKAN)
        continue()
      elseif(name MATCHES "_onednn\\.cpp$" AND NOT OPKIT_ONEDNN)
        continue()
      elseif(name MATCHES "_codec\\.cpp$" AND NOT OPKIT_IMAGES)
        continue()
      elseif(name MATCHES "\\.fbs$")
        opkit_fbs(${file} ops/${op} found_headers)
        get_filename_component(stem ${name} NAME_WE)
        string(APPEND parts_includes "#include \"ops/${op}/${stem}_generated.h\"\n#include \"ops/${op}/${stem}_schema.h\"\n")
      elseif(name STREQUAL "${op}_reference.cpp")
        string(APPEND parts "Status reference(const OracleArgs&);\n")
      elseif(name STREQUAL "${op}_hidden.cpp")
        string(PREPEND parts_includes "#include \"engine/op/hidden.h\"\n")
        string(APPEND parts "HiddenElements hidden(const OracleArgs&);\n")
      elseif(name STREQUAL "${op}_cpu.cpp")
        string(APPEND parts "void addCpu(OpRegistry&);\n")
        string(APPEND op_calls "  ${op}::addCpu(registry);\n")
      elseif(name STREQUAL "${op}_onednn.cpp")
        string(APPEND parts "void addOnednn(OpRegistry&);\n")
        string(APPEND op_calls "  ${op}::addOnednn(registry);\n")
      elseif(name STREQUAL "${op}_vulkan.cpp")
        string(APPEND parts "void addVulkan(OpRegistry&);\n")
        string(APPEND op_calls "  ${op}::addVulkan(registry);\n")
      elseif(name STREQUAL "${op}_passes.cpp")
        string(APPEND parts "void addPasses(OpRegistry&);\n")
        string(APPEND op_calls "  ${op}::addPasses(registry);\n")
      elseif(name STREQUAL "${op}_onnx.cpp")
        string(APPEND parts "void addOnnx(OnnxRules&);\n")
        string(APPEND onnx_calls "  rules.setFolder(\"${op}\");\n  ${op}::addOnnx(rules);\n")
      endif()
      if(name MATCHES "\\.cpp$")
        list(APPEND found_sources ${file})
      endif()
    endforeach()
    set(parts "namespace opkit::ops::${op} {\n${parts}}  // namespace opkit::ops::${op}\n")
    string(APPEND declarations "${parts}${further}")
    opkit_write_if_different(${PROJECT_BINARY_DIR}/generated/ops/${op}/${op}_parts.h
      "// Generated from the files of ops/${op}/.\n#pragma once\n#include \"engine/op/op_def.h\"\n${parts_includes}
namespace opkit {\nclass OnnxRules;\nclass OpRegistry;\n}  // namespace opkit\n${parts}")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/generated/ops/builtin_ops.cpp)
  opkit_write_if_different(${list} "// Generated from the folders of ops/.
#include \"ops/builtin_ops.h\"

#include \"engine/graph/passes/engine_passes.h\"
#include \"engine/op/hidden.h\"
${declarations}
namespace opkit::ops {
namespace {
OpRegistry makeOps() {
  OpRegistry registry;
  addEnginePasses(registry);
${op_calls}  return registry;
}
OnnxRules makeOnnxRules() {
  OnnxRules rules;
${onnx_calls}  return rules;
}
}  // namespace
const OpRegistry& builtinOps() {
  static const OpRegistry registry = makeOps();
  return registry;
}
const OnnxRules& builtinOnnxRules() {
  static const OnnxRules rules = makeOnnxRules();
  return rules;
}
}  // namespace opkit::ops
")
  set(${sources} ${found_sources} ${list} PARENT_SCOPE)
  set(${headers} ${found_headers} PARENT_SCOPE)
endfunction()
