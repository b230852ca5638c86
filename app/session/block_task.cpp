#include "app/session/block_task.h"

#include "app/session/times.h"

namespace planscope::session {

namespace {

int class_named(const Document& d, const Invocation& i) {
  if (!d.shown || !d.shown->evaluation || !i.has("lane")) return -1;
  return class_of_lane(*d.shown->evaluation, i.get("lane"));
}

}  // namespace

std::string task_of_block(const Document& d, const Invocation& i) {
  const int c = class_named(d, i);
  if (c < 0 || !i.has("time")) return "";
  const Result<TimesUs> times = parse_times(i.get("time"));
  if (!times.ok()) return "";
  const std::string stream = i.has("stream") ? i.get("stream") : "compute";
  const std::optional<StudiedTask> task = d.shown->study->find_task(c, stream, *window_of(*times));
  if (!task) return "";
  const SlotBlock slot{.segment = task->task.segment, .index = task->task.index};
  return label(d.shown->evaluation->made.program, slot);
}

std::string place_of_lane(const Document& d, const Invocation& i) {
  const int c = class_named(d, i);
  return c < 0 ? "" : d.shown->evaluation->made.program.classes[static_cast<std::size_t>(c)].name;
}

}  // namespace planscope::session
