#include "engine/base/text.h"

#include <algorithm>
#include <utility>

namespace planscope {

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i) out += separator;
    out += parts[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    out.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before, last(b.size() + 1), row(b.size() + 1);  // the rows of i - 2, i - 1 and i letters of `a`
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() < 2) return {};  // one letter is one typing error from any other one
  const int limit = std::max<int>(1, static_cast<int>(word.size()) / 3);
  int best = limit + 1;
  std::string found;
  for (const std::string& c : candidates) {
    const int d = edit_distance(word, c);
    if (d < best) {
      best = d;
      found = c;
    }
  }
  return found;
}

std::string with_commas(std::int64_t value) {
  std::string out = std::to_string(value);
  for (std::size_t at = out.size(); at > (value < 0 ? 4 : 3);) out.insert(at -= 3, ",");
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "…";
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool second = i > 0 && static_cast<unsigned char>(text[i - 1]) == 0xC2 && c >= 0x80 && c < 0xA0;  // of U+0080 to U+009F
    if ((c >= 0x20 || c == '\t') && c != 0x7F && !second) {
      out += text[i];
      continue;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    if (second) out.pop_back();
    out += "\\x";
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

std::uint64_t digest(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t h = seed;
  for (const char c : bytes) {
    h ^= static_cast<unsigned char>(c);
    h *= 1099511628211ull;
  }
  return h;
}

std::string hex(std::uint64_t value) {
  static const char* digits = "0123456789abcdef";
  std::string out(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) out[static_cast<std::size_t>(i)] = digits[value & 15];
  return out;
}

std::string without_numbers(std::string_view path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool digit = path[i] >= '0' && path[i] <= '9';
    const bool begins = i == 0 || path[i - 1] == '.' || path[i - 1] == '[';
    if (!digit || !begins) {
      out += path[i];
      continue;
    }
    std::size_t end = i;
    while (end < path.size() && path[end] >= '0' && path[end] <= '9') ++end;
    const bool whole = end == path.size() || path[end] == '.' || path[end] == ']';
    out += whole ? std::string("*") : std::string(path.substr(i, end - i));
    i = end - 1;
  }
  return out;
}

namespace {

static std::size_t width(const std::string& s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (widths.size() <= k) widths.push_back(0);
      widths[k] = std::max(widths[k], width(printable(row[k])));
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string cell = printable(row[k]);
      line += cell;
      if (k + 1 < row.size()) line += std::string(widths[k] - width(cell) + 2, ' ');
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace planscope
