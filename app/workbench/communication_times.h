#pragma once
// When the communication of a simulated step runs, instruction by instruction, and how much of it no computing hides.
//
//   const CommunicationTimes times = communication_times(program, cluster, simulation);
//   times.detailed; times.of.at({class, segment, instruction}).exposed_us
//
// Exposed is the time in which a message is under way while the compute stream stands still and waits for it, or for
// one behind it; of a send, the compute stream of the class that receives. Messages on different links that are waited
// for together are both exposed. Where communication has no background (Cluster::background), all of it is exposed.
#include <map>
#include <optional>
#include <tuple>

#include "engine/cluster/cluster.h"
#include "engine/program/program.h"
#include "planner/simulate/simulate.h"

namespace planscope {

struct CommunicationTime {
  std::int64_t runs = 0;
  double busy_us = 0, exposed_us = 0;  // of all runs of one device in a step
  std::int64_t messages = 0;           // runs without regard to a window; of whole slots, these
  double within = 0;                   // of them, each by the share of its time that lies in the window
  double first_us = 0, last_us = 0;    // when the first one begins, and the last one ends
};

struct CommunicationTimes {
  // False: the simulation has recorded the communication of whole slots alone. Instructions are -1 then and nothing is
  // known of what is exposed; the times say from when to when a slot communicates.
  bool detailed = true;
  // by device class, segment and instruction (`issue`, `send`)
  std::map<std::tuple<int, SegmentId, int>, CommunicationTime> of;

  const CommunicationTime* find(int device_class, SegmentId, int instruction) const;
  // The same, of all classes together that run the segment: means over their runs, first and last of all.
  CommunicationTime over_classes(SegmentId, int instruction) const;
};

// With a window: runs that are under way within it, and of their times what lies in it.
CommunicationTimes communication_times(const Program&, const Cluster&, const Simulation&,
                                       std::optional<Window> only = std::nullopt);

}  // namespace planscope
