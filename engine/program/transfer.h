#pragma once
// What a Transfer (program.h) means, for all who run, check or predict one.
//
//   sender_of(p, from, to, {0, 4}, 6)       4, where devices 4 and 6 differ in nothing but the stage
//   sent_as(p, receive, %12)                the value of the sending place that arrives as %12
//   messages(g, p, sending)                 what goes from each device to each other one
#include <span>
#include <vector>

#include "engine/cluster/communication.h"
#include "engine/program/program.h"

namespace planscope {

// Who sends a block to `receiver`, of the devices of the place `from` that hold it (at least one, in their order): the
// receiver itself, else the first one with equal coordinates on most of the axes of `from` and `to` that have equal names
// (coordinates beyond the sender's axis begin at 0 again).
int sender_of(const Program&, const Place& from, const Place& to, std::span<const int> holders, int receiver);

ProgramValueId sent_as(const Program&, const Instruction& receive, ProgramValueId received);

// One tensor's way from a place to another one, in the layout that it has there.
struct Sending {
  TensorId tensor = -1;
  Place from, to;
  Layout sent, got;
};
std::vector<Sending> sendings(const Program&, const Transfer&);

bool share_devices(const Program&, const Place&, const Place&);

// What each device sends to others, at the first free indices; at most one message for each pair, in the order of
// receivers.
std::vector<PointToPoint> messages(const Graph&, const Program&, const Sending&);

// What a transfer comes to.
struct TransferLoad {
  Microseconds time;                 // exchange_time
  std::vector<double> sent_by_level;  // bytes, the mean over the devices of the sending places; as Cluster::levels
};

// Of values that go as one message for each pair of devices. Costs nothing per device of axes over which messages go
// between equal coordinates: of these the first and the last are looked at.
TransferLoad transfer_load(const Graph&, const Program&, const Cluster&, std::span<const Sending>);

}  // namespace planscope
