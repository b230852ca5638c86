// Groups, bytes and times of moves and transfers on a grid of 2 x 2 x 2 devices, two nodes of four.
#include "planner/cost/communication_cost.h"

#include <catch2/catch.hpp>

#include "engine/program/transfer.h"
#include "planner/cost/profile_items.h"
#include "tests/support/model_builder.h"

using namespace planscope;

namespace {

struct Fixture {
  Graph graph;
  Program program;
  Cluster cluster;
  TensorId tensor = -1;

  Fixture() {
    testing::ModelBuilder b;
    const ValueId x = b.input("x", {8, 32});
    const ValueId y = b.linear("out", x, 16, false);
    graph = b.graph(b.cross_entropy(y, b.input("labels", {8}, DType::i64)));
    tensor = y;  // 8 x 16 x 4 bytes = 512
    program.device_count = 8;
    program.axes = {{"pipe", 2, 0}, {"data", 2, 0}, {"tensor", 2, 0}};
    program.grids = {{"all", {0, 1, 2}, {4, 2, 1}, 0, {}}};
    program.places = {{0, {}}, {0, {{0, 0}}}, {0, {{0, 1}}}};
    program.layouts = {{}, {{{0, 0, {{1, 2, 1}}}}, {}}};
    cluster.levels = {{"inside", 4, {1}, 1e9, 1}, {"between", 2, {10}, 1e8, 1}};
  }
  ProgramValueId value(LayoutId layout, PlaceId place) {
    program.values.push_back({tensor, Role::data, layout, place, {}, -1});
    return static_cast<int>(program.values.size()) - 1;
  }
  MoveCost move(MoveKind kind, std::vector<Digit> digits, LayoutId from, LayoutId to, PlaceId place) {
    Instruction i;
    i.code = Code::issue;
    i.in = {value(from, place)};
    i.out = {value(to, place)};
    i.move.kind = kind;
    i.move.digits = std::move(digits);
    return move_cost(graph, program, cluster, place, i);
  }
};

const Digit kPipe{0, 2, 1}, kData{1, 2, 1}, kTensor{2, 2, 1};

}  // namespace

TEST_CASE_METHOD(Fixture, "a group follows the strides of the grid") {
  CHECK(groups_of(program, program.places[2], {kData}).front() == DeviceGroup{4, {{2, 2}}, {}});
  CHECK(groups_of(program, program.places[0], {kPipe, kTensor}).front() == DeviceGroup{0, {{2, 4}, {2, 1}}, {}});
}

TEST_CASE_METHOD(Fixture, "the groups of listed devices are listed, and the slowest counts") {
  program.grids[0].devices = {0, 1, 2, 4, 3, 5, 6, 7};
  CHECK(groups_of(program, program.places[0], {kTensor}).size() == 4);
  CHECK(groups_of(program, program.places[0], {kTensor})[1].listed == std::vector<std::int64_t>{2, 4});
  // {2, 4} spans the nodes
  CHECK(move(MoveKind::all_reduce, {kTensor}, 0, 0, 0).figure.time.count > 20);
}

TEST_CASE_METHOD(Fixture, "payload and sent bytes of the collectives") {
  const MoveCost reduce = move(MoveKind::all_reduce, {kTensor}, 0, 0, 0);
  CHECK(reduce.group == 2);
  CHECK(reduce.payload == Bytes{512});
  CHECK(reduce.sent == 512);
  CHECK(reduce.figure.time.count == Approx(2 * (1 + 0.5 * 512 / 1e9 * 1e6)));
  const MoveCost gather = move(MoveKind::all_gather, {kData}, 1, 0, 0);
  CHECK(gather.payload == Bytes{512});
  CHECK(gather.sent == 256);
  const MoveCost wide = move(MoveKind::all_reduce, {kPipe}, 0, 0, 0);
  CHECK(wide.figure.time.count > reduce.figure.time.count);
  CHECK(move(MoveKind::slice, {kData}, 0, 1, 0).figure.time.count == 0);
}

