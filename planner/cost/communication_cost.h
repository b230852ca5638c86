#pragma once
// How long the communication of a Program takes, each piece of it by itself: which devices form a group, how many bytes
// pass, and the cluster's time for that (engine/cluster/communication.h).
//
// A move's group are the devices of its place that differ only in the move's digits. On a grid with strides all groups
// look alike and one is costed; on listed devices the slowest group counts. A transfer takes as long as its slowest link
// (transfer_load, engine/program/transfer.h).
//
//   MoveCost c = move_cost(graph, program, cluster, segment.place, instruction);
//   c.group; c.payload; c.sent; c.figure.time; c.figure.source
#include <vector>

#include "engine/cluster/communication.h"
#include "planner/cost/operator_cost.h"

namespace planscope {

struct MoveCost {
  std::int64_t group = 1;  // devices that take part
  bool network = false;    // not all of them in one unit of the cluster's innermost level
  int level = 0;           // of the outermost links that it goes over
  Bytes payload;           // per device: the whole result of a gather, the whole operand of the others
  // What each device must send at least, in bytes: payload times (n-1)/n, twice for all_reduce. Of a transfer, the mean
  // over the devices of the sending place: they may send different parts, or none.
  double sent = 0;
  std::vector<double> by_level = {};  // the same by the level of the links that it goes over, as Cluster::levels
  Figure figure;
};

// The groups that `digits` form on a place: one that stands for all where the grid has strides, else each of them.
std::vector<DeviceGroup> groups_of(const Program&, const Place&, const std::vector<Digit>&);

// Of an `issue` instruction: in[0] -> out[0]; of a bucket, all values as one message.
MoveCost move_cost(const Graph&, const Program&, const Cluster&, PlaceId, const Instruction&, const Profile& = {});

MoveCost transfer_cost(const Graph&, const Program&, const Cluster&, const Transfer&, const Profile& = {});

// Where the profile has measured times of such communication (link_key), the ratio measured / modelled is interpolated
// between its sizes, as that of operators is.
std::string link_key(Collective);

// Bytes that a device moves through its memory to make a message of an `issue` instruction, and values of what has come,
// as engine/runtime/move_runner.h does it: buckets are packed, blocks that are no rows are cut out and pasted. `in_place`:
// the result takes the memory of the operand. `even`: all blocks have the same size.
struct MessageCopies {
  double before = 0, after = 0;
};
MessageCopies message_copies(const Instruction&, Bytes payload, bool in_place, bool even = true);

}  // namespace planscope
