# Tests that add operators and backends to a copy of the tree or run the commands of pages in it. ctest makes one copy
# with the objects of this build; the tests use it in turn, and it is removed at the end. Each test builds only what it
# adds. The results do not depend on optimisation, so the tests run in release builds without sanitizers.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR OPKIT_SANITIZE OR OPKIT_FUZZ)
  return()
endif()

set(scratch ${PROJECT_BINARY_DIR}/scratch/tree)
add_executable(borrow_outputs ${PROJECT_SOURCE_DIR}/cmake/borrow_outputs.cpp)
target_link_libraries(borrow_outputs PRIVATE opkit_flags)
add_test(NAME borrow_outputs COMMAND ${PROJECT_SOURCE_DIR}/cmake/borrow_outputs_test.sh $<TARGET_FILE:borrow_outputs>)
set_tests_properties(borrow_outputs PROPERTIES LABELS docs)
add_test(NAME scratch_make COMMAND ${PROJECT_SOURCE_DIR}/cmake/scratch_tree.sh make ${PROJECT_SOURCE_DIR}
                                   ${PROJECT_BINARY_DIR} ${scratch} ${OPKIT_VULKAN} ${OPKIT_WERROR})
add_test(NAME scratch_end COMMAND ${PROJECT_SOURCE_DIR}/cmake/scratch_tree.sh end ${scratch})
set_tests_properties(scratch_make PROPERTIES FIXTURES_SETUP scratch TIMEOUT 1800 PROCESSORS 2 LABELS scaffold)
set_tests_properties(scratch_end PROPERTIES FIXTURES_CLEANUP scratch LABELS scaffold)

# opkit_scratch_test(name label script arguments...)
function(opkit_scratch_test name label)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED scratch RESOURCE_LOCK scratch TIMEOUT 1800 PROCESSORS 2
                                          LABELS ${label})
endfunction()

# ./test walks through one page; the night writes operators of every kind.
opkit_scratch_test(copy_operator night-scaffold ${PROJECT_SOURCE_DIR}/ops/copy_operator_test.sh ${scratch} ${OPKIT_VULKAN})
opkit_scratch_test(further_kernel night-scaffold ${PROJECT_SOURCE_DIR}/scaffold/testing/further_kernel.sh ${scratch} ${OPKIT_VULKAN})
opkit_scratch_test(scaffold_kinds night-scaffold ${PROJECT_SOURCE_DIR}/scaffold/testing/every_kind.sh ${scratch} ${OPKIT_VULKAN})
if(OPKIT_VULKAN)
  set(page ${PROJECT_SOURCE_DIR}/docs/changing_page_test.sh ${scratch})
  opkit_scratch_test(first_operator scaffold ${page} docs/first-operator.md 20 HardShrink=hard_shrink)
  opkit_scratch_test(from_kinds night-scaffold ${page} docs/from-kinds.md 120 ScatterAt=scatter_at Enlarger=enlarger)
endif()
add_test(NAME scaffold_plugin COMMAND ${PROJECT_SOURCE_DIR}/scaffold/testing/plugin.sh ${PROJECT_BINARY_DIR}
                                      ${PROJECT_BINARY_DIR}/scratch/plugins ${OPKIT_VULKAN})
set_tests_properties(scaffold_plugin PROPERTIES TIMEOUT 600 LABELS night-scaffold)
