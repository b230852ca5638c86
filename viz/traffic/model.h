#pragma once
// What a picture of a step's communication shows, as plain data: bytes from device to device, who communicates in which
// groups, and how full the links are over time. Filled by others; nothing here knows where it comes from.
//
// Cells are parallel tables: cell k goes from row from[k] to row to[k]; a pair of rows may have one for each
// communicator. first_problem() tests that everything points to what is there. An empty model is legal.
//
//   TrafficModel m;
//   m.rows = {"0", "1"};
//   m.communicators.push_back({.kind = "all_reduce", .over = "data"});
//   m.from = {0}, m.to = {1}, m.communicator = {0}, m.bytes = {1e6}, m.messages = {4}, m.time = {20};
#include <cstdint>
#include <string>
#include <vector>

#include "viz/canvas/units.h"

namespace planscope::viz {

struct TrafficGroup {
  std::string kind, over, devices, level;
  std::string name;  // what selects it in the session, as it stands between quotes; empty: nothing does
  std::int64_t size = 1, groups = 1, count = 0;
  Bytes bytes;                            // of one device in a step
  Microseconds busy, exposed, first, last;  // exposed: below 0 where it is not known
};

struct TrafficLink {
  std::string name;
  double bandwidth = 0;       // bytes per second
  std::vector<double> bytes;  // by interval, all intervals of one length
};

struct TrafficModel {
  std::int64_t devices = 1, devices_per_row = 1;
  std::vector<std::string> rows, row_devices;  // short names, and which devices they are
  std::vector<std::string> places;             // by row: what selects its devices; empty: nothing does
  std::vector<TrafficGroup> communicators;
  std::vector<std::int32_t> from, to, communicator;
  std::vector<double> bytes, messages, time;  // time: in microseconds, of the pair of devices that communicates longest
  std::vector<TrafficLink> links;
  Microseconds duration;
  std::string shown;                  // what of the communication it is, in words; empty: all
  Microseconds range_from, range_to;  // the range of time that it is of; both 0: the whole step
};

std::string first_problem(const TrafficModel&);  // in words, or empty

}  // namespace planscope::viz