TEST_CASE_METHOD(Fixture, "a transfer comes from the device with equal coordinates, over the level that they meet at") {
  const Place &first = program.places[1], &second = program.places[2];
  CHECK(sender_of(program, first, second, devices(program, first), 6) == 2);
  CHECK(sender_of(program, second, first, devices(program, second), 3) == 7);
  const std::vector<int> all = devices(program, program.places[0]);
  CHECK(sender_of(program, program.places[0], second, all, 6) == 6);  // overlapping places: its own copy
  const Transfer t{{value(1, 1)}, {value(1, 2)}};
  const MoveCost c = transfer_cost(graph, program, cluster, t);
  CHECK(c.payload == Bytes{256});
  CHECK(c.figure.time.count == Approx(10 + 256 / 1e8 * 1e6));
}

TEST_CASE_METHOD(Fixture, "the level of communication is the outermost one that it goes over") {
  CHECK(move(MoveKind::all_reduce, {kTensor}, 0, 0, 0).level == 0);
  CHECK(move(MoveKind::all_reduce, {kPipe}, 0, 0, 0).level == 1);
  CHECK(transfer_cost(graph, program, cluster, {{value(1, 1)}, {value(1, 2)}}).level == 1);
}

TEST_CASE_METHOD(Fixture, "what is sent goes over the links of several levels") {
  // Halves of 512 bytes are exchanged inside a node of two, quarters between two nodes, and the same on the way back.
  const MoveCost all = move(MoveKind::all_reduce, {kPipe, kTensor}, 0, 0, 0);
  CHECK(all.sent == 2 * 512 * 3 / 4.0);
  CHECK(all.by_level == std::vector<double>{2 * 256, 2 * 128});
  CHECK(move(MoveKind::all_reduce, {kTensor}, 0, 0, 0).by_level == std::vector<double>{512, 0});
  CHECK(transfer_cost(graph, program, cluster, {{value(1, 1)}, {value(1, 2)}}).by_level == std::vector<double>{0, 256});
}

TEST_CASE_METHOD(Fixture, "between places of different size each device sends what the other side lacks") {
  program.places.push_back({0, {{0, 0}, {1, 0}}});  // 3: devices 0 and 1
  program.places.push_back({0, {{0, 1}, {1, 0}, {2, 0}}});  // 4: device 4
  // Four devices have the whole tensor; one reads it: one of the four sends.
  const MoveCost in = transfer_cost(graph, program, cluster, {{value(0, 1)}, {value(0, 4)}});
  CHECK(in.sent * 4 == 512);
  // One has it and four read it: it sends four times.
  const MoveCost out = transfer_cost(graph, program, cluster, {{value(0, 4)}, {value(0, 1)}});
  CHECK(out.sent == 4 * 512);
  CHECK(out.by_level == std::vector<double>{0, 4 * 512});
  // Inside a node, although the first devices of both places are the same.
  const MoveCost inside = transfer_cost(graph, program, cluster, {{value(0, 3)}, {value(0, 1)}});
  CHECK(inside.level == 0);
  CHECK(inside.sent * 2 == 2 * 512);  // 2 and 3 lack it
}

TEST_CASE_METHOD(Fixture, "where a link was measured, its time is that of the model times measured / modelled") {
  const Transfer t{{value(1, 1)}, {value(1, 2)}};
  const double modelled = transfer_cost(graph, program, cluster, t).figure.time.count;
  Profile profile;
  add(profile, link_key(Collective::send), {"small", 0.5 * modelled, modelled});      // twice as long
  add(profile, link_key(Collective::send), {"large", 1.5 * modelled, 6 * modelled});  // four times
  const Figure f = transfer_cost(graph, program, cluster, t, profile).figure;
  CHECK(f.source == FigureSource::interpolated);
  CHECK(f.time.count == Approx(3 * modelled));
}

TEST_CASE("copies around a message: buckets are packed, blocks that are no rows are pasted") {
  Instruction one;
  one.out = {0};
  one.move.kind = MoveKind::all_reduce;
  CHECK(message_copies(one, Bytes{100}, true).before == 0);
  CHECK(message_copies(one, Bytes{100}, false).before == 200);
  Instruction bucket = one;
  bucket.out = {0, 1};
  CHECK(message_copies(bucket, Bytes{100}, true).before == 300);
  one.move.kind = MoveKind::all_gather;
  one.move.dim = one.move.part = 0;
  CHECK(message_copies(one, Bytes{100}, false).after == 0);
  one.move.dim = 1;
  CHECK(message_copies(one, Bytes{100}, false).after == 200);
}
