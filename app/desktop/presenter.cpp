#include "app/desktop/presenter.h"

#include <algorithm>

#include "app/session/panels/panels.h"

namespace planscope {

Presenter::Presenter(Look look, Deliver deliver)
    : look_(std::move(look)), deliver_(std::move(deliver)), thread_([this] { work(); }) {}

Presenter::~Presenter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Presenter::look_at(std::set<std::string> panels) {
  {
    const std::lock_guard lock(mutex_);
    if (wanted_ == panels) return;
    wanted_ = std::move(panels);
  }
  changed();
}

void Presenter::changed() {
  {
    const std::lock_guard lock(mutex_);
    dirty_ = true;
  }
  wake_.notify_all();
}

bool Presenter::busy() const {
  const std::lock_guard lock(mutex_);
  return dirty_ || working_;
}

void Presenter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return dirty_ || ending_; });
    if (ending_) return;
    dirty_ = false;
    working_ = true;
    const std::set<std::string> wanted = wanted_;
    lock.unlock();
    Shown shown = look_();
    add_panels(shown, wanted);
    add_canvases(shown, wanted);
    deliver_(std::move(shown));
    lock.lock();
    working_ = false;
  }
}

void Presenter::add_panels(Shown& shown, const std::set<std::string>& wanted) {
  for (const session::PanelInfo& info : session::panels()) {
    if (!wanted.contains(info.id)) continue;
    session::Panel panel = info.make(shown.state);
    std::shared_ptr<const session::Panel>& known = panels_[info.id];
    if (!known || !(*known == panel)) known = std::make_shared<const session::Panel>(std::move(panel));
    shown.panels[info.id] = known;
  }
}

void Presenter::add_canvases(Shown& shown, const std::set<std::string>& wanted) {
  std::erase_if(drawn_, [&](const auto& d) {
    return std::none_of(shown.state.documents.begin(), shown.state.documents.end(),
                        [&](const session::Document& o) { return o.id == d.first.first; });
  });
  const session::Document* d = shown.state.document();
  if (!d) return;
  for (const session::CanvasInfo& info : session::canvases()) {
    if (!wanted.contains(std::string("canvas.") + info.id)) continue;
    shown.words[info.id] = session::words_of(info, shown.state);
    session::CanvasSource source = info.source(shown.state);
    if (!source.of) continue;
    Drawn& drawn = drawn_[{d->id, info.id}];
    if (!(drawn.source == source)) {
      auto model = std::make_shared<const std::string>(info.model(shown.state));
      if (!drawn.model || *drawn.model != *model) drawn.model = std::move(model);
      drawn.source = std::move(source);
    }
    const auto view = d->views.find(info.id);
    shown.canvases[info.id] = {drawn.model, info.marks(shown.state), view == d->views.end() ? "" : view->second};
  }
}

}  // namespace planscope
