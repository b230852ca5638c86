#include "app/workbench/communicator_names.h"

#include <algorithm>
#include <map>

#include "engine/base/enumeration.h"
#include "engine/base/text.h"

namespace planscope {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

// `pipe=0, pipe=1 and 6 more`
std::string some(std::vector<std::string> all) {
  constexpr std::size_t most = 3;
  std::vector<std::string> named;
  for (std::string& one : all)
    if (std::find(named.begin(), named.end(), one) == named.end()) named.push_back(std::move(one));
  return enumeration(named, named.size() > most ? most - 1 : most);
}

bool share_a_part(const Communicator& a, const Communicator& b) {
  return std::any_of(a.parts.begin(), a.parts.end(), [&](const CommunicatorPart& x) {
    return std::any_of(b.parts.begin(), b.parts.end(), [&](const CommunicatorPart& y) {
      return x.name == y.name && x.device_class == y.device_class;
    });
  });
}

// Communicators of one kind over the same are told from each other by their device classes, and by a number where these
// are the same.
void set_apart(const std::vector<Communicator*>& alike) {
  std::map<std::string, int> count;
  for (Communicator* c : alike) {
    c->where = "at " + some(c->classes);
    if (const int n = ++count[c->where]; n > 1) c->where += " #" + std::to_string(n);
  }
}

}  // namespace

std::string communicator_over(const Program& p, const Instruction& i) {
  if (i.transfer >= 0) {
    const Transfer& transfer = at(p.transfers, i.transfer);
    const auto place = [&](ProgramValueId v) { return describe(p, at(p.places, at(p.values, v).place)); };
    return place(transfer.from.at(0)) + " → " + place(transfer.to.at(0));
  }
  std::vector<std::string> names;
  for (const Digit& d : communicator(i.move)) {
    const Axis& axis = at(p.axes, d.axis);
    names.push_back(axis.name + (d.size == axis.size ? "" : "(" + std::to_string(d.size) + ")"));
  }
  return join(names, ", ");
}

std::string communicator_name(const Program& p, PlaceId place, const Instruction& i) {
  if (i.code == Code::issue)
    return std::string(to_string(i.move.kind)) + " over " + communicator_over(p, i) + " at " +
           describe(p, at(p.places, place));
  return i.transfer >= 0 ? std::string(to_string(Code::send)) + " over " + communicator_over(p, i) : "";
}

std::string among(const Communicator& c) { return c.over + (c.where.empty() ? "" : " " + c.where); }

bool is_called(const Communicator& c, const std::string& name) {
  return c.kind + " over " + c.over == name || std::find(c.names.begin(), c.names.end(), name) != c.names.end();
}

void name_communicators(std::vector<Communicator>& all) {
  std::map<std::string, std::vector<Communicator*>> called;
  for (Communicator& c : all) called[c.kind + " over " + c.over].push_back(&c);
  for (const auto& [name, alike] : called)
    if (alike.size() > 1) set_apart(alike);
  for (Communicator& c : all) c.names = {c.kind + " over " + among(c)};
}

void name_as(TrafficFacts& part, const TrafficFacts& all) {
  for (Communicator& c : part.communicators) {
    std::vector<const Communicator*> of;
    for (const Communicator& one : all.communicators)
      if (share_a_part(c, one)) of.push_back(&one);
    c.names.clear();
    for (const Communicator* one : of) c.names.insert(c.names.end(), one->names.begin(), one->names.end());
    c.where = of.size() == 1 ? of.front()->where : "at " + some(c.classes);
  }
}

}  // namespace planscope
