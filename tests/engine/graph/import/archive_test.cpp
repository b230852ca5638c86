// What import_model says about files that it does not read: whole messages.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "engine/graph/import.h"
#include "tests/engine/graph/import/zip_file.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : path(write_file("archive_" + std::to_string(getpid()) + ".pt2", bytes)) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path;
};

// Of the one diagnostic, with the file called x.pt2.
std::string message_of(const std::string& path) {
  Result<Model> model = import_model(path);
  CHECK_FALSE(model.value);
  REQUIRE(model.diagnostics.size() == 1);
  Diagnostic diagnostic = model.diagnostics.front();
  CHECK(diagnostic.file == path);
  if (path.starts_with("/")) diagnostic.file = "x.pt2";
  return to_string(diagnostic);
}

std::string message(const std::string& bytes) { return message_of(TemporaryFile(bytes).path); }

Records archive(const std::string& json) {
  return {{"m/archive_format", "pt2"},
          {"m/archive_version", "0"},
          {"m/byteorder", "little"},
          {"m/models/model.json", json}};
}

}  // namespace

TEST_CASE("Files that are no archive") {
  CHECK(message_of("no/such.pt2") == "no/such.pt2: cannot read the file; No such file or directory");
  CHECK(message_of("tests") == "tests: cannot read the file; it is a folder");
  CHECK(message("") == "x.pt2: cannot read the file; it is empty");
  CHECK(message("hello") ==
        "x.pt2: not a .pt2 file; it does not begin like a ZIP archive; export the model with torch.export and "
        "torch.export.save");
  CHECK(
      message("PK\x03\x04 and no more") ==
      "x.pt2: the archive is damaged; the directory at its end is missing: the file is cut off or no ZIP file; copy or "
      "export the file again");
}

TEST_CASE("Archives of other programs and older exporters") {
  CHECK(message(zip_bytes({{"a/data.pkl", "x"}})) ==
        "x.pt2: not a torch.export archive; it was written by torch.save or torch.jit.save; export the model with "
        "torch.export and torch.export.save");
  CHECK(message(zip_bytes({{"readme.txt", "x"}})) ==
        "x.pt2: not a torch.export archive; it has no record archive_format; export the model with torch.export and "
        "torch.export.save");
  CHECK(
      message(zip_bytes({{"m/serialized_exported_program.json", "{}"}})) ==
      "x.pt2: written by an older torch.export; the container is that of torch 2.8 or before; export again with torch "
      "2.9 or later");
  Records pickled = archive("{}");
  pickled.push_back({"m/data/weights/model.pt", "x"});
  CHECK(message(zip_bytes(pickled)) ==
        "x.pt2: written by an older torch.export; its weights are pickled (data/weights/model.pt); export again with "
        "torch 2.9 or later");
  CHECK(message(zip_bytes({{"m/archive_format", "pt3"}})) ==
        "x.pt2: archive_format is \"pt3\", expected \"pt2\"; this version of the container is not known");
}

TEST_CASE("Archives without a readable program") {
  CHECK(message(zip_bytes(archive("{}"), 8)) ==
        "x.pt2: the archive is compressed or encrypted; \"archive_format\" is not a stored ZIP entry; save it with "
        "torch.export.save, or repack it with `zip -0`");
  CHECK(message(zip_bytes({{"m/archive_format", "pt2"}})) ==
        "x.pt2: the archive has no model; no record models/*.json");
  CHECK(message(zip_bytes(archive("{}"))) == "x.pt2: not an exported program; it has no schema_version");
  CHECK(message(zip_bytes(archive(R"({"schema_version": {"major": 9}})"))) ==
        "x.pt2: schema version 9 is not known; this program reads version 8; export again with torch 2.9 or later");
  std::string flipped = zip_bytes(archive(R"({"schema_version": {"major": 8}})"));
  flipped[flipped.find("\"major\"") + 1] = 'M';
  CHECK(message(flipped) ==
        "x.pt2: the archive is damaged; the checksum of \"models/model.json\" does not hold; copy or export the file "
        "again");
}
