#include "app/workbench/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/format.h"

namespace planscope {

namespace {

using Json = nlohmann::json;

Diagnostic about(const std::string& file, Diagnostic d) {
  d.file = file;
  return d;
}

struct Event {
  double start = 0, end = 0;
  std::string name, category;
};
using Thread = std::pair<std::string, std::string>;  // process, thread

struct Events {
  std::map<Thread, std::vector<Event>> complete;
  std::map<Thread, std::vector<Event>> begun;  // of pairs of begin and end: those that have not ended yet
  std::map<std::string, std::vector<std::pair<double, double>>> memory;  // by process: time, bytes
  std::map<std::string, std::string> processes;                          // names
  std::map<Thread, std::string> threads;
  std::int64_t count = 0, unpaired = 0;
};

std::string id_text(const Json& j, const char* name) {
  if (!j.contains(name)) return "0";
  return j[name].is_string() ? j[name].get<std::string>() : j[name].dump();
}

std::optional<double> number(const Json& j, const char* name) {
  if (!j.contains(name) || !j[name].is_number()) return std::nullopt;
  const double v = j[name].get<double>();
  return std::isfinite(v) ? std::optional(v) : std::nullopt;
}

std::string word(const Json& j, const char* name) {
  return j.contains(name) && j[name].is_string() ? j[name].get<std::string>() : "";
}

std::string name_in(const Json& event) {
  return event.contains("args") && event["args"].is_object() ? word(event["args"], "name") : "";
}

void counter(const Json& e, const std::string& process, double at, Events& out) {
  if (word(e, "name") != "memory" || !e.contains("args") || !e["args"].is_object()) return;
  double bytes = 0;
  for (const Json& v : e["args"])
    if (v.is_number()) bytes += v.get<double>();
  if (std::isfinite(bytes)) out.memory[process].emplace_back(at, bytes);
}

void take(const Json& e, Events& out) {
  if (!e.is_object()) return;
  const std::string phase = word(e, "ph"), process = id_text(e, "pid");
  const std::optional<double> at = number(e, "ts");
  if (phase == "M") {
    if (word(e, "name") == "process_name") out.processes[process] = name_in(e);
    if (word(e, "name") == "thread_name") out.threads[{process, id_text(e, "tid")}] = name_in(e);
  } else if (phase == "C" && at) {
    counter(e, process, *at, out);
  } else if (phase == "X" && at) {
    const double duration = number(e, "dur").value_or(0);
    if (duration <= 0) return;  // a moment has no width
    out.complete[{process, id_text(e, "tid")}].push_back({*at, *at + duration, word(e, "name"), word(e, "cat")});
    ++out.count;
  } else if (phase == "B" && at) {
    out.begun[{process, id_text(e, "tid")}].push_back({*at, *at, word(e, "name"), word(e, "cat")});
  } else if (phase == "E" && at) {
    std::vector<Event>& open = out.begun[{process, id_text(e, "tid")}];
    if (open.empty()) return void(++out.unpaired);
    Event whole = std::move(open.back());
    open.pop_back();
    whole.end = *at;
    if (whole.end <= whole.start) return;
    out.complete[{process, id_text(e, "tid")}].push_back(std::move(whole));
    ++out.count;
  }
}

// Takes every event and forgets it, so that memory does not grow with the file. Returns whether the text was whole.
struct Read {
  bool whole = true;
  std::string problem;  // of one that was not
  std::size_t byte = 0;
};
Read read(std::string_view text, Events& out) {
  int list = -1;  // depth at which the events stand; -1: not in their list
  std::string key;
  const Json::parser_callback_t each = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) key = parsed.get<std::string>();
    if (event == Json::parse_event_t::array_start && (depth == 0 || (depth == 1 && key == "traceEvents")))
      list = depth + 1;
    if (event == Json::parse_event_t::array_end && depth + 1 == list) list = -1;
    if (event != Json::parse_event_t::object_end || depth != list) return true;
    take(parsed, out);
    return false;
  };
  Read r;
  try {
    const Json rest = Json::parse(text, each);
  } catch (const Json::parse_error& e) {
    r = {false, e.what(), e.byte};
  } catch (const Json::exception& e) {
    r = {false, e.what(), 0};
  }
  return r;
}

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

viz::BlockKind kind_of(const Event& e) {
  const std::string category = lower(e.category), name = lower(e.name);
  const auto has = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return name.find(w) != std::string::npos; });
  };
  for (const char* c : {"collective", "network", "transfer", "offload", "restore", "communication"})
    if (category == c) return viz::BlockKind::communication;
  if (has({"nccl", "rccl", "gloo", "all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter",
           "reducescatter", "all_to_all", "alltoall", "sendrecv", "memcpy"}) ||
      name == "send" || name == "recv" || name == "receive")
    return viz::BlockKind::communication;
  if (category == "b" || category == "backward" || has({"backward"})) return viz::BlockKind::backward;
  if (category == "w" || category == "weight") return viz::BlockKind::weight;
  if (category == "update" || has({"optimizer", "adam"})) return viz::BlockKind::update;
  return viz::BlockKind::forward;
}

constexpr double kMoment = 1e-3;  // microseconds: less is rounding of the program that wrote the file

