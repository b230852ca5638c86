#include "app/session/block_task.h"

#include "app/session/times.h"

namespace planscope::session {

namespace {

int class_named(const Document& d, const Invocation& i) {
  if (!d.shown || !d.shown->evaluation || !i.has("lane")) return -1;
  return class_of_lane(*d.shown->evaluation, i.get("lane"));
}

std::string name_of(const Document& d, const Task& task) {
  const SlotBlock slot{.segment = task.segment, .index = task.index};
  return label(d.shown->evaluation->made.program, slot);
}

}  // namespace

std::optional<TimeSelection> block_named(const Invocation& i) {
  const Result<TimesUs> times = parse_times(i.get("time"));
  if (!i.has("time") || !i.has("lane") || !times.ok()) return std::nullopt;
  return TimeSelection{*times, {i.get("lane")}, i.has("stream") ? i.get("stream") : "compute"};
}

std::string task_of_block(const Document& d, const Invocation& i) {
  const int c = class_named(d, i);
  const std::optional<TimeSelection> block = block_named(i);
  if (c < 0 || !block) return "";
  const std::optional<StudiedTask> task = d.shown->study->find_task(c, block->stream, *window_of(block->us));
  return task ? name_of(d, task->task) : "";
}

std::string task_selected(const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation || !s.time || !s.time->us || s.time->stream.empty() || s.time->lanes.size() != 1)
    return "";
  const int c = class_of_lane(*d->shown->evaluation, s.time->lanes[0]);
  if (c < 0) return "";
  Selection place;
  place.place = d->shown->evaluation->made.program.classes[static_cast<std::size_t>(c)].name;
  if (!(s.selection == place)) return "";
  const std::optional<StudiedTask> task = d->shown->study->find_task(c, s.time->stream, *window_of(s.time->us));
  return task && task->task.instruction < 0 ? name_of(*d, task->task) : "";
}

std::string place_of_lane(const Document& d, const Invocation& i) {
  const int c = class_named(d, i);
  return c < 0 ? "" : d.shown->evaluation->made.program.classes[static_cast<std::size_t>(c)].name;
}

}  // namespace planscope::session
