// Figures of a cluster by name: read, written, refused.
#include "engine/cluster/fields.h"

#include <catch2/catch.hpp>

using namespace planscope;

namespace {

const ClusterField& field(const std::vector<ClusterField>& all, const std::string& id) {
  for (const ClusterField& f : all)
    if (f.id == id) return f;
  FAIL("no field " << id);
  return all.front();
}

Cluster preset(const std::string& name) { return *read_cluster(name); }

std::string refusal(const Cluster& c, const std::string& id, const std::string& value) {
  const Result<Cluster> r = with_field(c, id, value);
  CHECK_FALSE(r.ok());
  return r.diagnostics.empty() ? "" : to_string(r.diagnostics.front());
}

}  // namespace

TEST_CASE("every field is read back from its own text and value, and changes nothing") {
  for (const char* name : {"dgx-h100x2", "local", "dgx1-v100x4", "dgx-a100x2+dgx1-v100x2"}) {
    const Cluster c = preset(name);
    for (const ClusterField& f : cluster_fields(c)) {
      if (f.value.empty()) continue;
      if (f.id.starts_with("host.") && c.host.memory.count == 0) continue;  // there is none
      INFO(name << " " << f.id << " " << f.text << " " << f.value);
      const Result<Cluster> same = with_field(c, f.id, f.value);
      REQUIRE(same.ok());
      CHECK(*same.value == c);
      const Result<Cluster> by_text = with_field(c, f.id, f.text);
      REQUIRE(by_text.ok());
      CHECK(field(cluster_fields(*by_text.value), f.id).text == f.text);
    }
  }
}

TEST_CASE("values may have a unit") {
  const Cluster c = preset("dgx-h100x2");
  CHECK(with_field(c, "device.memory_bytes", "40 GiB")->device(0).memory.count == std::int64_t{40} << 30);
  CHECK(with_field(c, "device.memory_bytes", "40GB")->device(0).memory.count == 40'000'000'000);
  CHECK(with_field(c, "levels.1.bandwidth_bytes_per_s", "50 GB/s")->levels[1].bandwidth == 50e9);
  CHECK(with_field(c, "levels.1.bandwidth_bytes_per_s", " 5e10 ")->levels[1].bandwidth == 5e10);
  CHECK(with_field(c, "levels.0.latency_us", "2 ms")->levels[0].latency.count == 2000);
  CHECK(with_field(c, "device.flops.bfloat16", "1 PFLOP/s")->device(0).rate("bfloat16") == 1e15);
  CHECK_FALSE(with_field(c, "background_communication", "no")->background);
}

TEST_CASE("levels are added behind the last one and taken away from there") {
  const Cluster c = preset("dgx-h100x2");
  const Result<Cluster> more = with_field(c, "levels.2.arity", "4");
  REQUIRE(more.ok());
  REQUIRE(more->levels.size() == 3);
  CHECK(more->device_count() == 4 * c.device_count());
  CHECK(more->levels[2].bandwidth == c.levels[1].bandwidth);
  CHECK(*with_field(*more.value, "levels.2.arity", "0").value == c);
  CHECK(refusal(c, "levels.0.arity", "0") == "levels.0.arity: 0 is out of its bounds; from 1 to 1048576");
}

TEST_CASE("what is no field and no value is refused with what would be one") {
  const Cluster c = preset("dgx-h100x2");
  CHECK(refusal(c, "device.memory_byte", "1").find("did you mean 'device.memory_bytes'?") != std::string::npos);
  CHECK(refusal(c, "device.memory_bytes", "much") ==
        "device.memory_bytes: 'much' is no value for it; from 1 B to 1 PiB");
  CHECK(refusal(c, "device.memory_bytes", "-1").find("is out of its bounds; from 1 B to 1 PiB") != std::string::npos);
  CHECK(refusal(c, "device.memory_bytes", "3 us").find("is no value") != std::string::npos);
  CHECK(refusal(c, "device.memory_bytes", "nan").find("is no value") != std::string::npos);
  CHECK(refusal(c, "levels.1.arity", "1.5").find("is no value") != std::string::npos);
  CHECK(refusal(c, "levels.1.arity", "").find("is no value") != std::string::npos);
}

TEST_CASE("a name says which cluster is changed and how") {
  const ChangedName n = changed_name("dgx-h100x2:levels.0.latency_us=5,device.memory_bytes=4e10");
  CHECK(n.base == "dgx-h100x2");
  REQUIRE(n.changes.size() == 2);
  CHECK(n.changes[1] == std::pair<std::string, std::string>{"device.memory_bytes", "4e10"});
  CHECK(print(n) == "dgx-h100x2:levels.0.latency_us=5,device.memory_bytes=4e10");
  CHECK(changed_name("a:b/c.json").base == "a:b/c.json");
  CHECK(changed_name("local").changes.empty());
  CHECK(with_fields(preset("dgx-h100x2"), "levels.0.latency_us=5,device.memory_bytes=4e10")->levels[0].latency.count ==
        5);
}
