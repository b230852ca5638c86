#pragma once
// A file mapped read-only. The bytes live as long as the value; copies share the mapping. Pages are read when touched.
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

 private:
  std::shared_ptr<const void> mapping_;
  std::string_view bytes_;
};

}  // namespace planscope
