#pragma once
// How components of module paths are written: plain words as they stand, everything else, and the words that plan scripts
// need themselves, in quotes: `layers.0.'block-a'.'by'`. A module's own name holds no dot.
#include <string>
#include <string_view>

namespace planscope {

bool is_script_word(std::string_view);  // `by`, `where`, …

std::string written_component(std::string_view name);   // `mlp`, `'block-a'`, `"it's"`
std::string plain_component(std::string_view written);  // and back
std::string written_path(std::string_view path);        // of names with dots between them
std::string named_path(std::string_view written);       // and back

}  // namespace planscope
