#pragma once
// The binary form of canvas models, written and read by one function for each type, so that both sides agree: little-endian, numbers as
// they are, texts and vectors with their length before them. Each model begins with four letters and a version.
//
//   template <class Archive> void fields(Archive& a, Lane& l) { a(l.name, l.devices, l.blocks); }
//   std::string bytes = encode("TIML", 1, model);
//   std::optional<TimelineModel> m = decode<TimelineModel>("TIML", 1, bytes);   // nothing: damaged, or of something else
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "viz/canvas/units.h"

namespace planscope::viz {

static_assert(std::endian::native == std::endian::little);

template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  static constexpr bool reading = false;
  template <class... T>
  void operator()(T&... all) {
    (write(all), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }
  void size(std::size_t n) {
    const auto v = static_cast<std::uint32_t>(n);
    raw(&v, sizeof v);
  }
  template <PlainNumber T>
  void write(T& v) {
    raw(&v, sizeof v);
  }
  void write(std::string& v) {
    size(v.size());
    raw(v.data(), v.size());
  }
  template <class Tag>
  void write(Quantity<Tag>& v) {
    write(v.value);
  }
  template <class T>
  void write(std::vector<T>& v) {
    size(v.size());
    if constexpr (PlainNumber<T> && !std::same_as<T, bool>)
      raw(v.data(), v.size() * sizeof(T));
    else
      for (T& x : v) write(x);
  }
  template <class A, class B>
  void write(std::pair<A, B>& v) {
    write(v.first), write(v.second);
  }
  template <class T, std::size_t N>
  void write(std::array<T, N>& v) {
    for (T& x : v) write(x);
  }
  template <class T>
  void write(std::optional<T>& v) {
    bool there = v.has_value();
    write(there);
    if (there) write(*v);
  }
  template <class T>
  void write(T& v) {
    fields(*this, v);
  }

  std::string bytes_;
};

// What is read is checked against what there is: damaged bytes end the reading, they never ask for memory that they do not fill.
class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class... T>
  void operator()(T&... all) {
    (read(all), ...);
  }
  bool ended_well() const { return good_ && at_ == bytes_.size(); }

 private:
  bool raw(void* to, std::size_t size) {
    if (!good_ || bytes_.size() - at_ < size) return good_ = false;
    if (size > 0) std::memcpy(to, bytes_.data() + at_, size);  // of nothing, neither may be null
    at_ += size;
    return true;
  }
  std::size_t size(std::size_t each) {
    std::uint32_t n = 0;
    if (!raw(&n, sizeof n)) return 0;
    if ((bytes_.size() - at_) / each < n) return good_ = false, 0;
    return n;
  }
  template <PlainNumber T>
  void read(T& v) {
    raw(&v, sizeof v);
  }
  void read(bool& v) {
    std::uint8_t b = 0;
    raw(&b, 1);
    v = b != 0;
  }
  void read(std::string& v) {
    const std::size_t n = size(1);
    v.assign(bytes_.data() + at_, n);
    at_ += n;
  }
  template <class Tag>
  void read(Quantity<Tag>& v) {
    read(v.value);
  }
  template <class T>
  void read(std::vector<T>& v) {
    if constexpr (PlainNumber<T> && !std::same_as<T, bool>) {
      v.resize(size(sizeof(T)));
      raw(v.data(), v.size() * sizeof(T));
    } else {
      const std::size_t n = size(1);
      v.clear();
      for (std::size_t i = 0; i < n && good_; ++i) read(v.emplace_back());
    }
  }
  template <class A, class B>
  void read(std::pair<A, B>& v) {
    read(v.first), read(v.second);
  }
  template <class T, std::size_t N>
  void read(std::array<T, N>& v) {
    for (T& x : v) read(x);
  }
  template <class T>
  void read(std::optional<T>& v) {
    bool there = false;
    read(there);
    v.reset();
    if (there && good_) read(v.emplace());
  }
  template <class T>
  void read(T& v) {
    fields(*this, v);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

template <class T>
std::string encode(std::string_view letters, std::uint32_t version, const T& model) {
  Writer w;
  std::array<char, 4> name{letters[0], letters[1], letters[2], letters[3]};
  w(name, version, const_cast<T&>(model));  // a Writer changes nothing
  return w.take();
}

template <class T>
std::optional<T> decode(std::string_view letters, std::uint32_t version, std::string_view bytes) {
  Reader r(bytes);
  std::array<char, 4> name{};
  std::uint32_t found = 0;
  r(name, found);
  if (std::string_view(name.data(), 4) != letters || found != version) return std::nullopt;
  std::optional<T> out(std::in_place);
  r(*out);
  if (!r.ended_well()) return std::nullopt;
  return out;
}

}  // namespace planscope::viz
