# One folder, one target. Headers are seen only through the targets that a folder links to: each target has an include
# root of its own that holds nothing but a link to its folder, so `#include "engine/graph/graph.h"` compiles only where
# `engine_graph` is linked. Arrows point one way: app -> viz, storage, planner -> engine (docs/design.md).

# The include root of a folder, made if it is not there.
function(planscope_include_root folder out)
  string(REPLACE "/" "_" target "${folder}")
  set(root "${PROJECT_BINARY_DIR}/include_roots/${target}")
  get_filename_component(parent "${root}/${folder}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  if(NOT EXISTS "${root}/${folder}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${root}/${folder}" SYMBOLIC)
  endif()
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

# planscope_library(engine/graph SOURCES graph.cpp … LINKS engine_base … [PRIVATE_LINKS …])
function(planscope_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  string(REPLACE "/" "_" target "${folder}")
  planscope_include_root("${folder}" root)
  list(TRANSFORM ARG_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_include_directories(${target} PUBLIC "${root}")
    target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE planscope_options ${ARG_PRIVATE_LINKS})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${root}")
    target_link_libraries(${target} INTERFACE ${ARG_LINKS})
  endif()
endfunction()

# Every program: what ./run builds, without the tests.
add_custom_target(planscope_programs)

# planscope_program(planscope FOLDER app/cli SOURCES main.cpp LINKS …)
function(planscope_program name)
  cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;LINKS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${ARG_FOLDER}/")
  planscope_include_root("${ARG_FOLDER}" root)
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${root}")
  target_link_libraries(${name} PRIVATE planscope_options ${ARG_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(NOT ARG_FOLDER MATCHES "^tests/")
    add_dependencies(planscope_programs ${name})
  endif()
endfunction()

# planscope_test(engine_graph SOURCES tests/engine/graph/a_test.cpp … LINKS engine_graph): a Catch2 program, run by ctest
# from the source folder (so that tests name files as `tests/cases/…` and `sample_models/…`).
#   SLOW   not one of those that `ctest --preset fast` runs; begun before the others
#   CASES  each test case is an entry of its own (`engine_graph: what it says`), so that they run beside each other; the slow ones
#          are those that have the tag [slow]
function(planscope_test name)
  cmake_parse_arguments(ARG "SLOW;CASES" "" "SOURCES;LINKS" ${ARGN})
  set(target "${name}_test")
  list(TRANSFORM ARG_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/")
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE planscope_options planscope_catch_main ${ARG_LINKS})
  target_compile_definitions(${target} PRIVATE PLANSCOPE_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
  # What a test itself computes is little: these halve the time that it takes to compile.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${target} PRIVATE CATCH_CONFIG_FAST_COMPILE)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(properties)
  if(CMAKE_CXX_FLAGS MATCHES "fsanitize")  # libraries of others keep what they have allocated
    list(APPEND properties ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks.txt")
  endif()
  set(slow LABELS slow COST 1000)
  if(ARG_CASES)
    catch_discover_tests(${target} TEST_SPEC "~[slow]~[.]" TEST_PREFIX "${name}: " WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      TEST_LIST ${target}_fast PROPERTIES ${properties} LABELS fast)
    catch_discover_tests(${target} TEST_SPEC "[slow]" TEST_PREFIX "${name}: " WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      TEST_LIST ${target}_slow PROPERTIES ${properties} ${slow})
    return()
  endif()
  add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  if(ARG_SLOW)
    set_tests_properties(${name} PROPERTIES ${properties} ${slow})
  else()
    set_tests_properties(${name} PROPERTIES ${properties} LABELS fast)
  endif()
endfunction()
