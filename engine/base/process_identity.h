#pragma once
// Which process it is: the number alone is given to another one after its end. One of another machine, or of one that has been
// started anew since, is never alive here.
//
//   const ProcessIdentity me = this_process();
//   is_alive(me)                                        // true
//   is_alive({me.boot, me.pid, me.start - 1})           // false: the number was another's then
#include <cstdint>
#include <string>

namespace planscope {

struct ProcessIdentity {
  std::string boot;        // of the machine, anew at every start of it
  std::int64_t pid = 0;    //
  std::int64_t start = 0;  // ticks since the machine was started
  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();
bool is_alive(const ProcessIdentity&);

std::string boot_of_this_machine();  // empty: not known

}  // namespace planscope
