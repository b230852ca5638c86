#include "planner/simulate/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace planscope {
namespace {

using nlohmann::json;

double us(Nanoseconds t) { return static_cast<double>(t) / 1000; }

json metadata(std::size_t process, int thread, const char* what, const std::string& name) {
  return {{"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

json complete(std::size_t process, int thread, std::string name, std::string_view category, Nanoseconds start,
              Nanoseconds end, json args) {
  return {{"ph", "X"},       {"pid", process},  {"tid", thread},          {"name", std::move(name)},
          {"cat", category}, {"ts", us(start)}, {"dur", us(end - start)}, {"args", std::move(args)}};
}

class Writer {
 public:
  Writer(const Graph& g, const Program& p, const Simulation& s) : graph_(g), program_(p), simulation_(s) {}

  std::string write() {
    text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    for (std::size_t c = 0; c < simulation_.classes.size(); ++c) write_class(c);
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  void add(const json& event) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += event.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  // Lanes that a run may have: the network's and those of host memory only where there is something in them.
  static bool is_used(const ClassTimeline& timeline, Stream s) {
    if (s == Stream::compute || s == Stream::collective || s == Stream::transfer) return true;
    if (s == Stream::offload || s == Stream::restore) return timeline.host > 0;
    return std::any_of(timeline.communication.begin(), timeline.communication.end(),
                       [s](const InstructionBlock& b) { return b.stream == s; });
  }

  void write_class(std::size_t c) {
    const ClassTimeline& timeline = simulation_.classes[c];
    add(metadata(c, 0, "process_name",
                 program_.classes[c].name + " (" + std::to_string(timeline.devices) + " devices)"));
    for (Stream s :
         {Stream::compute, Stream::collective, Stream::network, Stream::transfer, Stream::offload, Stream::restore})
      if (is_used(timeline, s)) add(metadata(c, static_cast<int>(s), "thread_name", std::string(to_string(s))));
    for (const SlotBlock& b : timeline.slots)
      if (b.end > b.start)
        add(complete(c, 0, label(program_, b), to_string(program_.segments[static_cast<std::size_t>(b.segment)].phase),
                     b.start, b.end, {{"index", index_of(program_, b)}}));
    for (const std::vector<InstructionBlock>* list : {&timeline.instructions, &timeline.communication})
      for (const InstructionBlock& b : *list) write_instruction(c, timeline, b);
    for (const MemoryPoint& p : timeline.memory)
      add({{"ph", "C"}, {"pid", c}, {"name", "memory"}, {"ts", us(p.time)}, {"args", {{"bytes", p.bytes}}}});
  }

  void write_instruction(std::size_t c, const ClassTimeline& timeline, const InstructionBlock& b) {
    const SlotBlock& slot = timeline.slots[static_cast<std::size_t>(b.slot)];
    json args = {{"slot", label(program_, slot)}};
    if (b.instruction >= 0) {
      const Instruction& i = program_.segments[static_cast<std::size_t>(slot.segment)]
                                 .instructions[static_cast<std::size_t>(b.instruction)];
      const std::vector<ProgramValueId>& made = i.out.empty() ? i.in : i.out;
      if (!made.empty() && made.front() >= 0)
        args["tensor"] = graph_.tensor_name(program_.values[static_cast<std::size_t>(made.front())].tensor);
    }
    add(complete(c, static_cast<int>(b.stream), label(program_, timeline, b), to_string(b.stream), b.start, b.end,
                 std::move(args)));
  }

  const Graph& graph_;
  const Program& program_;
  const Simulation& simulation_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

std::string to_chrome_trace(const Graph& graph, const Program& program, const Simulation& simulation) {
  return Writer(graph, program, simulation).write();
}

}  // namespace planscope
