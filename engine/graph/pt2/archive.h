#pragma once
// A `.pt2` file: a ZIP of one root folder, as torch 2.9 and later write it. Older layouts are recognized and refused
// with what to do. Records are named without the root: `models/model.json`, `data/weights/weight_0`.
//
//   Result<Archive> a = open_archive("gpt2_tiny.pt2");
//   Result<std::string_view> json = a->text("models/model.json");
#include <optional>

#include "engine/graph/pt2/mapped_file.h"
#include "engine/graph/pt2/zip.h"

namespace planscope {

struct Archive {
  std::string path;
  MappedFile file;
  ZipDirectory records;  // names without the root folder
  std::string model;     // name of the model in it, `model`

  const ZipEntry* find(std::string_view name) const;

  // The bytes of a stored record whose checksum holds; or without a look at it, for those who ask for the damage meanwhile.
  Result<std::string_view> text(std::string_view name) const;
  Result<std::string_view> unchecked(std::string_view name) const;
  std::optional<Diagnostic> damage(std::string_view name) const;
};

Result<Archive> open_archive(const std::string& path);

}  // namespace planscope
