# Targets that the whole tree shares, and the two functions that make libraries and tests.

add_library(opkit_flags INTERFACE)
# -fPIC by hand: CMake would give programs -fPIE, which cannot share the precompiled header.
target_compile_options(opkit_flags INTERFACE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> -Wall -Wextra -Wshadow
                       -Wno-missing-field-initializers
                       # Fewer collections of garbage: a tenth of the compiler's time, for up to half a GiB a process.
                       $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=100;--param=ggc-min-heapsize=500000>
                       # GCC 12 reports these inside std::string itself (GCC bug 105651).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>)
if(OPKIT_WERROR)
  target_compile_options(opkit_flags INTERFACE -Werror)
endif()
target_include_directories(opkit_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)

# The heavy headers that nearly every source includes, compiled once. (-fpch-preprocess lets ccache see through it.)
set(OPKIT_PCH <fmt/format.h> <flatbuffers/flatbuffers.h> <algorithm> <functional> <map> <memory> <optional>
              <span> <string> <string_view> <utility> <variant> <vector>)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp CONTENT "// The precompiled header's owner.\n")  # written once
add_library(opkit_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
target_link_libraries(opkit_pch PRIVATE opkit_flags fmt::fmt)
target_precompile_headers(opkit_pch PRIVATE ${OPKIT_PCH})

# opkit_library(name sources...): a static library alias opkit::name with the tree's flags.
#   opkit_library(opkit_engine base/status.cpp)
function(opkit_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC opkit_flags)
  target_precompile_headers(${name} REUSE_FROM opkit_pch)
endfunction()

# opkit_kernel_sources(target files...): sources of `target` whose loops run over elements. At -O2 GCC 12 makes vectors of no
# loop whose count it does not know.
function(opkit_kernel_sources target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "-fvect-cost-model=dynamic")
  endif()
endfunction()

# opkit_wide_sources(target files...): kernel sources with foreach_target.h whose plain loops the compiler turns into
# vectors of each instruction set. With a precompiled header GCC 12 makes none after "#pragma GCC target".
function(opkit_wide_sources target)
  opkit_kernel_sources(${target} ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# opkit_program(name sources...): an executable in the build's bin/ folder.
function(opkit_program name)
  add_executable(${name} ${ARGN})
  target_precompile_headers(${name} REUSE_FROM opkit_pch)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# opkit_compile_lightly(target batch): for programs, their libraries and tests, whose own speed does not matter. Compiles
# `batch` sources as one, which parses CLI11, JSON and GoogleTest once, with little optimisation. Not for operators and
# kernels: they must be fast. -DOPKIT_JOINED=OFF compiles every source alone.
option(OPKIT_JOINED "Compile several sources of a program, its library or a test as one" ON)
function(opkit_compile_lightly target batch)
  # With little optimisation GCC 12 reports these inside std::string and std::variant.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread;-Wno-free-nonheap-object>)
  if(OPKIT_JOINED)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # Generated sources change with every operator. Each is compiled alone, so that no other source is compiled again.
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
    if(sources)
      set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# opkit_join(target group files...): compiles the files as one source. Headers and templates take most of the time of a small
# source. A source in two groups stays in the last.
function(opkit_join target group)
  if(NOT OPKIT_JOINED OR NOT ARGN)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
endfunction()

# opkit_bucket(text count out-var): a number below count that follows from the text alone, so that a new file moves no other.
function(opkit_bucket text count number)
  string(MD5 hash ${text})
  string(SUBSTRING ${hash} 0 4 digits)
  math(EXPR bucket "0x${digits} % ${count}")
  set(${number} ${bucket} PARENT_SCOPE)
endfunction()

# opkit_source_hash(output header namespace constant files...): the rule for a source that defines a hash of the files;
# caches on disk use it to distinguish builds.
#   opkit_source_hash(${hash} engine/backend/cpu/kernel_hash.h opkit::cpu kKernelHash ${kernels})
function(opkit_source_hash output header namespace constant)
  list(JOIN ARGN "\n" lines)
  file(CONFIGURE OUTPUT ${output}.list CONTENT "${lines}\n" @ONLY)
  set(script ${PROJECT_SOURCE_DIR}/cmake/opkit_source_hash.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DLIST=${output}.list -DHEADER=${header} -DNAMESPACE=${namespace}
            -DNAME=${constant} -P ${script}
    DEPENDS ${ARGN} ${output}.list ${script}
    VERBATIM COMMENT "hash ${constant}")
endfunction()

# opkit_test(name LIBRARIES libs... SOURCES sources... [SHARDS n] [NIGHT patterns...]): a GoogleTest program. By day ctest runs
# it as one test, or as n shards: a process per test would take twice the time. Each of its tests is listed too, with the
# label `each`, for `./test -R NAME`. Tests that match a pattern of NIGHT have the label `night-units` and run in a part of the
# night (reports/night/table.sh).
#   opkit_test(engine_test LIBRARIES opkit_engine SOURCES base/status_test.cpp)
function(opkit_test name)
  if(NOT OPKIT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SHARDS" "LIBRARIES;SOURCES;NIGHT" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/engine/testing/test_process.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM opkit_pch)
  opkit_compile_lightly(${name} 12)
  list(JOIN ARG_NIGHT ":" night)
  if(night)
    gtest_discover_tests(${name} TEST_FILTER "${night}" DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900 LABELS night-units)
    if(night STREQUAL "*")
      return()
    endif()
  endif()
  gtest_discover_tests(${name} TEST_FILTER "-${night}" DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 LABELS each)
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(test ${name})
    if(ARG_SHARDS GREATER 1)
      set(test ${name}_${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 "--gtest_filter=-${night}")
    set_tests_properties(${test} PROPERTIES TIMEOUT 900 LABELS unit
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
