#include "engine/launch/profile_job.h"

#include <catch2/catch.hpp>

#include "engine/launch/trial_job.h"

using namespace planscope;

TEST_CASE("a profile job is what it was after it has been sent", "[profile]") {
  ProfileJob job;
  job.model = "a \"quoted\" path.pt2";
  job.sizes = {{"batch", 8}};
  job.program = "p.json";
  job.items = {{3, 1, false}, {3, 1, true}};
  job.memory = {{4096, 0}, {8192, 8}};
  job.seed = 7;
  REQUIRE(is_profile_job(print(job)));
  const Result<ProfileJob> read = parse_profile_job(print(job));
  REQUIRE(read.ok());
  CHECK(*read == job);
  CHECK_FALSE(is_profile_job(print(TrialJob{})));
  CHECK_FALSE(is_profile_job("not JSON"));
  CHECK_FALSE(parse_profile_job("{\"profile\":\"operators\"}").ok());
}

TEST_CASE("measurements are what they were", "[profile]") {
  const OperatorMeasurement m{2, {12.5}, 40, "no \xff kernel"};
  const Result<OperatorMeasurement> read = parse_operator_measurement(print(m));
  REQUIRE(read.ok());
  CHECK(read->item == 2);
  CHECK(read->time.count == 12.5);
  CHECK(read->repeats == 40);
  CHECK_FALSE(read->problem.empty());
  const LinkMeasurement l{"send", {1024}, {3.5}};
  const Result<LinkMeasurement> link = parse_link_measurement(print(l));
  REQUIRE(link.ok());
  CHECK(*link == l);
  CHECK_FALSE(parse_link_measurement("[]").ok());
}
