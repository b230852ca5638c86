#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "app/workbench/workbench.h"
#include "engine/base/temporary_folder.h"

namespace planscope {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_CASE("a file is written whole, in place of what was there") {
  const TemporaryFolder folder("write");
  REQUIRE(write_file(folder / "a", "first, and longer").ok());
  REQUIRE(write_file(folder / "a", "second").ok());
  CHECK(contents(folder / "a") == "second");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("what a link points to is replaced, not the link") {
  const TemporaryFolder folder("write");
  REQUIRE(write_file(folder / "a", "first").ok());
  fs::create_symlink(folder / "a", folder / "link");
  REQUIRE(write_file(folder / "link", "second").ok());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(contents(folder / "a") == "second");
}

TEST_CASE("a pipe is written to and stays one") {
  const TemporaryFolder folder("write");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] { got = contents(pipe); });
  const bool written = write_file(pipe, "text").ok();
  reader.join();
  CHECK(written);
  CHECK(got == "text");
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a folder is not written to") {
  const TemporaryFolder folder("write");
  CHECK_FALSE(write_file(folder.path().string(), "text").ok());
  CHECK_FALSE(write_file(folder / "none/a", "text").ok());
  CHECK(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace planscope
