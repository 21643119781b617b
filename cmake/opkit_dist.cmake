# The target `dist`: one archive that runs without the tree on Debian 12 and newer, with what OpKit links beside it.
#   cmake --build build/release --target dist     writes build/release/dist/opkit-VERSION-x86_64.tar.xz
# As a script: cmake -DBUILD=DIR -DSOURCE=DIR -DVERSION=0.7.0 -DPROCESSOR=x86_64 -P cmake/opkit_dist.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_custom_target(dist
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
            -DPROCESSOR=${CMAKE_SYSTEM_PROCESSOR} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS opkit ${programs} USES_TERMINAL VERBATIM)
  return()
endif()

set(name opkit-${VERSION}-${PROCESSOR})
set(folder ${BUILD}/dist/${name})
file(REMOVE_RECURSE ${BUILD}/dist)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder} --strip OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB programs ${folder}/bin/op-*)
file(GLOB library ${folder}/lib/libopkit.so.*.*.*)
# Pages stand where they stand in the tree, so that their links hold; beside them what they send a reader to.
file(GLOB_RECURSE pages RELATIVE ${SOURCE} ${SOURCE}/docs/*.md ${SOURCE}/docs/*.png ${SOURCE}/harness/*.md ${SOURCE}/ops/*.md
     ${SOURCE}/reports/*.md)
foreach(page ${pages} README.md CHANGELOG.md SECURITY.md AGENTS.md LICENSE)
  configure_file(${SOURCE}/${page} ${folder}/${page} COPYONLY)
endforeach()
file(COPY ${SOURCE}/docs/examples DESTINATION ${folder}/docs PATTERN "*_test.sh" EXCLUDE)
file(COPY ${SOURCE}/shaders/include DESTINATION ${folder}/shaders)
file(GLOB cases ${SOURCE}/ops/*/*.cases.json)
file(COPY ${cases} DESTINATION ${folder}/share/opkit/cases)

# The archive leaves out the C and C++ libraries: a newer system has newer ones, and a plugin uses those.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} LIBRARIES ${library} RESOLVED_DEPENDENCIES_VAR resolved
     PRE_EXCLUDE_REGEXES "^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s))\\.so" POST_INCLUDE_REGEXES "^/"
     POST_EXCLUDE_REGEXES "^${folder}/")
set(packages libcli11-dev nlohmann-json3-dev libkainjow-mustache-dev libvulkan-volk-dev)  # headers, compiled in
foreach(file ${resolved})
  get_filename_component(soname ${file} NAME)
  file(REAL_PATH ${file} real)
  configure_file(${real} ${folder}/lib/opkit/${soname} COPYONLY)
  string(REGEX REPLACE "^/usr/" "/" short ${real})  # /lib and /usr/lib are one folder; dpkg may know either name
  foreach(path /usr${short} ${short})
    execute_process(COMMAND dpkg-query -S ${path} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE missing)
    if(NOT missing)
      break()
    endif()
  endforeach()
  if(missing)
    message(FATAL_ERROR "dist: no Debian package has ${real}, so its licence is unknown")
  endif()
  string(REGEX REPLACE ":.*" "" owner ${owner})
  list(APPEND packages ${owner})
endforeach()
list(REMOVE_DUPLICATES packages)
foreach(package ${packages})
  file(REAL_PATH /usr/share/doc/${package}/copyright licence)
  if(NOT EXISTS ${licence})
    message(FATAL_ERROR "dist: ${licence} is missing; install ${package} with its documents")
  endif()
  configure_file(${licence} ${folder}/share/doc/opkit/licences/${package} COPYONLY)
endforeach()
set(uplot ${SOURCE}/build/page-tools/node_modules/uplot/LICENSE)  # op-report holds it if ./setup --page brought it
if(EXISTS ${uplot})
  configure_file(${uplot} ${folder}/share/doc/opkit/licences/uplot COPYONLY)
endif()

# The five programs share most of their bytes: a dictionary larger than all of them takes the archive from 75 to 29 MB.
execute_process(
  COMMAND git -C ${SOURCE} log -1 --format=%ct OUTPUT_VARIABLE epoch OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND tar -C ${BUILD}/dist --sort=name --mtime=@${epoch} --owner=0 --group=0 --numeric-owner -c ${name}
  COMMAND xz -T1 --lzma2=preset=2,dict=192MiB
  OUTPUT_FILE ${BUILD}/dist/${name}.tar.xz COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${BUILD}/dist/${name}.tar.xz bytes)
math(EXPR mebibytes "(${bytes} + 524288) / 1048576")
list(LENGTH resolved count)
message(STATUS "${BUILD}/dist/${name}.tar.xz: ${mebibytes} MiB, ${count} libraries of Debian inside")
if(mebibytes GREATER 60)
  message(FATAL_ERROR "dist: more than 60 MiB")
endif()
