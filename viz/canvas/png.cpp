#include "viz/canvas/png.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace planscope::viz {
namespace {

class BitWriter {  // least significant bit first
 public:
  void bits(std::uint32_t value, int count) {
    buffer_ |= static_cast<std::uint64_t>(value) << used_;
    for (used_ += count; used_ >= 8; used_ -= 8, buffer_ >>= 8) out_.push_back(static_cast<char>(buffer_ & 0xff));
  }
  void huffman(std::uint32_t code, int count) {  // Huffman codes are sent from their most significant bit on
    std::uint32_t reversed = 0;
    for (int i = 0; i < count; ++i) reversed |= ((code >> i) & 1) << (count - 1 - i);
    bits(reversed, count);
  }
  std::string finish() {
    if (used_ > 0) bits(0, 8 - used_);
    return std::move(out_);
  }

 private:
  std::string out_;
  std::uint64_t buffer_ = 0;
  int used_ = 0;
};

void put_symbol(BitWriter& out, int symbol) {  // RFC 1951, 3.2.6
  if (symbol < 144) return out.huffman(0x30 + symbol, 8);
  if (symbol < 256) return out.huffman(0x190 + symbol - 144, 9);
  if (symbol < 280) return out.huffman(symbol - 256, 7);
  out.huffman(0xc0 + symbol - 280, 8);
}

constexpr std::array<int, 29> length_base{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<int, 29> length_extra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<int, 30> distance_base{1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<int, 30> distance_extra{0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                             6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

template <std::size_t N>
int code_of(const std::array<int, N>& bases, int value) {
  return static_cast<int>(std::upper_bound(bases.begin(), bases.end(), value) - bases.begin()) - 1;
}

void put_match(BitWriter& out, int length, int distance) {
  const int l = code_of(length_base, length);
  put_symbol(out, 257 + l);
  out.bits(length - length_base[l], length_extra[l]);
  const int d = code_of(distance_base, distance);
  out.huffman(d, 5);
  out.bits(distance - distance_base[d], distance_extra[d]);
}

constexpr int hash_bits = 15, window = 32768, longest = 258, shortest = 4;

std::string deflate(std::string_view in) {
  BitWriter out;
  out.bits(1, 1);  // the last block
  out.bits(1, 2);  // fixed Huffman code
  std::vector<std::ptrdiff_t> last(std::size_t{1} << hash_bits, -window - 1);
  const auto size = static_cast<std::ptrdiff_t>(in.size());
  for (std::ptrdiff_t i = 0; i < size;) {
    std::ptrdiff_t length = 0, from = -1;
    if (i + shortest <= size) {
      std::uint32_t four;
      std::memcpy(&four, in.data() + i, 4);
      std::ptrdiff_t& slot = last[(four * 2654435761u) >> (32 - hash_bits)];
      from = std::exchange(slot, i);
      if (i - from <= window && from >= 0) {
        const std::ptrdiff_t limit = std::min<std::ptrdiff_t>(longest, size - i);
        while (length < limit && in[from + length] == in[i + length]) ++length;
      }
    }
    if (length >= shortest) {
      put_match(out, static_cast<int>(length), static_cast<int>(i - from));
      i += length;
    } else {
      put_symbol(out, static_cast<unsigned char>(in[i++]));
    }
  }
  put_symbol(out, 256);
  return out.finish();
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[n] = c;
    }
    return t;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

std::string chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc32(body));
}

// Each row behind its filter number: 2, difference from the row above (0 for the first row).
std::string filtered(const Image& image) {
  const std::size_t stride = static_cast<std::size_t>(image.width) * 4;
  std::string out;
  out.reserve((stride + 1) * image.height);
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* row = image.rgba.data() + y * stride;
    out.push_back(y == 0 ? 0 : 2);
    for (std::size_t i = 0; i < stride; ++i)
      out.push_back(static_cast<char>(y == 0 ? row[i] : row[i] - (row - stride)[i]));
  }
  return out;
}

}  // namespace

std::string zlib_compress(std::string_view bytes) { return "\x78\x01" + deflate(bytes) + big_endian(adler32(bytes)); }

std::string encode_png(const Image& image) {
  const std::string header = big_endian(image.width) + big_endian(image.height) + std::string("\x08\x06\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", zlib_compress(filtered(image))) +
         chunk("IEND", {});
}

}  // namespace planscope::viz
