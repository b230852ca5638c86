#include "planner/simulate/groups.h"

#include <algorithm>
#include <set>

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

int find(std::vector<int>& parent, int c) {
  while (parent[at(c)] != c) c = parent[at(c)] = parent[at(parent[at(c)])];
  return c;
}

}  // namespace

Parties::Parties(const Program& program) : program_(program), class_of_(at(std::max(0, program.device_count)), -1) {
  for (std::size_t c = 0; c < program.classes.size(); ++c)
    for (int device : devices(program, program.classes[c]))
      if (device >= 0 && at(device) < class_of_.size()) class_of_[at(device)] = static_cast<int>(c);
}

const std::vector<int>& Parties::of(PlaceId place, const std::vector<Digit>& digits) {
  const auto key = std::make_pair(place, digits);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  return known_.emplace(key, compute(place, digits)).first->second;
}

std::vector<int> Parties::compute(PlaceId place_id, const std::vector<Digit>& digits) const {
  const Place& place = program_.places[at(place_id)];
  const std::vector<int> members = devices(program_, place);
  std::vector<int> classes(program_.classes.size(), -1);
  std::set<int> distinct;
  for (int d : members)
    if (at(d) < class_of_.size() && class_of_[at(d)] >= 0) distinct.insert(class_of_[at(d)]);
  if (distinct.size() <= 1) return {};
  for (int c : distinct) classes[at(c)] = c;
  bool joined = false;
  std::map<Point, int> first;  // communicator (the point without its digits) -> class of its first member
  for (int d : members) {
    if (at(d) >= class_of_.size() || class_of_[at(d)] < 0) continue;
    Point rest = point_of(program_, place, d);
    for (const Digit& digit : digits) rest[at(digit.axis)] -= digit_value(digit, rest) * digit.stride;
    const auto [entry, fresh] = first.emplace(std::move(rest), class_of_[at(d)]);
    const int a = find(classes, entry->second), b = find(classes, class_of_[at(d)]);
    if (a == b) continue;
    classes[at(std::max(a, b))] = std::min(a, b);
    joined = true;
  }
  if (!joined) return {};
  for (std::size_t c = 0; c < classes.size(); ++c)
    if (classes[c] >= 0) classes[c] = find(classes, static_cast<int>(c));
  return classes;
}

}  // namespace planscope
