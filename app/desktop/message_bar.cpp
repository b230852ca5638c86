#include "app/desktop/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/session/offers.h"

namespace planscope {

namespace {

constexpr std::size_t most_rows = 4;

QString text(const std::string& s) { return QString::fromStdString(s); }

QString sign(Severity s) {
  return s == Severity::error ? QStringLiteral("✗ ") : s == Severity::warning ? QStringLiteral("! ") : QString();
}

std::vector<std::pair<QString, session::Invocation>> buttons_of(const std::vector<session::Offer>& offers) {
  std::vector<std::pair<QString, session::Invocation>> out;
  for (const session::Offer& o : offers) out.emplace_back(text(o.title), *session::parse_invocation(o.command));
  return out;
}

}  // namespace

MessageBar::MessageBar(QWidget* parent) : QWidget(parent) {
  setObjectName("messages");
  setAccessibleName(tr("Messages"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 4, 6, 4);
  rows_ = new QVBoxLayout;
  rows_->setSpacing(3);
  layout->addLayout(rows_, 1);
  auto* close = new QToolButton;
  close->setObjectName("messages.close");
  close->setText(QStringLiteral("×"));
  close->setToolTip(tr("Put the messages away"));
  close->setAccessibleName(tr("Put the messages away"));
  connect(close, &QToolButton::clicked, this, [this] { put_away(); });
  layout->addWidget(close, 0, Qt::AlignTop);
  hide();
}

void MessageBar::show_state(const session::State& state) {
  std::vector<session::Notice> now = session::notices(state);
  if (messages_ == state.messages && notices_ == now) return;
  messages_ = state.messages;
  notices_ = std::move(now);
  rebuild();
}

void MessageBar::add_refusal(const session::Invocation& invocation, const std::vector<Diagnostic>& diagnostics,
                             std::uint64_t seen) {
  for (const Diagnostic& d : diagnostics) {
    std::erase_if(refusals_, [&](const Refusal& r) { return r.diagnostic == d; });
    refusals_.push_back({invocation, d, seen});
  }
  if (refusals_.size() > 10) refusals_.erase(refusals_.begin(), refusals_.end() - 10);
  rebuild();
}

void MessageBar::add_message(const Diagnostic& diagnostic) { add_refusal({}, {diagnostic}); }

void MessageBar::set_theme(Theme theme) {
  theme_ = theme;
  rebuild();
}

void MessageBar::put_away() {
  refusals_.clear();
  if (!messages_.empty() && on_run) on_run({"dismiss", {}});
  notices_.clear();  // what they are about stays in its panel
  messages_.clear();
  rebuild();
}

void MessageBar::add_row(const QString& message, Severity severity,
                         const std::vector<std::pair<QString, session::Invocation>>& buttons) {
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* label = new QLabel(sign(severity) + message);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setToolTip(message);
  const Colours& c = colours(theme_);
  label->setStyleSheet(QString("color: %1")
                           .arg(severity == Severity::error     ? c.bad
                                : severity == Severity::warning ? c.warning
                                                                : c.text));
  layout->addWidget(label, 1);
  for (const auto& [title, invocation] : buttons) {
    auto* button = new QToolButton;
    button->setText(title);
    button->setObjectName("message.button");
    button->setFocusPolicy(Qt::StrongFocus);
    connect(button, &QToolButton::clicked, this, [this, invocation, message] {
      std::erase_if(refusals_, [&](const Refusal& r) { return text(to_string(r.diagnostic)) == message; });
      if (on_run) on_run(invocation);
      rebuild();
    });
    layout->addWidget(button, 0, Qt::AlignTop);
  }
  rows_->addWidget(row);
  texts_ << message;
}

void MessageBar::rebuild() {
  while (QLayoutItem* item = rows_->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;
  }
  texts_.clear();
  std::size_t more = 0;
  const auto add = [&](const QString& message, Severity severity,
                       const std::vector<std::pair<QString, session::Invocation>>& buttons) {
    if (rows_->count() < static_cast<int>(most_rows))
      add_row(message, severity, buttons);
    else
      ++more;
  };
  for (auto r = refusals_.rbegin(); r != refusals_.rend(); ++r) {
    if (std::find(messages_.begin(), messages_.end(), r->diagnostic) != messages_.end())
      continue;  // the session says it too
    add(text(to_string(r->diagnostic)), r->diagnostic.severity,
        buttons_of(session::ways_out(r->invocation, r->diagnostic, r->seen)));
  }
  for (auto m = messages_.rbegin(); m != messages_.rend(); ++m) add(text(to_string(*m)), m->severity, {});
  for (const session::Notice& n : notices_) add(text(n.said), n.severity, buttons_of(n.offers));
  if (more > 0) add_row(tr("and %1 more").arg(more), Severity::note, {});
  setVisible(!texts_.isEmpty());
}

}  // namespace planscope
