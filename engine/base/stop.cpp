#include "engine/base/stop.h"

#include <utility>

namespace planscope {

namespace {

thread_local const StopScope::Asked* current = nullptr;
thread_local unsigned looks = 0;
constexpr unsigned looks_per_question = 16;

}  // namespace

StopScope::StopScope(Asked asked) : asked_(std::move(asked)), outer_(std::exchange(current, &asked_)) { looks = 0; }
StopScope::~StopScope() { current = outer_; }
StopScope::Asked StopScope::asked() { return current ? *current : Asked(); }

void look_at_stop() {
  if (!current || !*current || looks++ % looks_per_question != 0) return;
  if ((*current)()) throw Stopped{};
}

}  // namespace planscope
