# Writes shader_hash.cpp: cmake -DOUTPUT=FILE -DLIST=FILE -P opkit_shader_hash.cmake, where LIST names the compiled
# shaders, one per line.
file(STRINGS ${LIST} paths)
set(all "")
foreach(path ${paths})
  file(SHA256 ${path} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 hash "${all}")
file(WRITE ${OUTPUT} "#include \"engine/backend/vulkan/shader_hash.h\"\n\nnamespace opkit::vulkan {\nconst char* const kShaderHash = \"${hash}\";\n}\n")
