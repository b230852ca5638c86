#!/usr/bin/env bash
# viz/ becomes WebAssembly too: its sources must compile with the distribution's clang, warnings being errors.
#   viz_with_clang.sh CLANG IMGUI_FOLDER
set -euo pipefail
shopt -s globstar nullglob
flags=(-std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I. -isystem "$2" -isystem cmake/imgui
  '-DIMGUI_USER_CONFIG="planscope_imconfig.h"')
sources=(viz/**/*.cpp)
[ ${#sources[@]} -gt 0 ] || { echo "no sources in viz/"; exit 1; }
for source in "${sources[@]}"; do "$1" "${flags[@]}" "$source"; done
echo "${#sources[@]} sources compile with $("$1" --version | head -n 1)"
