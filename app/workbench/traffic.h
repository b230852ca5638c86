#pragma once
// The communication of a step as an output of the plan: who talks to whom, how often, with how many bytes, over which
// links, and when.
//
//   const TrafficFacts t = traffic(evaluation, cluster);
//   t.communicators[0].kind, .over, .size, .count, .bytes
//   t.cells                          // device × device, folded to at most 64 × 64
//
// Counts and bytes of a communicator are those of one device in a step; over all its classes they sum to
// Simulation::traffic().
//
// The matrix says what devices have for each other, not which way a library sends it: what a device sends in a
// collective goes in equal parts to all others of its group (so its rows sum to what Simulation says each device
// sends), and what goes between places goes where the layouts say. A plan that is regular costs nothing per device but
// the sums of the rows.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/device_sets.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

// A part of the communication; what is not said does not restrict it.
//
// Of a time range, a message counts with the share of its bytes that the share of its time in that range is, and as one
// message wherever some of it is (disjoint ranges sum to the whole, in bytes). Of tensors, it counts with their share
// of its bytes. Links and bursts over time are of the whole step, whatever the range.
struct TrafficBrush {
  std::optional<std::pair<double, double>> time_us = {};  // since the beginning of the step
  std::set<std::string> kinds = {};                       // `all_reduce`, …
  std::string level = {};                                 // of the links, by name: what goes over it
  std::optional<std::set<TensorId>> tensors = {};         // that are sent, or whose gradients are
  std::optional<std::set<int>> classes = {};              // of devices, that send
  std::set<std::pair<std::string, int>> communicators = {};  // by communicator_name() and the device class that sends
  bool operator==(const TrafficBrush&) const = default;
};

struct MessageSize {
  std::int64_t bytes = 0, count = 0;  // of each; per device and step
  double first_us = 0, last_us = 0;   // when the first one begins, and the last one ends; both 0: not known
  bool operator==(const MessageSize&) const = default;
};

// Who communicates how: `all_reduce over tensor at all[pipe=0]`, `send over all[pipe=0] → all[pipe=1]`. Empty: the
// instruction, which runs at that place, sends nothing.
std::string communicator_name(const Program&, PlaceId, const Instruction&);
// The tensors that an instruction sends, or whose gradients it sends; ascending.
std::vector<TensorId> tensors_sent(const Program&, const Instruction&);

// What one device class does in one way.
struct CommunicatorPart {
  std::string name;  // communicator_name()
  int device_class = 0;
  std::vector<TensorId> tensors;  // that it sends, or whose gradients; ascending
};

// Device classes that do the same with groups of the same kind are one.
struct Communicator {
  std::string kind;  // `all_reduce`, …, `send`
  // the digits that its devices differ in: `tensor`; of a send, the places: `all[pipe=0] → all[pipe=1]`
  std::string over;
  std::string where;                  // tells it from others of its kind over the same: `at pipe=0`; empty: there are none
  std::vector<std::string> names;     // that select it: its own; of a part of the communication, those that it is of
  std::string devices;                // that take part: `0–7`
  std::vector<std::string> classes;   // of devices
  std::vector<CommunicatorPart> parts;  // that it stands for
  std::int64_t size = 1, groups = 1;  // devices in a group, groups in all its classes
  std::vector<std::string> members;   // of a collective: the devices of each group, of at most 256 of them: `0, 8`, `1, 9`
  std::int64_t count = 0, bytes = 0, sent = 0;
  std::vector<MessageSize> messages;
  int level = 0;  // the outermost one that it goes over
  std::string level_name;
  std::vector<double> by_level;  // of `sent`, what goes over each level, as Cluster::levels
  double busy_us = 0, exposed_us = 0;  // of the class whose links are busy longest; exposed: -1 where it is not known
  double first_us = 0, last_us = 0;
  // The bytes that all devices of its groups together send in each interval of the step, of the same length as those of
  // LinkLoad::bytes; their sum is what they send in the step. Where the prediction does not record single messages, the bytes of a
  // slot are spread evenly over the time in which it communicates.
  std::vector<double> bursts;
};

bool goes_over(const Communicator&, int level);
std::string among(const Communicator&);  // `tensor at pipe=0`: over what, and where that does not say it
bool is_called(const Communicator&, const std::string& name);  // with or without what tells it from others

struct TrafficCell {
  int from = 0, to = 0;  // rows of the matrix
  int communicator = 0;
  double bytes = 0, messages = 0;
  double us = 0;  // that a device sends to another one, of those that do so longest
};

struct LinkLoad {
  int level = 0;
  std::string name;
  double bandwidth = 0;       // bytes per second that one device has of it
  std::vector<double> bytes;  // by interval: of the device that sends most in the step
  double sent = 0;            // in the step, by that device: the sum of these
};

// The rows of the matrix: devices, or at more than 64 of them neighbours of one device class together.
struct TrafficRows {
  std::vector<std::string> names;    // `3`, `pipe=0 2/4`
  std::vector<std::string> devices;  // `3`, `128–255`
  std::vector<std::string> places;   // that select them: `3`, `pipe=0`; empty: none does
  std::vector<int> row_of;           // by device
  std::int64_t devices_per_row = 1;  // at most
};
TrafficRows traffic_rows(const Program&);

struct TrafficFacts {
  std::vector<Communicator> communicators;  // by bytes, largest first
  std::int64_t devices = 1, devices_per_row = 1;
  std::vector<std::string> rows, row_devices, places;  // of TrafficRows
  std::vector<TrafficCell> cells;
  std::vector<LinkLoad> links;  // of levels that are used
  double duration_us = 0;       // that the intervals divide
  double sum(int from, int to) const;
};

TrafficFacts traffic(const Evaluation&, const Cluster&, const TrafficBrush& = {});
// A part of the communication, with the names that its communicators have in all of it.
void name_as(TrafficFacts& part, const TrafficFacts& all);

// The tensors that operators make, or read.
std::set<TensorId> tensors_of(const Graph&, const std::vector<OpId>&);

// For tuners of collectives: each communicator with the sizes of its messages; JSON also with the matrix and the load
// of the links.
std::string traffic_csv(const TrafficFacts&);
std::string traffic_json(const TrafficFacts&);

}  // namespace planscope
