# planscope_libtorch: LibTorch as one INTERFACE target, from the torch wheel in PLANSCOPE_TORCH_DIR (scripts/setup puts
# it into the virtual environment of the build folder). Without it the target is absent and only the worker is left out.
#
#   include(LibTorch)
#   if(TARGET planscope_libtorch)
#
# find_package(Torch) is not used: it adds a run path of its own and, with a CUDA wheel, asks for a CUDA toolkit.
include_guard(GLOBAL)
if(NOT PLANSCOPE_TORCH_DIR)
  file(GLOB found LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/torch")
  list(APPEND found "")
  list(GET found 0 found)
  set(PLANSCOPE_TORCH_DIR "${found}" CACHE PATH "Folder of an installed torch package (the one that holds include/ and lib/)" FORCE)
endif()

if(NOT EXISTS "${PLANSCOPE_TORCH_DIR}/lib/libtorch_cpu.so")
  message(STATUS "LibTorch not found in '${PLANSCOPE_TORCH_DIR}': the worker is left out")
  return()
endif()
file(STRINGS "${PLANSCOPE_TORCH_DIR}/version.py" version_line REGEX "^__version__ = ")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${version_line}")
message(STATUS "LibTorch ${version} in ${PLANSCOPE_TORCH_DIR}")

find_package(Threads REQUIRED)
add_library(planscope_libtorch INTERFACE IMPORTED GLOBAL)
target_include_directories(planscope_libtorch SYSTEM INTERFACE
  "${PLANSCOPE_TORCH_DIR}/include" "${PLANSCOPE_TORCH_DIR}/include/torch/csrc/api/include")
target_compile_definitions(planscope_libtorch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_libraries(planscope_libtorch INTERFACE
  "${PLANSCOPE_TORCH_DIR}/lib/libtorch_cpu.so" "${PLANSCOPE_TORCH_DIR}/lib/libc10.so" Threads::Threads)
target_link_options(planscope_libtorch INTERFACE "-Wl,-rpath,${PLANSCOPE_TORCH_DIR}/lib")
if(EXISTS "${PLANSCOPE_TORCH_DIR}/lib/libtorch_cuda.so")
  # libtorch_cpu.so of a CUDA wheel needs libraries of other packages, which it finds itself when it is loaded.
  target_link_options(planscope_libtorch INTERFACE "-Wl,--allow-shlib-undefined")
endif()
