#include "app/server/session_host.h"

#include <algorithm>

#include "app/server/wire.h"
#include "app/session/choices.h"
#include "app/session/completion.h"
#include "app/session/locator.h"
#include "app/session/notices.h"
#include "app/session/offers.h"
#include "app/session/panel_wire.h"
#include "app/session/value_help.h"

namespace planscope::server {

using session::State;

SessionHost::SessionHost(session::SessionSettings settings, std::function<void()> changed)
    : start_(random_name()), changed_(std::move(changed)), session_(std::move(settings)) {
  for (const session::PanelInfo& p : session::panels()) panels_.try_emplace(p.id);
  for (const session::CanvasInfo& c : session::canvases()) canvases_.try_emplace(c.id);
  session_.on_change([this] {
    ++revision_;
    changed_();
  });
}

SessionHost::~SessionHost() {
  end_jobs();
  session_.on_change({});
}

bool SessionHost::has_panel(const std::string& id) {
  const auto all = session::panels();
  return std::any_of(all.begin(), all.end(), [&](const session::PanelInfo& p) { return id == p.id; });
}

SessionHost::KeptPanel* SessionHost::find_panel(const std::string& id) {
  const auto found = panels_.find(id);
  return found == panels_.end() ? nullptr : &found->second;
}

SessionHost::KeptCanvas* SessionHost::find_canvas(const std::string& id, const session::CanvasInfo*& info) {
  for (const session::CanvasInfo& c : session::canvases())
    if (id == c.id) {
      info = &c;
      return &canvases_.at(id);
    }
  return nullptr;
}

Result<Done> SessionHost::run(const session::Invocation& i, int document) {
  if (document == 0) return session_.apply(i);
  const State state = session_.state();
  const auto is = [&](const session::Document& d) { return d.id == document; };
  if (std::none_of(state.documents.begin(), state.documents.end(), is))
    return error("there is no document " + std::to_string(document), "it has been closed");
  const int current = state.document()->id;
  if (current == document) return session_.apply(i);
  Result<Done> done = session_.apply({"document", {{"number", std::to_string(document)}}});
  if (!done.ok()) return done;
  done = session_.apply(i);
  session_.apply({"document", {{"number", std::to_string(current)}}});
  return done;
}

bool SessionHost::refresh() {
  session_.refresh();
  return true;
}

Result<std::string> SessionHost::exported(const session::Invocation& i, const std::string& view) const {
  return session_.exported(i, view);
}

void SessionHost::wait() { session_.wait(); }

void SessionHost::end_jobs() {
  for (const session::Job& j : session_.state().jobs)
    if (j.state == session::JobState::queued || j.state == session::JobState::running)
      session_.apply({"cancel", {{"job", std::to_string(j.id)}}});
}

void SessionHost::leave() {
  end_jobs();
  session_.leave_drafts();
}

std::optional<Made> SessionHost::ready_panel(const std::string& id, Form form) {
  KeptPanel* kept = find_panel(id);
  if (!kept) return std::nullopt;
  const std::unique_lock lock(kept->mutex, std::try_to_lock);
  if (!lock || kept->revision != revision_ || !kept->body(form)) return std::nullopt;
  return Made{kept->body(form), kept->revision};
}

Made SessionHost::panel(const std::string& id, Form form) {
  KeptPanel* kept = find_panel(id);
  if (!kept) return {};
  const std::lock_guard lock(kept->mutex);
  const std::uint64_t now = revision_;  // before the state: what is said to be of a revision is never older
  if (!kept->panel || kept->revision != now) {
    session::Panel p = *session::make_panel(id, session_.state());
    if (!kept->panel || !(*kept->panel == p)) {
      kept->panel = std::move(p);
      kept->values = kept->whole = nullptr;
    }
    kept->revision = now;
  }
  BodyPtr& body = kept->body(form);
  if (!body)
    body = json_body(form == Form::values ? session::to_json(*kept->panel) : session::whole_json(*kept->panel));
  return {body, kept->revision};
}

std::string SessionHost::tag_of(KeptCanvas& kept, const session::CanvasInfo& info, const State& s) {
  const session::CanvasSource source = info.source(s);
  if (!source.of) return "";
  if (kept.etag.empty() || !(kept.source == source)) {
    kept.source = source;
    kept.etag = start_ + "-" + std::to_string(++models_);
    kept.body = nullptr;
  }
  return kept.etag;
}

Made SessionHost::canvases() {
  const std::uint64_t now = revision_;
  const State s = session_.state();
  Json out = Json::array();
  for (const session::CanvasInfo& c : session::canvases()) {
    KeptCanvas& kept = canvases_.at(c.id);
    const std::lock_guard lock(kept.mutex);
    const std::string etag = tag_of(kept, c, s);
    const session::CanvasWords words = session::words_of(c, s);
    const session::Document* d = s.document();
    const bool set = d && d->views.contains(c.id);
    Json keys = Json::array();
    for (const session::CanvasKey& k : session::keys_of(c)) keys.push_back({{"keys", k.keys}, {"about", k.about}});
    out.push_back({{"id", c.id},
                   {"scene", c.scene},
                   {"title", c.title},
                   {"twin", c.twin},
                   {"empty", words.empty},
                   {"keys", std::move(keys)},
                   {"model", etag.empty() ? Json() : Json(etag)},
                   {"view", set ? Json::parse(d->views.at(c.id)) : Json()},
                   {"current", words.stale.empty()},
                   {"reason", words.stale}});
  }
  return {json_body({{"canvases", std::move(out)}}), now};
}

Made SessionHost::canvas(const std::string& id) {
  const session::CanvasInfo* info = nullptr;
  KeptCanvas* kept = find_canvas(id, info);
  if (!kept) return {};
  const std::lock_guard lock(kept->mutex);
  const std::uint64_t now = revision_;
  const State s = session_.state();
  const std::string etag = tag_of(*kept, *info, s);
  if (etag.empty()) return {};
  if (!kept->body) kept->body = std::make_shared<const Body>("application/octet-stream", info->model(s), etag);
  return {kept->body, now};
}

Made SessionHost::marks(const std::string& id) {
  const session::CanvasInfo* info = nullptr;
  if (!find_canvas(id, info)) return {};
  const std::uint64_t now = revision_;
  const State s = session_.state();
  return {json_body({{"marks", info->source(s).of ? info->marks(s) : std::vector<std::string>{}}}), now};
}

Made SessionHost::selection() {
  const std::uint64_t now = revision_;
  const State s = session_.state();
  const session::Selection& it = s.selection;
  Json time;
  if (s.time) {
    time = {{"lanes", s.time->lanes}, {"stream", s.time->stream}};
    time["from_us"] = s.time->us ? Json(s.time->us->first) : Json();
    time["to_us"] = s.time->us ? Json(s.time->us->second) : Json();
  }
  return {json_body({{"document", s.document() ? s.document()->id : 0},
                     {"operators", it.operators},
                     {"tensor", it.tensor},
                     {"place", it.place},
                     {"statement", it.statement},
                     {"communicator", it.communicator},
                     {"asked", s.selections},
                     {"time", std::move(time)},
                     {"theme", s.preferences.get("theme")},
                     {"front", {{"panel", s.front.panel}, {"canvas", s.front.canvas}, {"asked", s.front.asked}}}}),
          now};
}

std::vector<std::string> SessionHost::document_names() const {
  std::vector<std::string> out;
  for (const session::Document& d : session_.state().documents) out.push_back(d.model->model->name + " · " + d.name);
  return out;
}

std::uint64_t SessionHost::seen() const {
  const State s = session_.state();
  return s.document() ? s.document()->seen.newest() : 0;
}

Made SessionHost::commands() {
  const std::uint64_t now = revision_;
  return {json_body({{"commands", commands_json(session_.state())}}), now};
}

Made SessionHost::choices(const std::string& command, const std::string& argument) {
  const std::uint64_t now = revision_;
  Json out = Json::array();
  for (const session::Choice& c : session::choices(session_.state(), command, argument))
    out.push_back({{"value", c.value}, {"about", c.about}});
  const Result<session::Invocation> begun = session::parse_begun(command);
  const std::string value = begun.ok() ? session::value_now(session_.state(), *begun, argument) : "";
  return {json_body({{"choices", std::move(out)}, {"now", value}}), now};
}

Made SessionHost::offers(const std::string& line) {
  const std::uint64_t now = revision_;
  const State s = session_.state();
  const session::Offers offers = session::offers(s, line);
  Json out = Json::array();
  for (const session::Offer& o : offers.all) {
    Json values = Json::object();  // that a form shows, where its arguments are asked for
    const Result<session::Invocation> begun = session::parse_begun(o.command);
    if (o.asks && begun.ok())
      for (const session::ArgumentInfo& a : session::find_command(begun->id)->arguments)
        if (const std::string value = session::value_now(s, *begun, a.name); !value.empty()) values[a.name] = value;
    out.push_back({{"group", o.group},
                   {"title", o.title},
                   {"command", o.command},
                   {"beside", o.beside},
                   {"reason", o.reason},
                   {"asks", o.asks},
                   {"values", std::move(values)}});
  }
  return {json_body({{"title", offers.title}, {"select", offers.select}, {"offers", std::move(out)}}), now};
}

Made SessionHost::targets() {
  const std::uint64_t now = revision_;
  Json out = Json::array();
  for (const session::Target& t : session::targets(session_.state()))
    out.push_back({{"title", t.title}, {"about", t.about}, {"command", t.command}});
  return {json_body({{"targets", std::move(out)}}), now};
}

Made SessionHost::notices() {
  const std::uint64_t now = revision_;
  Json out = Json::array();
  for (const session::Notice& n : session::notices(session_.state())) out.push_back(notice_json(n));
  return {json_body({{"notices", std::move(out)}}), now};
}

Made SessionHost::completions(const std::string& text, std::size_t cursor) {
  const std::uint64_t now = revision_;
  const State s = session_.state();
  session::Completion found;
  if (const session::Document* d = s.document()) found = session::complete(*d, text, std::min(cursor, text.size()));
  Json items = Json::array();
  for (const session::CompletionItem& i : found.items) items.push_back({{"text", i.text}, {"about", i.about}});
  return {json_body({{"from", found.from}, {"items", std::move(items)}, {"whole", found.whole}}), now};
}

}  // namespace planscope::server
