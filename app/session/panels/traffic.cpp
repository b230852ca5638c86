#include <algorithm>
#include <cmath>

#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/session/traffics.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Cell device_rows(const TrafficFacts& t) {
  Json out = Json::array();
  for (std::size_t k = 0; k < t.rows.size(); ++k) t.devices_per_row == 1 ? out.push_back(k) : out.push_back(t.row_devices[k]);
  return {std::move(out), ""};
}

Cell matrix(const TrafficFacts& t, double TrafficCell::* what) {
  std::vector<std::vector<double>> sums(t.rows.size(), std::vector<double>(t.rows.size(), 0));
  for (const TrafficCell& c : t.cells)
    sums[static_cast<std::size_t>(c.from)][static_cast<std::size_t>(c.to)] += c.*what;
  Json out = Json::array();
  for (const std::vector<double>& row : sums) {
    out.push_back(Json::array());
    for (const double v : row)
      out.back().push_back(what == &TrafficCell::us ? Json(v) : Json(static_cast<std::int64_t>(v + 0.5)));
  }
  return {std::move(out), ""};
}

Cell links(const TrafficFacts& t) {
  Json out = Json::array();
  std::vector<std::string> texts;
  const double interval = t.links.empty() ? 0 : t.duration_us / static_cast<double>(t.links[0].bytes.size());
  for (const LinkLoad& l : t.links) {
    const double most = *std::max_element(l.bytes.begin(), l.bytes.end());
    const double share = l.bandwidth > 0 && interval > 0 ? most / (l.bandwidth * interval * 1e-6) : 0;
    out.push_back({{"level", l.name}, {"bandwidth", l.bandwidth}, {"bytes", l.sent}, {"peak_share", share},
        {"interval_us", interval},
                   {"bytes_by_interval", l.bytes}});
    texts.push_back(l.name + " " + bytes_text(l.sent) + ", at most " + cell(share, Unit::share).text);
  }
  return {std::move(out), texts.empty() ? "–" : join(texts, "; "), Tone::plain,
          "sent by the device that sends most, and the largest share of its bandwidth in an interval"};
}

Cell exposed(const Communicator& c) {
  if (c.exposed_us >= 0)
    return cell(c.exposed_us, Unit::microseconds, c.exposed_us > 0 ? Tone::warning : Tone::plain);
  return cell(nullptr, Unit::none, Tone::plain, "the step is too long for single messages to be recorded");
}

}  // namespace

