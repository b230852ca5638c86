#pragma once
// A server on loopback for tests, with a workspace of its own, and a client of it.
#include <catch2/catch.hpp>

#include "tests/app/server/client.h"
#include "tests/app/session/scratch.h"

namespace planscope::testing {

using namespace planscope::server;

inline const std::string kModel = "sample_models/gpt2_tiny.pt2";
inline const std::string kPlan = "devices 2 as data=2\ntrans * batch by data\n";

struct Fixture {
  explicit Fixture(Limits limits = {}) : server(started(limits)), client(*server) {}

  std::unique_ptr<Server> started(Limits limits) {
    scratch.write("index.html", "<!doctype html><title>planscope</title>");
    ServerSettings s;
    s.session = {.workspace = scratch.file("w.planscope"), .cluster = "dgx-h100x1"};
    s.port = 0;
    s.uploads = scratch.file("uploads");
    s.page = scratch.path();
    s.samples = "sample_models";
    s.version = "1";
    s.limits = limits;
    Result<std::unique_ptr<Server>> r = Server::start(std::move(s));
    INFO(to_string(r.diagnostics));
    REQUIRE(r.ok());
    return std::move(*r.value);
  }

  Scratch scratch;
  std::unique_ptr<Server> server;
  Client client;
};

}  // namespace planscope::testing
