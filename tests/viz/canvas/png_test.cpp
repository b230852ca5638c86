#include "viz/canvas/png.h"

#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace planscope::viz;

namespace {

std::string inflated(const std::string& stream, std::size_t size) {
  std::string out(size + 1, '\0');
  uLongf length = out.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                                reinterpret_cast<const Bytef*>(stream.data()), stream.size());
  REQUIRE(status == Z_OK);
  out.resize(length);
  return out;
}

std::uint32_t big_endian(const std::string& s, std::size_t at) {
  std::uint32_t v = 0;
  for (int i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(s[at + i]);
  return v;
}

}  // namespace

TEST_CASE("compressed bytes are the bytes again after zlib's inflate") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    const std::size_t size = random() % 70000;
    const unsigned alphabet = 1 + random() % 256;  // from one long run to noise
    while (bytes.size() < size) bytes.append(1 + random() % 300, static_cast<char>(random() % alphabet));
    if (round % 3 == 0)
      std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() % alphabet); });
    REQUIRE(inflated(zlib_compress(bytes), bytes.size()) == bytes);
  }
}

TEST_CASE("a PNG holds the picture") {
  Image image{3, 2, {}};
  for (int i = 0; i < 24; ++i) image.rgba.push_back(static_cast<std::uint8_t>(i * 10));
  const std::string png = encode_png(image);
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  std::string data;
  for (std::size_t at = 8; at < png.size();) {
    const std::uint32_t length = big_endian(png, at);
    const std::string type = png.substr(at + 4, 4), body = png.substr(at + 8, length);
    const std::string covered = type + body;
    CHECK(big_endian(png, at + 8 + length) == crc32(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size()));
    if (type == "IHDR") {
      CHECK(big_endian(body, 0) == 3);
      CHECK(big_endian(body, 4) == 2);
    }
    if (type == "IDAT") data = body;
    at += 12 + length;
  }
  const std::string rows = inflated(data, 26);
  REQUIRE(rows.size() == 26);
  for (int i = 0; i < 12; ++i) {
    CHECK(static_cast<std::uint8_t>(rows[1 + i]) == image.rgba[i]);
    CHECK(static_cast<std::uint8_t>(rows[14 + i] + rows[1 + i]) == image.rgba[12 + i]);
  }
}
