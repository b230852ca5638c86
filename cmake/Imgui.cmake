# planscope_imgui: the core of Dear ImGui 1.90.1, compiled from the sources in PLANSCOPE_IMGUI_DIR (scripts/setup puts
# them there). Without them there is no such target, and what draws pixels is left out.
include_guard(GLOBAL)
set(PLANSCOPE_IMGUI_DIR "${PROJECT_SOURCE_DIR}/build/imgui" CACHE PATH "Folder with the sources of Dear ImGui 1.90.1")
set(PLANSCOPE_IMGUI_VERSION 1.90.1)

if(NOT EXISTS "${PLANSCOPE_IMGUI_DIR}/imgui.cpp")
  message(STATUS "Dear ImGui not found in ${PLANSCOPE_IMGUI_DIR}: canvases and desktop are left out")
  return()
endif()
file(STRINGS "${PLANSCOPE_IMGUI_DIR}/imgui.h" version_line REGEX "^#define IMGUI_VERSION ")
if(NOT version_line MATCHES "\"${PLANSCOPE_IMGUI_VERSION}\"")
  message(FATAL_ERROR "${PLANSCOPE_IMGUI_DIR} is not Dear ImGui ${PLANSCOPE_IMGUI_VERSION}: ${version_line}")
endif()

add_library(planscope_imgui STATIC
  "${PLANSCOPE_IMGUI_DIR}/imgui.cpp" "${PLANSCOPE_IMGUI_DIR}/imgui_draw.cpp"
  "${PLANSCOPE_IMGUI_DIR}/imgui_tables.cpp" "${PLANSCOPE_IMGUI_DIR}/imgui_widgets.cpp")
target_include_directories(planscope_imgui SYSTEM PUBLIC "${PLANSCOPE_IMGUI_DIR}" "${PROJECT_SOURCE_DIR}/cmake/imgui")
target_compile_definitions(planscope_imgui PUBLIC IMGUI_USER_CONFIG="planscope_imconfig.h")
target_compile_options(planscope_imgui PRIVATE -w)
