# OPKIT_SIMD: the instruction sets that Highway's kernels are compiled for. `all` is for programs that others run; `native`
# compiles for the best one of this machine alone, in a third of the time, for those who build often.
set(OPKIT_SIMD all CACHE STRING "Instruction sets of the CPU kernels: all, or native, the best one of this machine alone")
set_property(CACHE OPKIT_SIMD PROPERTY STRINGS all native)
if(NOT OPKIT_SIMD MATCHES "^(all|native)$")
  message(FATAL_ERROR "OPKIT_SIMD: expected all or native, got '${OPKIT_SIMD}'")
endif()

# opkit_write_simd(folder define): the header that foreach_target.h includes. A change compiles the kernels and nothing else.
function(opkit_write_simd folder define)
  file(CONFIGURE OUTPUT ${folder}/engine/backend/cpu/simd_build.h
       CONTENT "// By cmake/opkit_simd.cmake, from OPKIT_SIMD=${OPKIT_SIMD}.\n${define}\n" @ONLY)
endfunction()

set(OPKIT_SIMD_ALONE "")
if(OPKIT_SIMD STREQUAL native)
  if(NOT OPKIT_SIMD_BEST)
    set(scratch ${PROJECT_BINARY_DIR}/simd)
    opkit_write_simd(${scratch} "")
    try_run(ran compiled ${scratch} ${CMAKE_CURRENT_LIST_DIR}/best_simd.cpp
            CMAKE_FLAGS -DCMAKE_CXX_STANDARD=20 "-DINCLUDE_DIRECTORIES=${scratch};${PROJECT_SOURCE_DIR}"
            COMPILE_DEFINITIONS ${HWY_CFLAGS_OTHER} LINK_LIBRARIES ${HWY_LINK_LIBRARIES} RUN_OUTPUT_VARIABLE best)
    if(NOT compiled OR NOT ran EQUAL 0)
      message(FATAL_ERROR "OPKIT_SIMD=native: cannot find out what this machine has; use OPKIT_SIMD=all")
    endif()
    set(OPKIT_SIMD_BEST ${best} CACHE INTERNAL "The best instruction set of this machine")
  endif()
  set(OPKIT_SIMD_ALONE ${OPKIT_SIMD_BEST})
  opkit_write_simd(${PROJECT_BINARY_DIR}/generated "#define OPKIT_SIMD_ALONE HWY_${OPKIT_SIMD_BEST}")
else()
  unset(OPKIT_SIMD_BEST CACHE)
  opkit_write_simd(${PROJECT_BINARY_DIR}/generated "")
endif()
