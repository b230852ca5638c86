#pragma once
// JSON files of users, read field by field with the place of whatever is wrong: `'blocks[3].time' is -1, outside 0 to 99`.
// All errors are collected (the first 20); reading goes on with the least value, an empty text or nothing, so that callers
// check once, at the end. What is not there reads likewise, without another error.
//
// Not for writing JSON, and not for files of our own making that are read as fast as they come.
//
//   JsonReader reader("the case", "case.json");
//   const JsonValue json = reader.parse(text);                      // an error, and nothing, if it is not JSON
//   json.only({"devices", "blocks"}, Severity::warning);            // "the case has the field 'bloks', …"
//   const std::int64_t devices = json.field("devices").whole(1, 64);  // "field 'devices' is missing"
//   for (const JsonValue block : json.list("blocks")) …
//   if (reader.failed()) return reader.diagnostics();
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope {

class JsonReader;

// A value in a reader's text, as long as the reader lives; or nothing.
class JsonValue {
 public:
  JsonValue() = default;

  explicit operator bool() const { return value_ != nullptr; }
  bool is_null() const;
  bool is_list() const;
  bool is_object() const;

  JsonValue find(const std::string& key) const;   // of an object; nothing where it is not
  JsonValue field(const std::string& key) const;  // it has to be there
  JsonValue list(const std::string& key) const;   // … and to be a list
  JsonValue as_list() const;                      // this, if it is a list; else an error
  std::vector<std::string> keys() const;          // of an object, in the order of the text

  std::size_t size() const;  // of a list
  JsonValue operator[](std::size_t) const;

  std::string text() const;
  bool flag() const;
  double number(double least, double most) const;
  std::int64_t whole(std::int64_t least, std::int64_t most) const;  // 3.0 is one

  // Fields beyond these are told: errors, or warnings that they are not read.
  void only(const std::vector<std::string>& known, Severity) const;
  void fail(const std::string& what, const std::string& hint = {}) const;  // "'place' " and what

  class Iterator;
  Iterator begin() const;
  Iterator end() const;

 private:
  friend class JsonReader;
  JsonValue(const void* value, JsonReader* reader) : value_(value), reader_(reader) {}
  const void* value_ = nullptr;
  JsonReader* reader_ = nullptr;
};

class JsonValue::Iterator {
 public:
  Iterator(const JsonValue& list, std::size_t i) : list_(list), i_(i) {}
  JsonValue operator*() const { return list_[i_]; }
  Iterator& operator++() {
    ++i_;
    return *this;
  }
  bool operator!=(const Iterator& o) const { return i_ != o.i_; }

 private:
  JsonValue list_;
  std::size_t i_;
};
inline JsonValue::Iterator JsonValue::begin() const { return {*this, 0}; }
inline JsonValue::Iterator JsonValue::end() const { return {*this, size()}; }

class JsonReader {
 public:
  // `whole`: what the text is, in messages; `hint` goes with a text that is not JSON.
  JsonReader(std::string whole, std::string file, std::string hint = {});
  ~JsonReader();
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  JsonValue parse(std::string_view text);  // an object; once

  bool failed() const { return has_errors(diagnostics_); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  friend class JsonValue;
  struct Document;
  bool full(Severity) const;
  void add(Diagnostic);
  std::string path(const void* value) const;  // `blocks[3].time`; empty: the whole text
  std::string name(const void* value) const;  // in quotes; or what the whole is

  std::string whole_, file_, hint_;
  std::unique_ptr<Document> document_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace planscope
