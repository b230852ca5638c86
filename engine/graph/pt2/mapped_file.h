#pragma once
// A file mapped read-only. The bytes live as long as the value; copies share the mapping. Pages are read when touched.
//
// If another program cuts the file off meanwhile, the bytes that are gone read as zeros, and the file is not intact: whoever has
// read what must be right looks then.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"

namespace planscope {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);

  std::string_view bytes() const { return bytes_; }
  bool is_intact() const { return !*cut_off_; }  // so far

 private:
  std::shared_ptr<const void> mapping_;
  std::shared_ptr<std::atomic<bool>> cut_off_;
  std::string_view bytes_;
};

}  // namespace planscope
