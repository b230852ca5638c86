// Damaged files end in a diagnostic, never in a crash or a hang; the generator's seed is fixed.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "engine/graph/canonical/canonical.h"
#include "engine/graph/functional/dead_code.h"
#include "engine/graph/functional/purify.h"
#include "engine/graph/import.h"
#include "engine/graph/print.h"
#include "engine/graph/pt2/archive.h"
#include "engine/graph/pt2/graph_reader.h"
#include "tests/engine/graph/import/zip_file.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

std::size_t below(std::mt19937& random, std::size_t limit) { return random() % limit; }

// The archive has checksums; a program that says other things than torch wrote gets past them.
void mutate(std::string& json, std::mt19937& random) {
  static const std::vector<std::string> words = {
      "-1", "0",  "1",    "7",    "9223372036854775807", "-9223372036854775808", "1e308", "null",
      "[]", "{}", "\"\"", "true", "281474976710656"};
  std::size_t at = below(random, json.size());
  auto number = json.find_first_of("0123456789", at);
  auto name = json.find("\"name\": \"", at);
  switch (random() % 5) {
    case 0:  // another number or value
      if (number == std::string::npos) return;
      json.replace(number, json.find_first_not_of("0123456789.", number) - number, words[below(random, words.size())]);
      return;
    case 1: {  // another tensor
      auto other = json.find("\"name\": \"", below(random, json.size()));
      if (name == std::string::npos || other == std::string::npos) return;
      std::string text = json.substr(other, json.find('"', other + 9) - other);
      json.replace(name, json.find('"', name + 9) - name, text);
      return;
    }
    case 2: {  // an element less
      auto begin = json.find("{\"", at), end = json.find("}, ", begin);
      if (begin != std::string::npos && end != std::string::npos && end - begin < 400)
        json.erase(begin, end + 3 - begin);
      return;
    }
    case 3: {  // another operator
      auto target = json.find("torch.ops.aten.", at), other = json.find("torch.ops.aten.", below(random, json.size()));
      if (target == std::string::npos || other == std::string::npos) return;
      std::string text = json.substr(other, json.find('"', other) - other);
      json.replace(target, json.find('"', target) - target, text);
      return;
    }
    default:
      json[at] = static_cast<char>(32 + random() % 95);
  }
}

// Everything that import_model does after the checksums.
bool survives(const std::string& json) {
  Result<RawModel> raw = read_program(json, "x");
  if (!raw.ok()) return !raw.diagnostics.empty();
  Result<Model> model = purify(std::move(*raw));
  if (!model.ok()) return !model.diagnostics.empty();
  Model done = canonicalize(remove_dead_nodes(std::move(*model)));
  check_shapes(done);
  return !print(done).empty();
}

}  // namespace

TEST_CASE("Truncated and flipped files") {
  std::mt19937 random(1);
  std::string source = read_file("sample_models/gpt2_tiny.pt2");
  REQUIRE(source.size() > 1000);
  std::string path = write_file("damaged_" + std::to_string(getpid()) + ".pt2", source);
  for (int i = 0; i < 240; ++i) {
    std::string bytes = source;
    if (i % 2)
      bytes.resize(below(random, bytes.size()));
    else
      for (int flips = i % 4 ? 1 : 30; flips-- > 0;) bytes[below(random, bytes.size())] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << bytes;
    Result<Model> model = import_model(path);
    INFO(i);
    CHECK(model.value.has_value() != model.has_errors());
  }
  std::filesystem::remove(path);
}

TEST_CASE("Damaged directories") {
  std::mt19937 random(2);
  std::string source = read_file("sample_models/gpt2_tiny.pt2");
  Result<ZipDirectory> whole = read_zip(source);
  REQUIRE(whole.ok());
  std::size_t tail = std::min<std::size_t>(source.size(), 4096);
  for (int i = 0; i < 400; ++i) {
    std::string bytes = source;
    for (int flips = 1 + i % 4; flips-- > 0;)
      bytes[bytes.size() - 1 - below(random, tail)] = static_cast<char>(i % 3 ? random() : 255);
    Result<ZipDirectory> directory = read_zip(bytes);
    INFO(i);
    CHECK(directory.value.has_value() != directory.has_errors());
    if (directory.value)
      for (const auto& [name, entry] : *directory) CHECK(entry.offset + entry.bytes <= bytes.size());
  }
}

TEST_CASE("Programs that contradict themselves") {
  std::mt19937 random(3);
  for (const char* name : {"gpt2_tiny", "llama_tiny", "t5_tiny"}) {
    Result<Archive> archive = open_archive("sample_models/" + std::string(name) + ".pt2");
    REQUIRE(archive.ok());
    std::string source(*archive->text("models/model.json"));
    for (int i = 0; i < 100; ++i) {
      std::string json = source;
      for (int changes = 1 + i % 5; changes-- > 0;) mutate(json, random);
      INFO(name << " " << i);
      CHECK(survives(json));
    }
  }
}
