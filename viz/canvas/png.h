#pragma once
// Writes an Image as a PNG file (ISO/IEC 15948: 8-bit RGBA, not interlaced; deflate with the fixed Huffman code of
// RFC 1951 and one-probe matching, which suits drawings: about 1:100). No library is needed. Never fails.
#include <cstdint>
#include <string>
#include <string_view>

#include "viz/canvas/image.h"

namespace planscope::viz {

std::string encode_png(const Image& image);

// A zlib stream (RFC 1950) that holds `bytes`.
std::string zlib_compress(std::string_view bytes);

}  // namespace planscope::viz
