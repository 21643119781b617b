# The target `deb`: Debian packages of this build, by cpack, in build/.../deb. Needs dpkg-dev.
#   cmake --build build/release --target deb      writes opkit-tools (programs) and opkit-dev (library, headers, CMake files)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME opkit)
set(CPACK_PACKAGE_VENDOR OpKit)
set(CPACK_PACKAGE_CONTACT "OpKit maintainers <maintainers@opkit.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/deb)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tools dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME opkit-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "opkit-dev, libvulkan1, glslc, g++")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "check and time operators on the CPU and Vulkan
Programs of OpKit: op-harness compares every kernel with its oracle and times
it, op-scaffold writes new operators, op-run and op-convert take ONNX models,
op-report makes pages of results.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME opkit-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEV_DESCRIPTION "inference engine and plugin interface of OpKit
libopkit with its header, the header of plugins (operators, kernels, passes
and backends as shared libraries), and their CMake package.")
set(CPACK_DEBIAN_DEV_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/generated/deb/triggers)

# Policy: each package has its licence, the changes of the program and those of the package.
set(folder ${PROJECT_BINARY_DIR}/generated/deb)
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%cD OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
string(TIMESTAMP year "%Y" UTC)
file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
file(WRITE ${folder}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: OpKit

Files: *
Copyright: ${year} the OpKit authors
License: Apache-2.0
 On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.
")
# op-report holds uPlot if ./setup --page brought it.
set(uplot ${PROJECT_SOURCE_DIR}/build/page-tools/node_modules/uplot/LICENSE)
if(EXISTS ${uplot})
  file(READ ${uplot} licence)
  string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
  string(REGEX REPLACE "\n(.)" "\n \\1" licence "${licence}")
  file(APPEND ${folder}/copyright "\nFiles: reports/page/uPlot\nCopyright: 2022 Leon Sorokin\nLicense: Expat\n ${licence}")
endif()
file(WRITE ${folder}/changelog.Debian "opkit (${PROJECT_VERSION}-1) unstable; urgency=medium

  * OpKit ${PROJECT_VERSION}: the changes are in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${folder}/changelog COPYONLY)
execute_process(COMMAND gzip -9nf ${folder}/changelog ${folder}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
foreach(component tools dev)
  install(FILES ${folder}/copyright ${folder}/changelog.gz ${folder}/changelog.Debian.gz
          DESTINATION share/doc/opkit-${component} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
add_custom_target(deb COMMAND ${CMAKE_COMMAND} -E rm -rf ${CPACK_PACKAGE_DIRECTORY}
                  COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake DEPENDS opkit ${programs}
                  USES_TERMINAL VERBATIM)
