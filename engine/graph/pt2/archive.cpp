#include "engine/graph/pt2/archive.h"

#include "engine/base/text.h"

namespace planscope {
namespace {

constexpr std::string_view marker = "/archive_format";

Diagnostic at(const std::string& path, Diagnostic diagnostic) {
  diagnostic.file = path;
  return diagnostic;
}

Diagnostic older(const std::string& path, std::string why) {
  return at(path, error("written by an older torch.export", std::move(why), "export again with torch 2.9 or later"));
}

// The file is a ZIP, but not the archive that we read: say which one it is.
Diagnostic not_an_archive(const std::string& path, const ZipDirectory& records) {
  for (const auto& [name, entry] : records) {
    if (name.ends_with("serialized_exported_program.json"))
      return older(path, "the container is that of torch 2.8 or before");
    if (name.ends_with("data.pkl"))
      return at(path, error("not a torch.export archive", "it was written by torch.save or torch.jit.save",
                            "export the model with torch.export and torch.export.save"));
  }
  return at(path, error("not a torch.export archive", "it has no record archive_format",
                        "export the model with torch.export and torch.export.save"));
}

// `gpt2/archive_format` -> `gpt2/`
Result<std::string> root_folder(const std::string& path, const ZipDirectory& records) {
  std::string root;
  for (const auto& [name, entry] : records) {
    if (!name.ends_with(marker) || name.find('/') != name.size() - marker.size()) continue;
    if (!root.empty()) return at(path, error("the archive is damaged", "it has more than one root folder"));
    root = name.substr(0, name.size() - marker.size() + 1);
  }
  if (root.empty()) return not_an_archive(path, records);
  return root;
}

Result<std::string> find_model(const Archive& archive) {
  std::vector<std::string> names;
  constexpr std::string_view folder = "models/", ending = ".json";
  for (const auto& [name, entry] : archive.records)
    if (name.starts_with(folder) && name.ends_with(ending) && name.size() > folder.size() + ending.size())
      names.push_back(name.substr(folder.size(), name.size() - folder.size() - ending.size()));
  if (names.size() == 1) return names.front();
  for (const std::string& name : names)
    if (name == "model") return name;
  if (names.empty()) return at(archive.path, error("the archive has no model", "no record models/*.json"));
  return at(archive.path, error("the archive has several models", join(names, ", "), "save one model a file"));
}

// `archive_format`, `archive_version` and `byteorder` are what we read; nothing if all is well.
std::optional<Diagnostic> check_header(const Archive& archive) {
  struct Expected {
    const char *record, *text;
    bool required;
  };
  for (const Expected& expected : {Expected{"archive_format", "pt2", true}, Expected{"archive_version", "0", false},
                                   Expected{"byteorder", "little", false}}) {
    if (!expected.required && !archive.find(expected.record)) continue;
    Result<std::string_view> found = archive.text(expected.record);
    if (!found.ok()) return found.diagnostics.front();
    if (*found != expected.text)
      return at(archive.path, error(std::string(expected.record) + " is \"" + std::string(found->substr(0, 20)) +
                                        "\", expected \"" + expected.text + "\"",
                                    "this version of the container is not known"));
  }
  for (const auto& [name, entry] : archive.records)
    if (name.starts_with("data/weights/") && name.ends_with(".pt"))
      return older(archive.path, "its weights are pickled (" + name + ")");
  return std::nullopt;
}

}  // namespace

const ZipEntry* Archive::find(std::string_view name) const {
  auto entry = records.find(name);
  return entry == records.end() ? nullptr : &entry->second;
}

Result<std::string_view> Archive::text(std::string_view name) const {
  Result<std::string_view> bytes = unchecked(name);
  if (!bytes.ok()) return bytes;
  if (std::optional<Diagnostic> d = damage(name)) return *d;
  return bytes;
}

Result<std::string_view> Archive::unchecked(std::string_view name) const {
  const ZipEntry* entry = find(name);
  std::string quoted = "\"" + std::string(name) + "\"";
  if (!entry) return at(path, error("the archive is incomplete", "it has no record " + quoted));
  if (!entry->stored)
    return at(path, error("the archive is compressed or encrypted", quoted + " is not a stored ZIP entry",
                          "save it with torch.export.save, or repack it with `zip -0`"));
  return file.bytes().substr(entry->offset, entry->bytes);
}

std::optional<Diagnostic> Archive::damage(std::string_view name) const {
  const ZipEntry* entry = find(name);
  if (!entry || entry->crc == 0) return std::nullopt;  // torch can be told to write no checksums
  if (entry->crc == crc32(file.bytes().substr(entry->offset, entry->bytes))) return std::nullopt;
  return at(path, error("the archive is damaged", "the checksum of \"" + std::string(name) + "\" does not hold",
                        "copy or export the file again"));
}

Result<Archive> open_archive(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) return file.diagnostics;
  if (!file->bytes().starts_with("PK"))
    return at(path, error("not a .pt2 file", "it does not begin like a ZIP archive",
                          "export the model with torch.export and torch.export.save"));
  Result<ZipDirectory> directory = read_zip(file->bytes());
  if (!directory.ok()) return at(path, directory.diagnostics.front());
  Result<std::string> root = root_folder(path, *directory);
  if (!root.ok()) return root.diagnostics;
  Archive archive{path, *file, {}, {}};
  for (const auto& [name, entry] : *directory)
    if (name.starts_with(*root)) archive.records.emplace(name.substr(root->size()), entry);
  if (auto problem = check_header(archive)) return *problem;
  Result<std::string> model = find_model(archive);
  if (!model.ok()) return model.diagnostics;
  archive.model = *model;
  return archive;
}

}  // namespace planscope
