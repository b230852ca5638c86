# For WebAssembly: the headers of the distribution's package alone, in a folder of their own, because the system's include folder holds
# headers that are for this machine.
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_path(NLOHMANN_JSON_DIR nlohmann/json.hpp REQUIRED NO_CMAKE_FIND_ROOT_PATH PATHS /usr/include /usr/local/include)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/headers")
  file(CREATE_LINK "${NLOHMANN_JSON_DIR}/nlohmann" "${CMAKE_BINARY_DIR}/headers/nlohmann" SYMBOLIC)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE "${CMAKE_BINARY_DIR}/headers")
endif()
set(nlohmann_json_FOUND TRUE)
