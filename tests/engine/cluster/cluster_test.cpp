#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/text.h"
#include "engine/cluster/cluster.h"

using namespace planscope;

namespace {

const char* const small_cluster = R"({
  "schema": "planscope-cluster", "version": 1, "name": "pair",
  "device": {"name": "d", "memory_bytes": 1000, "flops": {"float32": 2e9, "bfloat16": 1e10},
             "memory_bandwidth_bytes_per_s": 1e9, "launch_us": 0.5},
  "levels": [{"name": "wire", "arity": 2, "latency_us": 1, "bandwidth_bytes_per_s": 1e9}]
})";

std::string with(const std::string& from, const std::string& to) {
  std::string changed = small_cluster;
  const std::size_t at = changed.find(from);
  REQUIRE(at != std::string::npos);
  return changed.replace(at, from.size(), to);
}

std::string text(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> lines;
  for (const Diagnostic& d : diagnostics) lines.push_back(to_string(d));
  return join(lines, "\n");
}

std::string messages(const std::string& json) {
  const Result<Cluster> r = parse_cluster(json, "c.json");
  CHECK_FALSE(r.ok());
  return text(r.diagnostics);
}

}  // namespace

TEST_CASE("a cluster file is read", "[cluster]") {
  const Result<Cluster> r = parse_cluster(small_cluster, "c.json");
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
  CHECK(r->device_count() == 2);
  CHECK(r->device.memory == Bytes{1000});
  CHECK(r->flops("bfloat16") == 1e10);
  CHECK(r->flops("float16") == 2e9);  // not listed: that of float32
  CHECK(r->levels[0].sharing == 1);
  CHECK(r->host.memory == Bytes{0});
}

TEST_CASE("printing a cluster and reading it back changes nothing", "[cluster]") {
  std::vector<Cluster> clusters = {*parse_cluster(small_cluster, "c.json")};
  for (const PresetInfo& preset : cluster_presets()) clusters.push_back(*read_cluster(preset.name + "x3"));
  CHECK(clusters[0].background);
  CHECK_FALSE(read_cluster("local")->background);  // its digest is another one too
  clusters[0].device.launch = {1.0 / 3};
  clusters[0].levels[0].bandwidth = 123456789.123456789;
  for (const Cluster& c : clusters) {
    const Result<Cluster> again = parse_cluster(print_cluster(c), "printed");
    INFO(to_string(again.diagnostics));
    REQUIRE(again.ok());
    CHECK(*again == c);
    CHECK(print_cluster(*again) == print_cluster(c));
  }
}

TEST_CASE("the digest follows every figure but not the name", "[cluster]") {
  const Cluster c = *read_cluster("dgx-a100x2");
  Cluster renamed = c;
  renamed.name = "other";
  CHECK(renamed.digest() == c.digest());
  Cluster faster = c;
  faster.levels[1].bandwidth *= 2;
  CHECK(faster.digest() != c.digest());
  Cluster larger = c;
  larger.device.memory += Bytes{1};
  CHECK(larger.digest() != c.digest());
}

TEST_CASE("presets take a number of nodes or as many as are needed", "[cluster]") {
  CHECK(read_cluster("dgx-h100x8")->device_count() == 64);
  CHECK(read_cluster("dgx2-v100x2")->device_count() == 32);
  CHECK(read_cluster("dgx-a100")->device_count() == 8);
  CHECK(read_cluster("dgx-a100", {.devices = 17})->device_count() == 24);
  CHECK(read_cluster("dgx-a100x2", {.devices = 17})->device_count() == 16);
  CHECK(read_cluster("local", {.devices = 6})->device_count() == 6);
  CHECK(read_cluster("localx4", {.devices = 6})->device_count() == 4);
  CHECK(read_cluster("local", {.devices = 4, .cores = 2})->flops("float32") ==
        0.5 * read_cluster("local", {.devices = 4})->flops("float32"));
  CHECK(read_cluster("local", {.devices = 2, .cores = 8})->flops("float32") ==
        read_cluster("local", {.devices = 2})->flops("float32"));
}

TEST_CASE("a wrong cluster name says which there are", "[cluster]") {
  CHECK(text(read_cluster("dgx-a10").diagnostics) ==
        "there is no cluster named 'dgx-a10'; it is neither a file nor a preset; did you mean 'dgx-a100'?");
  CHECK(
      text(read_cluster("superpod").diagnostics) ==
      "there is no cluster named 'superpod'; it is neither a file nor a preset; presets: local, dgx1-v100, dgx2-v100, "
      "dgx-a100, dgx-h100");
  CHECK(text(read_cluster("dgx-a100x0").diagnostics) ==
        "'dgx-a100x0' asks for an impossible number of units; the number after 'x' is 1 to 1048576");
  CHECK(text(read_cluster("dgx-a100x99999999999999").diagnostics) ==
        "'dgx-a100x99999999999999' asks for an impossible number of units; the number after 'x' is 1 to 1048576");
  CHECK(text(read_cluster("no/such.json").diagnostics) ==
        "no/such.json: cannot read the cluster; there is no such file");
  CHECK(text(read_cluster("tests/engine/").diagnostics) == "tests/engine/: cannot read the cluster; it is not a file");
}

TEST_CASE("a broken cluster file is told with the place", "[cluster]") {
  CHECK(messages("{\n \"schema\": oops}") == "c.json:2: this is not JSON; a syntax error near byte 14");
  CHECK(messages("") == "c.json:1: this is not JSON; a syntax error near byte 1");
  CHECK(messages(with("\"arity\": 2", "\"arity\": 0")) == "c.json: 'levels[0].arity' is 0, outside 1 to 16777216");
  CHECK(messages(with("\"arity\": 2", "\"arity\": 2.5")) == "c.json: 'levels[0].arity' is not a whole number");
  CHECK(messages(with("\"launch_us\"", "\"launch_u\"")) ==
        "c.json: 'device' has an unknown field 'launch_u'; did you mean 'launch_us'?\n"
        "c.json: field 'device.launch_us' is missing");
  CHECK(messages(with("\"float32\": 2e9, ", "")) == "c.json: field 'device.flops.float32' is missing");
  CHECK(messages(with("2e9", "\"fast\"")) == "c.json: 'device.flops.float32' is not a number");
  CHECK(messages(with("\"version\": 1", "\"version\": 2")) ==
        "c.json: 'version' is 2; this program reads up to version 1");
  CHECK(messages(with("planscope-cluster", "plan")) ==
        "c.json: 'schema' is 'plan'; a cluster file says \"schema\": \"planscope-cluster\"");
  CHECK(messages("{}").find("field 'device' is missing") != std::string::npos);
  CHECK(messages("[1]").find("the cluster is not a JSON object") != std::string::npos);
}

TEST_CASE("the example of the documentation is a valid cluster", "[cluster]") {
  std::ifstream in("docs/cluster.md");
  std::ostringstream content;
  content << in.rdbuf();
  const std::string page = content.str();
  const std::size_t begin = page.find("```json\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  const Result<Cluster> r = parse_cluster(example, "docs/cluster.md");
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
  Cluster preset = *read_cluster("dgx-a100x2");
  CHECK(r->levels == preset.levels);
}
