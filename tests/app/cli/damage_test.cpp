// Damaged files never crash planscope and never hang it: it ends with a documented exit status.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "engine/graph/pt2/zip.h"
#include "tests/app/cli/program.h"

namespace planscope {
namespace {

void require_documented(const Ended& e, const std::string& what) {
  INFO(what << "\n" << e.err);
  REQUIRE(e.status >= 0);
  REQUIRE(e.status <= 3);
  REQUIRE_THAT(e.err, !Catch::Contains("internal error"));
}

TEST_CASE("damaged models") {
  const ScratchFolder scratch;
  const std::string whole = read_text("sample_models/gpt2_tiny.pt2");
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 24; ++i) {
    std::string bytes = whole;
    if (i % 2) {
      bytes.resize(random() % bytes.size());
    } else {
      for (int k = 0; k < (i % 4 ? 30 : 1); ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const Ended e = planscope_program({"info", scratch.write("damaged.pt2", bytes), "--json"}, scratch);
    require_documented(e, "model " + std::to_string(i));
    refused += e.status == 2;
    if (e.status == 2) REQUIRE(!e.err.empty());
  }
  REQUIRE(refused >= 12);  // every truncated one
}

TEST_CASE("damaged weights are told where they are read, with their member") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  std::string bytes = read_text("sample_models/gpt2_tiny.pt2");
  const Result<ZipDirectory> directory = read_zip(bytes);
  REQUIRE(directory.ok());
  const auto largest = std::max_element(directory->begin(), directory->end(), [](const auto& a, const auto& b) {
    return (a.first.find("/weights/") != std::string::npos ? a.second.bytes : 0) <
           (b.first.find("/weights/") != std::string::npos ? b.second.bytes : 0);
  });
  bytes[largest->second.offset + 5] ^= 1;
  const std::string model = scratch.write("damaged.pt2", bytes), plan = scratch.write("p.plan", "devices 1\n");
  CHECK(planscope_program({"info", model}, scratch).status == 0);  // reads no weights
  const Ended e = planscope_program({"run", model, plan, "--procs", "1"}, scratch);
  CHECK(e.status == 2);
  INFO(e.err);
  CHECK(e.err.find("the archive is damaged; the bytes of its member \"" + largest->first +
                   "\" have another checksum") != std::string::npos);
}

TEST_CASE("damaged plans") {
  const ScratchFolder scratch;
  std::mt19937 random(11);
  std::vector<std::string> plans;
  for (const auto& entry : std::filesystem::directory_iterator("sample_models/plans"))
    plans.push_back(read_text(entry.path().string()));
  REQUIRE(!plans.empty());
  const std::vector<std::string> scraps = {"", "[", "?", "99999999999999999999", "\n", "*", "@", "\xff", "|"};
  for (int i = 0; i < 24; ++i) {
    std::string text = plans[random() % plans.size()];
    for (int k = 0; k < (i % 2 ? 1 : 5); ++k) text.replace(random() % text.size(), 1, scraps[random() % scraps.size()]);
    const Ended e = planscope_program(
        {"verify", "sample_models/gpt2_tiny.pt2", scratch.write("damaged.plan", text), "--json"}, scratch);
    require_documented(e, text);
  }
}

TEST_CASE("a damaged workspace is refused and kept") {
  const ScratchFolder scratch;
  scratch.write("work.planscope", "this is no database, it is a letter to a friend");
  REQUIRE(planscope_program({"list"}, scratch).status == 2);
  REQUIRE(read_text(scratch.path("work.planscope")) == "this is no database, it is a letter to a friend");
}

}  // namespace
}  // namespace planscope