Panel traffic_panel(const State& s) {
  Panel p{.id = "traffic", .title = "Communicators", .kind = PanelKind::table};
  p.empty = "Shows which devices communicate, how much, over which links and when. Open a model and write a plan, as: "
            "devices 4 as data=4";
  p.rows_id = "communicators";
  p.columns = {{"kind", "Kind"}, {"over", "Over"}, {"devices", "Devices"}, {"groups", "Groups", Unit::count},
               {"size", "Size", Unit::count}, {"count", "Count", Unit::count}, {"bytes", "Bytes", Unit::bytes},
               {"level", "Links"}, {"busy_us", "Busy", Unit::microseconds},
               {"exposed_us", "Exposed", Unit::microseconds}, {"first_us", "First", Unit::microseconds},
               {"last_us", "Last", Unit::microseconds}, {"classes", "Device classes", Unit::none, true},
               {"sent_bytes", "Sent", Unit::bytes, true}, {"messages", "Message sizes", Unit::none, true},
               {"members", "Devices of each group"}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const std::shared_ptr<const TrafficFacts> shown = traffic_shown(s);
  const TrafficFacts& t = *shown;
  const Marked marked(s);
  const std::string brush = brush_text(s);
  double sent = 0;
  for (const TrafficCell& c : t.cells) sent += c.bytes;
  const std::int64_t all = bytes_sent(d->shown->evaluation->simulation);
  p.facts = {{"sent_bytes", brush.empty() ? "Sent by all devices" : "Sent of it by all devices",
              cell(brush.empty() ? all : std::llround(sent), Unit::bytes)},
             {"device_count", "Devices", cell(t.devices, Unit::count)},
             {"devices_per_row", "Devices in a row of the matrix", cell(t.devices_per_row, Unit::count)},
             {"links", "Links", links(t)},
             {"devices", "Rows of the matrix", device_rows(t), "", true},
             {"matrix", "Bytes from device to device", matrix(t, &TrafficCell::bytes), "", true},
             {"messages", "Messages from device to device", matrix(t, &TrafficCell::messages), "", true},
             {"times_us", "Time from device to device", matrix(t, &TrafficCell::us), "", true}};
  if (!brush.empty()) p.facts.insert(p.facts.begin(), {"brush", "Shown", cell(brush), "brush"});
  for (std::size_t k = 0; k < t.communicators.size(); ++k) {
    const Communicator& c = t.communicators[k];
    Json sizes = Json::array();
    for (const MessageSize& m : c.messages) sizes.push_back({{"bytes", m.bytes}, {"count", m.count}, {"first_us", m.first_us}, {"last_us", m.last_us}});
    TableRow row{.id = std::to_string(k)};
    row.cells = {cell(c.kind), cell(among(c)), cell(c.devices), cell(c.groups, Unit::count), cell(c.size, Unit::count),
                 cell(c.count, Unit::count), cell(c.bytes, Unit::bytes), cell(c.level_name),
                 cell(c.busy_us, Unit::microseconds), exposed(c), cell(c.first_us, Unit::microseconds),
                 cell(c.last_us, Unit::microseconds), cell(c.classes), cell(c.sent, Unit::bytes),
                 {std::move(sizes), ""}, {c.members, shortened(join(c.members, " | "), 60)}};
    row.command = print(Invocation{"select", {{"communicator", join(c.names, "\n")}}});
    row.selected = marked.communicator(c);
    p.rows.push_back(std::move(row));
  }
  return p;
}

namespace {

// The matrix of the traffic as rows, the most bytes first; each selects the devices that send.
Panel cells(const State& s, std::size_t most) {
  Panel p{.id = "cells", .title = "Cells", .kind = PanelKind::table};
  p.empty = "Shows what goes from which devices to which others. Open a model and write a plan, as: devices 4 as data=4";
  p.columns = {{"from", "From"}, {"to", "To"}, {"kind", "Kind"}, {"over", "Over"}, {"bytes", "Bytes", Unit::bytes},
               {"messages", "Messages", Unit::count}, {"us", "Time", Unit::microseconds}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const std::shared_ptr<const TrafficFacts> t = traffic_shown(s);
  const Marked marked(s);
  std::vector<const TrafficCell*> order;
  for (const TrafficCell& c : t->cells) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(), [](const TrafficCell* a, const TrafficCell* b) { return a->bytes > b->bytes; });
  p.facts.push_back({"count", "Cells", cell(std::ssize(order), Unit::count)});
  if (order.size() > most) {
    p.facts.push_back({"listed", "Listed", cell(static_cast<std::int64_t>(most), Unit::count, Tone::warning,
                                                "those with the most bytes; `export cells FILE.csv` writes all")});
    order.resize(most);
  }
  for (const TrafficCell* c : order) {
    const Communicator& of = t->communicators[static_cast<std::size_t>(c->communicator)];
    const std::size_t from = static_cast<std::size_t>(c->from), to = static_cast<std::size_t>(c->to);
    TableRow row{.id = std::to_string(p.rows.size())};
    row.cells = {cell(t->row_devices[from]), cell(t->row_devices[to]), cell(of.kind), cell(among(of)),
                 cell(std::llround(c->bytes), Unit::bytes), cell(std::llround(c->messages), Unit::count),
                 cell(c->us, Unit::microseconds)};
    if (!t->places[from].empty()) row.command = print(Invocation{"select", {{"place", t->places[from]}}});
    row.selected = marked.communicator(of);
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace

Panel cells_panel(const State& s) { return cells(s, 2'000); }
Panel all_cells_panel(const State& s) { return cells(s, 1'000'000); }

}  // namespace planscope::session
