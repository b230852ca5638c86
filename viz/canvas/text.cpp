#include "viz/canvas/text.h"

#include <array>

namespace planscope::viz {
namespace {

// Advances of U+0020 … U+007E in 1/2048 em, read from DejaVu Sans 2.37.
constexpr std::array<std::uint16_t, 95> regular_advance{
    651,  821,  942,  1716, 1303, 1946, 1597, 563,  799,  799,  1024, 1716, 651,  739,  651,  690,  1303, 1303, 1303,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 690,  690,  1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577, 1294,
    1178, 1587, 1540, 604,  604,  1343, 1141, 1767, 1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403,
    1251, 1403, 799,  690,  799,  1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260, 721,  1300, 1298, 569,  569,  1186,
    569,  1995, 1298, 1253, 1300, 1300, 842,  1067, 803,  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690,  1303, 1716};
constexpr std::array<std::uint16_t, 95> bold_advance{
    713,  934,  1067, 1716, 1425, 2052, 1786, 627,  936,  936,  1071, 1716, 778,  850,  778,  748,  1425, 1425, 1425,
    1425, 1425, 1425, 1425, 1425, 1425, 1425, 819,  819,  1716, 1716, 1716, 1188, 2048, 1585, 1561, 1503, 1700, 1399,
    1399, 1681, 1714, 762,  762,  1587, 1305, 2038, 1714, 1741, 1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579,
    1483, 1485, 936,  748,  936,  1716, 1024, 1024, 1382, 1466, 1214, 1466, 1389, 891,  1466, 1458, 702,  702,  1362,
    702,  2134, 1458, 1407, 1466, 1466, 1010, 1219, 979,  1458, 1335, 1892, 1321, 1335, 1192, 1458, 748,  1458, 1716};

double advance_in_em(char32_t c, bool bold) {
  if (c >= 0x20 && c <= 0x7e) return (bold ? bold_advance : regular_advance)[c - 0x20] / 2048.0;
  switch (c) {
    case U'·':
      return (bold ? 778 : 651) / 2048.0;
    case U'–':
      return 0.5;
    case U'…':
    case U'—':
      return 1;
    case U'±':
    case U'×':
    case U'−':
    case U'→':
    case U'←':
    case U'≈':
    case U'✓':
      return 1716 / 2048.0;
    default:
      return 0.6;
  }
}

}  // namespace

TextMetrics metrics(TextStyle style) {
  const double em = style == TextStyle::small ? 10 : 11;
  return {{em}, {em * 1901 / 2048}, {em * 483 / 2048}, style == TextStyle::strong};
}

char32_t next_character(std::string_view s, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(position++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xc2 ? 1 : 0;
  if (more == 0 || first >= 0xf8 || position + more > s.size()) return 0xfffd;
  char32_t c = first & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if ((byte(position + i) & 0xc0) != 0x80) return 0xfffd;
    c = (c << 6) | (byte(position + i) & 0x3f);
  }
  position += more;
  return c;
}

Pixels text_width(std::string_view utf8, TextStyle style) {
  const TextMetrics m = metrics(style);
  double em = 0;
  for (std::size_t i = 0; i < utf8.size();) em += advance_in_em(next_character(utf8, i), m.bold);
  return m.em * em;
}

std::string elided(std::string_view utf8, TextStyle style, Pixels limit) {
  if (text_width(utf8, style) <= limit) return std::string(utf8);
  const std::string dots = "…";
  const TextMetrics m = metrics(style);
  Pixels width = text_width(dots, style);
  std::size_t end = 0;
  for (std::size_t i = 0; i < utf8.size(); end = i) {
    width += m.em * advance_in_em(next_character(utf8, i), m.bold);
    if (width > limit) break;
  }
  return end == 0 ? std::string() : std::string(utf8.substr(0, end)) + dots;
}

}  // namespace planscope::viz
