#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

template <class T>
Json maybe(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

// What the kept version comes to: as it was evaluated here, else as it was stored.
std::optional<Figures> base_figures(const Document& d) {
  if (d.is_now(d.base) && d.base->text == d.draft.kept()) return figures_of(*d.base);
  return std::nullopt;
}

// What the draft would change.
Cell preview(const Document& d) {
  if (!d.draft.edited() || !d.current() || !d.shown->evaluation) return cell(nullptr);
  const Figures now = figures_of(*d.shown);
  Json out = {{"step_us", maybe(now.step_us)},
              {"step_delta_us", nullptr},
              {"peak_delta_bytes", nullptr},
              {"sent_delta_bytes", nullptr},
              {"verdict", now.verdict.empty() ? Json() : Json(now.verdict)}};
  const bool was_evaluated = d.base && d.base->text == d.draft.kept();
  std::string text = !d.version || d.draft.kept().empty() ? "not compared: nothing is kept yet"
                     : was_evaluated                      ? "not compared: the version that was kept has no figures"
                                                          : "not compared yet: the version that was kept is being evaluated";
  Tone tone = Tone::dim;
  if (const std::optional<Figures> was = base_figures(d); was && was->step_us) {
    const double step = *now.step_us - *was->step_us;
    const std::int64_t peak = *now.peak_bytes - *was->peak_bytes, sent = *now.sent_bytes - *was->sent_bytes;
    out["step_delta_us"] = step, out["peak_delta_bytes"] = peak, out["sent_delta_bytes"] = sent;
    const auto sign = [](double v) { return v > 0 ? "+" : ""; };
    const auto signed_time = [&](double v) {
      return v < 0 ? "-" + cell(-v, Unit::microseconds).text : sign(v) + cell(v, Unit::microseconds).text;
    };
    text = "step " + signed_time(step) + ", peak " + sign(static_cast<double>(peak)) + cell(peak, Unit::bytes).text +
           ", sent " + sign(static_cast<double>(sent)) + cell(sent, Unit::bytes).text;
    tone = step < 0 ? Tone::good : Tone::plain;
  }
  return {std::move(out), text, tone, "what the edits change, compared with the version that was kept last"};
}

}  // namespace

Panel chips_panel(const State& s) {
  Panel p{.id = "chips", .title = "Figures", .kind = PanelKind::chips};
  const Document* d = s.document();
  if (!d) {
    p.empty = "Open a model to see what a plan for it comes to.";
    return p;
  }
  const Figures f = d->shown ? figures_of(*d->shown) : Figures{};
  // While there is no answer for the newest text, whatever is said is of an older one.
  say_whether_current(p, *d);
  const bool refused = d->latest && d->latest->state == PictureState::refused && d->latest->text == d->draft.text();
  const bool open = d->current(d->valid) && d->valid->open;
  const bool pending = f.step_us && f.verdict.empty();  // of what there is a prediction for, the proof is not there yet
  const std::string verdict = refused ? "refused" : open ? "open" : pending ? "pending" : f.verdict;
  const Tone tone = p.current ? Tone::plain : Tone::dim;
  const bool over = f.peak_bytes && f.memory_bytes && *f.peak_bytes > *f.memory_bytes;
  const std::string memory =
      f.peak_bytes && f.memory_bytes ? "of " + cell(*f.memory_bytes, Unit::bytes).text + " of the device" : "";
  p.facts = {
      {"model", "Model", cell(d->model->model->name, Unit::none, Tone::plain, d->model->model->path), "open"},
      {"plan", "Plan", cell(d->name, Unit::none, Tone::plain, d->path), "save"},
      {"version", "Version", cell(d->version ? Json(*d->version) : Json()), "version"},
      {"modified", "Edited", cell(d->draft.edited())},
      {"cluster", "Cluster", cell(d->cluster), "cluster"},
      {"verdict", "Verdict", cell(verdict.empty() ? Json() : Json(verdict), Unit::none, tone_of_verdict(verdict))},
      {"step_us", "Step", cell(maybe(f.step_us), Unit::microseconds, tone, f.origin)},
      {"origin", "Origin", cell(f.origin.empty() ? Json() : Json(f.origin))},
      {"peak_bytes", "Peak memory", cell(maybe(f.peak_bytes), Unit::bytes, over ? Tone::bad : tone, memory)},
      {"memory_bytes", "Device memory", cell(maybe(f.memory_bytes), Unit::bytes, tone)},
      {"sent_bytes", "Sent", cell(maybe(f.sent_bytes), Unit::bytes, tone, "in a step, by all devices together")},
      {"current", "Current", cell(p.current), "", true},
      {"preview", "Change", preview(*d), "keep"},
  };
  return p;
}

}  // namespace planscope::session