class Builder {
 public:
  explicit Builder(Events& events) : events_(events) {}

  ChromeTrace build(std::int64_t& across) {
    out_.events = events_.count;
    first_ = events_.complete.begin()->second.front().start;
    for (auto& [thread, all] : events_.complete)
      for (const Event& e : all) first_ = std::min(first_, e.start);
    for (auto& [thread, all] : events_.complete) stream(thread, all);
    for (auto& [process, steps] : events_.memory) memory(process, steps);
    across = across_;
    return std::move(out_);
  }

 private:
  viz::Lane& lane(const std::string& process) {
    const auto [at, fresh] = lanes_.emplace(process, out_.timeline.lanes.size());
    if (fresh) {
      const auto named = events_.processes.find(process);
      viz::Lane l;
      l.name = named == events_.processes.end() || named->second.empty() ? "process " + process : named->second;
      out_.timeline.lanes.push_back(std::move(l));
    }
    return out_.timeline.lanes[at->second];
  }

  void stream(const Thread& thread, std::vector<Event>& all) {
    std::stable_sort(all.begin(), all.end(), [](const Event& a, const Event& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    const auto named = events_.threads.find(thread);
    viz::Stream s;
    s.name = named == events_.threads.end() || named->second.empty() ? "thread " + thread.second : named->second;
    double end = first_;
    for (const Event& e : all) {
      if (!s.blocks.empty() && e.end <= end) {
        ++out_.left_out;
        continue;
      }
      const double start = s.blocks.empty() ? e.start : std::max(e.start, end);
      if (start > e.start + kMoment) ++across_;
      s.blocks.push_back({{start - first_}, {e.end - start}, kind_of(e), -1, detail(e), e.name});
      end = e.end;
    }
    const bool communicates = std::all_of(s.blocks.begin(), s.blocks.end(),
                                          [](const viz::Block& b) { return b.kind == viz::BlockKind::communication; });
    if (communicates) s.kind = viz::StreamKind::communication;
    out_.timeline.duration = std::max(out_.timeline.duration, viz::Microseconds{end - first_});
    viz::Lane& l = lane(thread.first);
    l.streams.insert(communicates
                         ? l.streams.end()
                         : std::find_if(l.streams.begin(), l.streams.end(),
                                        [](const viz::Stream& o) { return o.kind == viz::StreamKind::communication; }),
                     std::move(s));
  }

  void memory(const std::string& process, std::vector<std::pair<double, double>>& steps) {
    if (!lanes_.contains(process)) return;
    std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [at, bytes] : steps) {
      const viz::Microseconds t{at - first_};
      if (t.value >= 0 && t <= out_.timeline.duration) lane(process).memory.push_back({t, {bytes}});
    }
  }

  // One for each name, however often it runs.
  std::int32_t detail(const Event& e) {
    const auto [at, fresh] =
        details_.emplace(std::pair(e.name, e.category), static_cast<std::int32_t>(out_.timeline.details.size()));
    if (fresh) {
      viz::BlockDetail d;
      d.title = e.name;
      d.subtitle = e.category;
      out_.timeline.details.push_back(std::move(d));
    }
    return at->second;
  }

  Events& events_;
  ChromeTrace out_;
  double first_ = 0;
  std::int64_t across_ = 0;
  std::map<std::string, std::size_t> lanes_;
  std::map<std::pair<std::string, std::string>, std::int32_t> details_;
};

}  // namespace

Result<ChromeTrace> read_chrome_trace(std::string_view text, const std::string& file) {
  if (text.size() > most_trace_bytes)
    return about(file, error("the trace is too large",
                             bytes_text(static_cast<double>(text.size())) + ", and " +
                                 bytes_text(static_cast<double>(most_trace_bytes)) + " can be read",
                             "record a shorter time"));
  Events events;
  const Read r = read(text, events);
  // The end of a list of events may be missing: a program that is killed leaves it so.
  const bool cut = !r.whole && events.count > 0 && r.byte >= text.size();
  if (!r.whole && !cut) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(r.byte, text.size())), '\n');
    Diagnostic d =
        about(file, error("it is no Chrome trace", r.problem, "a file that chrome://tracing or Perfetto opens"));
    d.line = static_cast<int>(line);
    return d;
  }
  if (events.count == 0)
    return about(file,
                 error("the trace has no event that takes time",
                       "that is \"ph\": \"X\" with \"ts\" and \"dur\", or a pair of \"B\" and \"E\" with \"ts\"",
                       "record with a profiler that writes these"));
  Result<ChromeTrace> out;
  std::int64_t across = 0, unpaired = events.unpaired;
  for (const auto& [thread, open] : events.begun) unpaired += std::ssize(open);
  out.value = Builder(events).build(across);
  if (cut)
    out.diagnostics.push_back(about(file, warning("the trace ends in the middle",
                                                  std::to_string(events.count) + " events before that are shown", "")));
  if (unpaired > 0)
    out.diagnostics.push_back(
        about(file, warning(std::to_string(unpaired) + " events have a begin or an end alone", "they are left out", "")));
  if (across > 0)
    out.diagnostics.push_back(
        about(file, warning(std::to_string(across) + " events begin before the one before them ends",
                            "they are shown from its end on", "")));
  return out;
}

}  // namespace planscope
