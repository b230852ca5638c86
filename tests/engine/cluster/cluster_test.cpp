#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
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
  CHECK(r->device(0).memory == Bytes{1000});
  CHECK(r->device(0).rate("bfloat16") == 1e10);
  CHECK(r->device(0).rate("float16") == 2e9);  // not listed: that of float32
  CHECK(r->levels[0].sharing == 1);
  CHECK(r->host.memory == Bytes{0});
}

TEST_CASE("printing a cluster and reading it back changes nothing", "[cluster]") {
  std::vector<Cluster> clusters = {*parse_cluster(small_cluster, "c.json")};
  for (const PresetInfo& preset : cluster_presets()) clusters.push_back(*read_cluster(preset.name + "x3"));
  CHECK(clusters[0].background);
  CHECK_FALSE(read_cluster("local")->background);  // its digest is another one too
  clusters[0].kinds[0].type.launch = {1.0 / 3};
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
  larger.kinds[0].type.memory += Bytes{1};
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
  CHECK(read_cluster("local", {.devices = 4, .cores = 2})->device(0).rate("float32") ==
        0.5 * read_cluster("local", {.devices = 4})->device(0).rate("float32"));
  CHECK(read_cluster("local", {.devices = 2, .cores = 8})->device(0).rate("float32") ==
        read_cluster("local", {.devices = 2})->device(0).rate("float32"));
}

namespace {

// Two devices of one kind, then two of another.
std::string mixed_cluster(const std::string& devices) {
  return R"({"schema": "planscope-cluster", "version": 1, "name": "mixed", "devices": )" + devices + R"(,
  "levels": [{"name": "wire", "arity": 4, "latency_us": 1, "bandwidth_bytes_per_s": 1e9}]})";
}
std::string kind(int count, const std::string& name, int memory) {
  return R"({"count": )" + std::to_string(count) + R"(, "device": {"name": ")" + name + R"(", "memory_bytes": )" +
         std::to_string(memory) +
         R"(, "flops": {"float32": 2e9}, "memory_bandwidth_bytes_per_s": 1e9, "launch_us": 0.1}})";
}

}  // namespace

TEST_CASE("devices may be of several kinds, in runs", "[cluster]") {
  const Result<Cluster> r =
      parse_cluster(mixed_cluster("[" + kind(2, "a", 10) + "," + kind(2, "b", 7) + "]"), "c.json");
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
  CHECK(r->device_count() == 4);
  CHECK(r->device(1).name == "a");
  CHECK(r->device(2).name == "b");
  CHECK(r->kinds_in(0, 2) == std::vector<int>{0});
  CHECK(r->kinds_in(1, 3) == std::vector<int>{0, 1});
  CHECK(r->kinds_in(3, 4) == std::vector<int>{1});
  CHECK(r->least_memory({0, 1}) == Bytes{7});
  CHECK(r->least_memory({0}) == Bytes{10});
  CHECK(r->of_kind(1).device(0).name == "b");
  const Result<Cluster> again = parse_cluster(print_cluster(*r), "printed");
  REQUIRE(again.ok());
  CHECK(*again == *r);
  CHECK(print_cluster(*again) == print_cluster(*r));

  // Runs of one kind that are neighbours are one; those that are not are still one kind.
  const Cluster runs = *parse_cluster(mixed_cluster("[" + kind(1, "a", 10) + "," + kind(1, "a", 10) + "," +
                                                    kind(1, "b", 7) + "," + kind(1, "a", 10) + "]"),
                                      "c.json");
  REQUIRE(runs.kinds.size() == 3);
  CHECK(runs.kinds[1].first == 2);
  CHECK(runs.kinds_in(3, 4) == std::vector<int>{0});
  CHECK(runs.kinds_in(0, 4) == std::vector<int>{0, 1});
  CHECK(runs.kinds_of({3, 1}) == std::vector<int>{0});
  CHECK(runs.kinds_of({3, 2}) == std::vector<int>{0, 1});
  CHECK(*parse_cluster(print_cluster(runs), "printed") == runs);

  const Cluster equal = *parse_cluster(mixed_cluster("[" + kind(4, "a", 10) + "]"), "c.json");
  CHECK(print_cluster(equal).find("\"device\"") != std::string::npos);
  const Cluster swapped = *parse_cluster(mixed_cluster("[" + kind(2, "b", 7) + "," + kind(2, "a", 10) + "]"), "c.json");
  const Cluster moved = *parse_cluster(mixed_cluster("[" + kind(1, "a", 10) + "," + kind(3, "b", 7) + "]"), "c.json");
  CHECK(std::set{r->digest(), equal.digest(), swapped.digest(), moved.digest(), runs.digest()}.size() == 5);
}

