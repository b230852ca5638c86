#include "app/session/marked.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostShown = 20'000, kMost = 2'000'000;

Cell or_null(const std::string& text) { return cell(text.empty() ? Json() : Json(text)); }

// The table twin of the timeline's canvas: a row for each of its blocks.
Panel blocks(const State& s, std::size_t most) {
  Panel p{.id = "blocks", .title = "Blocks", .kind = PanelKind::table};
  p.empty = "Lists what every device does in a step, block by block. Open a model and write a plan.";
  p.columns = {{"devices", "Devices"}, {"stream", "Stream"}, {"block", "Block"}, {"kind", "Kind"}, {"micro_batch", "Micro-batch"},
               {"start_us", "From", Unit::microseconds}, {"time_us", "Time", Unit::microseconds}, {"what", "What"}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const std::shared_ptr<const viz::TimelineModel> made = d->shown->study->timeline(window_of(s.lanes.detail_us));
  const viz::TimelineModel& t = *made;
  const viz::MarkedBlocks marked = viz::marked_blocks(t, viz::parse_timeline_marks(Marked(s).timeline_ids()));
  std::size_t count = 0;
  for (std::size_t l = 0; l < t.lanes.size(); ++l) {
    const viz::Lane& lane = t.lanes[l];
    for (std::size_t k = 0; k < lane.streams.size(); ++k)
      for (std::size_t b = 0; b < lane.streams[k].blocks.size(); ++b) {
        if (++count > most) continue;
        const viz::Block& block = lane.streams[k].blocks[b];
        TableRow row{.id = std::to_string(l) + "/" + std::to_string(k) + "/" + std::to_string(b)};
        const viz::BlockDetail none;
        const viz::BlockDetail& about = block.instruction < 0 ? none : t.details[static_cast<std::size_t>(block.instruction)];
        row.cells = {cell(lane.name), cell(lane.streams[k].name), or_null(block.label), cell(viz::name_of(block.kind)),
                     cell(block.micro_batch < 0 ? Json() : Json(block.micro_batch)), cell(block.start.value, Unit::microseconds),
                     cell(block.duration.value, Unit::microseconds), or_null(about.title)};
        const viz::BlockRef ref{static_cast<int>(l), static_cast<int>(k), static_cast<int>(b)};
        const std::string what = about.plan_line > 0 ? "statement=" + std::to_string(about.plan_line) : "none";
        row.command = "select " + what + " " + viz::block_arguments(t, ref);  // as a click on it
        row.selected = viz::is_marked(marked, ref);
        p.rows.push_back(std::move(row));
      }
  }
  p.facts = {{"count", "Blocks", cell(count, Unit::count)}};
  if (s.sought.in == d->shown->study)
    p.facts.push_back({"found", "Found '" + s.sought.text + "'",
                       cell(std::to_string(s.sought.at) + " of " + std::to_string(s.sought.of)), "seek_next"});
  if (count > most)
    p.facts.push_back({"listed", "Listed",
                       cell(most, Unit::count, Tone::warning, "the first ones; the canvas shows all, and `export blocks FILE.csv` writes them")});
  return p;
}

}  // namespace

Panel blocks_panel(const State& s) { return blocks(s, kMostShown); }
Panel all_blocks_panel(const State& s) { return blocks(s, kMost); }

}  // namespace planscope::session
