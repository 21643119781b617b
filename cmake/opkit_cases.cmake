# opkit_embed_cases(root source-var): embeds every root/<op>/<op>.cases.json in one generated source that defines
# opkit::harness::builtinCaseFiles(). Names the source in source-var.
function(opkit_embed_cases root source)
  file(GLOB files CONFIGURE_DEPENDS ${root}/*/*.cases.json)
  set(entries "")
  set(count 0)
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    get_filename_component(op ${file} NAME_WE)
    opkit_is_chosen(${op} chosen)
    if(NOT chosen)
      continue()
    endif()
    math(EXPR count "${count} + 1")
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"cases(${text})cases\"},\n")
  endforeach()
  set(output ${PROJECT_BINARY_DIR}/generated/harness/builtin_cases.cpp)
  opkit_write_if_different(${output} "// Generated from ops/*/*.cases.json.
#include <array>

#include \"harness/cases/case_file.h\"

namespace opkit::harness {
namespace {
constexpr std::array<EmbeddedFile, ${count}> kFiles = {{
${entries}}};
}  // namespace

std::span<const EmbeddedFile> builtinCaseFiles() { return kFiles; }
}  // namespace opkit::harness
")
  set(${source} ${output} PARENT_SCOPE)
endfunction()