TEST_CASE("wrong kinds of devices are told with the place", "[cluster]") {
  CHECK(messages(mixed_cluster("[" + kind(2, "a", 10) + "," + kind(1, "b", 7) + "]")) ==
        "c.json: 'devices' counts 3 devices, and the levels hold 4");
  CHECK(messages(mixed_cluster("[" + kind(2, "a", 10) + "," + kind(2, "a", 7) + "]")) ==
        "c.json: 'devices[1].device.name' is the name of other devices, too; devices of one name have equal figures");
  CHECK(messages(mixed_cluster("[" + kind(0, "a", 10) + "," + kind(4, "b", 7) + "]")) ==
        "c.json: 'devices[0].count' is 0, outside 1 to 16777216");
  CHECK(messages(mixed_cluster("[]")) == "c.json: 'devices' is not a list of 1 to 1024 kinds of devices");
  CHECK(messages(mixed_cluster("{}")) == "c.json: 'devices' is not a list");
  CHECK(messages(mixed_cluster(R"([{"count": 4, "devices": 1}])")) ==
        "c.json: 'devices[0]' has an unknown field 'devices'; did you mean 'device'?\n"
        "c.json: field 'devices[0].device' is missing");
  CHECK(messages(with("\"levels\"", "\"devices\": [], \"levels\""))
            .find("c.json: 'devices' stands beside 'device'; 'device' is for equal devices") != std::string::npos);
  // Cut off anywhere, or with any byte changed: a message or a cluster.
  const std::string whole = mixed_cluster("[" + kind(2, "a", 10) + "," + kind(2, "b", 7) + "]");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK_FALSE(parse_cluster(whole.substr(0, i), "c.json").ok());
    for (const char c : {'0', '"', ']', ','}) {
      std::string changed = whole;
      changed[i] = c;
      const Result<Cluster> r = parse_cluster(changed, "c.json");
      CHECK(r.value.has_value() != r.has_errors());
      if (r.value) CHECK(*parse_cluster(print_cluster(*r), "printed") == *r);
    }
  }
}

TEST_CASE("presets are joined to a cluster of several kinds of nodes", "[cluster]") {
  const Result<Cluster> c = read_cluster("dgx-a100x2+dgx1-v100x3");
  INFO(to_string(c.diagnostics));
  REQUIRE(c.ok());
  const Cluster a = *read_cluster("dgx-a100x2"), v = *read_cluster("dgx1-v100x3");
  CHECK(c->name == "dgx-a100x2+dgx1-v100x3");
  CHECK(c->device_count() == 40);
  CHECK(c->device(15) == a.device(0));
  CHECK(c->device(16) == v.device(0));
  CHECK(c->levels[1].arity == 5);
  CHECK(c->levels[0].bandwidth == v.levels[0].bandwidth);  // the slower of both
  CHECK(c->levels[1].sharing == v.levels[1].sharing);
  CHECK(c->levels[1].latency == v.levels[1].latency);
  CHECK(c->host.memory == v.host.memory);
  CHECK(*parse_cluster(print_cluster(*c), "printed") == *c);
  Cluster equal = *read_cluster("dgx-a100x1+dgx-a100x1");
  equal.name = a.name;
  CHECK(equal == a);
  CHECK(text(read_cluster("dgx-a100x2+dgx2-v100x1").diagnostics) ==
        "'dgx-a100x2+dgx2-v100x1' cannot be made of 'dgx2-v100x1'; its nodes have 16 devices, those before it 8");
  CHECK(text(read_cluster("dgx-a100x2+localx8").diagnostics) ==
        "'dgx-a100x2+localx8' cannot be made of 'localx8'; it is not made of nodes; nodes of a kind: dgx-a100x2");
  CHECK(text(read_cluster("dgx-a100x2+dgx-h100").diagnostics) ==
        "'dgx-a100x2+dgx-h100' cannot be made of 'dgx-h100'; it does not say how many nodes there are of that kind; "
        "dgx-h100x1");
  CHECK(text(read_cluster("dgx-a100x2+").diagnostics).find("there is no cluster named ''") == 0);
  CHECK(text(read_cluster("dgx-a100x1048576+dgx-h100x1").diagnostics) ==
        "'dgx-a100x1048576+dgx-h100x1' has more than 1048576 nodes");
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

TEST_CASE("the examples of the documentation are valid clusters", "[cluster]") {
  std::ifstream in("docs/cluster.md");
  std::ostringstream content;
  content << in.rdbuf();
  const std::string page = content.str();
  std::vector<Cluster> examples;
  for (std::size_t at = page.find("```json\n"); at != std::string::npos; at = page.find("```json\n", at + 1)) {
    const std::size_t begin = at + 8;
    const Result<Cluster> r = parse_cluster(page.substr(begin, page.find("```", begin) - begin), "docs/cluster.md");
    INFO(to_string(r.diagnostics));
    REQUIRE(r.ok());
    examples.push_back(*r);
  }
  REQUIRE(examples.size() == 2);
  CHECK(examples[0].levels == read_cluster("dgx-a100x2")->levels);
  CHECK(examples[1].device(31).name == read_cluster("dgx1-v100x2")->device(0).name);
}
