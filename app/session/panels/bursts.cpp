// When communicators send, over the step.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/session/traffics.h"
#include "engine/base/format.h"

namespace planscope::session {

namespace {

constexpr std::size_t most_series = 6;

// `264 KiB in 8 of 240 intervals, at most 12.00 KiB in one, at 120 µs`
std::string what_it_comes_to(const std::vector<double>& bytes, double interval) {
  const auto busy = std::count_if(bytes.begin(), bytes.end(), [](double b) { return b > 0; });
  if (busy == 0) return "nothing";
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return bytes_text(std::accumulate(bytes.begin(), bytes.end(), 0.0)) + " in " + std::to_string(busy) +
         " of " + std::to_string(bytes.size()) + " intervals, at most " + bytes_text(*most) + " in one, at " +
         time_text(static_cast<double>(most - bytes.begin()) * interval);
}

// Each interval is as wide as it is in the chart: a point where it begins, and one where it ends.
Series series_of(const Communicator& c, double interval) {
  Series out{.name = c.kind + " over " + among(c), .unit = Unit::bytes, .along = Unit::microseconds};
  for (std::size_t k = 0; k < c.bursts.size(); ++k)
    for (const std::size_t end : {k, k + 1}) out.points.emplace_back(static_cast<double>(end) * interval, c.bursts[k]);
  out.said = what_it_comes_to(c.bursts, interval);
  return out;
}

}  // namespace

Panel bursts_panel(const State& s) {
  Panel p{.id = "bursts", .title = "Bursts", .kind = PanelKind::chart};
  p.empty = "Draws when communicators send over the step: those of the selection, without one those that send most. Open a "
            "model and write a plan, as: devices 4 as data=4";
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const std::shared_ptr<const TrafficFacts> t = traffic_shown(s);
  const Marked marked(s);
  std::vector<const Communicator*> all, selected;
  for (const Communicator& c : t->communicators) {
    all.push_back(&c);
    if (marked.communicator(c)) selected.push_back(&c);
  }
  std::vector<const Communicator*>& drawn = selected.empty() ? all : selected;
  if (drawn.empty()) {
    p.empty = "No device sends anything to another one.";
    return p;
  }
  const double interval = t->duration_us / static_cast<double>(drawn.front()->bursts.size());
  if (const std::string brush = brush_text(s); !brush.empty()) p.facts.push_back({"brush", "Shown", cell(brush), "brush"});
  p.facts.push_back({"interval_us", "Interval", cell(interval, Unit::microseconds, Tone::plain,
                                                     "a point is what all devices of a communicator send in one interval")});
  if (drawn.front()->exposed_us < 0)
    p.facts.push_back({"recorded", "Recorded", cell("the communication of each slot", Unit::none, Tone::warning,
                                                    "the step is too long for single messages to be recorded: what a slot "
                                                    "sends is spread over the time in which it communicates")});
  if (drawn.size() > most_series) {
    p.facts.push_back({"drawn", "Drawn", cell(std::to_string(most_series) + " of " + std::to_string(drawn.size()), Unit::none,
                                              Tone::warning, "those with the most bytes; select others to see them")});
    drawn.resize(most_series);
  }
  for (const Communicator* c : drawn) p.series.push_back(series_of(*c, interval));
  return p;
}

}  // namespace planscope::session
