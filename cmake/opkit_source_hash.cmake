# Writes a source file that defines a hash of other files: cmake -DOUTPUT=FILE -DLIST=FILE -DHEADER=FILE
# -DNAMESPACE=opkit::vulkan -DNAME=kShaderHash -P opkit_source_hash.cmake, where LIST names the files, one per line.
file(STRINGS ${LIST} paths)
set(all "")
foreach(path ${paths})
  file(SHA256 ${path} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 hash "${all}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\nconst char* const ${NAME} = \"${hash}\";\n}\n")
