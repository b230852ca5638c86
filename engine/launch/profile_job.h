#pragma once
// What planscope asks of a worker that measures operators or links, and what it answers: values and their JSON text.
//
// `operators`: one rank; an answer for every item as soon as it is known, in order. `links`: two ranks; rank 0 answers
// for every size and kind of communication, as soon as it is known.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"

namespace planscope {

enum class ProfileTask : std::uint8_t { operators, links };

// An operator of a Program, in one direction.
struct MeasuredOperator {
  int piece = -1;
  int op = 0;  // of Piece::ops
  bool backward = false;
  bool operator==(const MeasuredOperator&) const = default;
};

// Something that is as long as so many bytes take through memory.
struct MeasuredMemory {
  std::int64_t bytes = 0;
  int state = 0;  // 0: a sum, of which a third is written. Else the update of a float32 parameter by an optimizer that
                  // keeps so many bytes of each element: AdamW 8, momentum 4
  bool operator==(const MeasuredMemory&) const = default;
};

struct ProfileJob {
  ProfileTask task = ProfileTask::operators;
  std::string model = {};                                        // path of the model file
  std::vector<std::pair<std::string, std::int64_t>> sizes = {};  // named input dimensions, as in Program::sizes
  std::string program = {};                                      // path of the Program's JSON
  std::vector<MeasuredOperator> items = {};
  std::vector<MeasuredMemory> memory = {};
  std::uint64_t seed = 1;
  bool operator==(const ProfileJob&) const = default;
};
std::string print(const ProfileJob&);
bool is_profile_job(std::string_view json);  // not a trial's
Result<ProfileJob> parse_profile_job(std::string_view json);

struct OperatorMeasurement {
  int item = -1;        // of `items`, then of `memory`
  Microseconds time;    // lower quartile
  int repeats = 0;      // of so many
  std::string problem;  // not empty: it could not be measured, and why
  bool operator==(const OperatorMeasurement&) const = default;
};
std::string print(const OperatorMeasurement&);
Result<OperatorMeasurement> parse_operator_measurement(std::string_view json);

// The sizes that are measured, each with every kind of communication.
inline constexpr std::int64_t link_sizes[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18,
                                              1 << 20, 1 << 22, 1 << 24, 1 << 26};

struct LinkMeasurement {
  std::string kind;  // as to_string(Collective) names it
  Bytes bytes;
  Microseconds time;  // lower quartile, of the slower rank
  bool operator==(const LinkMeasurement&) const = default;
};
std::string print(const LinkMeasurement&);
Result<LinkMeasurement> parse_link_measurement(std::string_view json);

}  // namespace planscope
