#pragma once
// Small text helpers: joining, glob matching, edit distance for "did you mean", a stable 64-bit digest.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace planscope {

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);

// Bytes that are inserted, removed, replaced or swapped with the next one, to make one text of the other.
int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, if it is near enough to be a typing error; else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// FNV-1a, 64 bits; `seed` chains. Stable across machines: used for content digests, not for security.
std::uint64_t digest(std::string_view bytes, std::uint64_t seed = 14695981039346656037ull);
std::string hex(std::uint64_t value);  // 16 digits
std::string with_commas(std::int64_t);  // 9,900

// At most so many bytes, and "…" where something is left out; no character is cut.
std::string shortened(std::string_view text, std::size_t most);

// What comes from files, as a terminal may show it: control characters (escape codes, line breaks) are written \x1b.
std::string printable(std::string_view text);
std::string without_numbers(
    std::string_view path);  // `layers.3.mlp`, `layers[3].mlp` -> `layers.*.mlp`, `layers[*].mlp`

// Columns aligned; the first row is the head.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace planscope
