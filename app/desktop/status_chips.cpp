#include "app/desktop/status_chips.h"

#include <QHBoxLayout>

namespace planscope {
namespace {

QString html(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }
QString bold(const std::string& text) { return "<b>" + html(text) + "</b>"; }
QString coloured(const QString& text, const char* colour) {
  return QString("<span style='color:%1'>%2</span>").arg(colour, text);
}

QString verdict_html(const VerdictView& verdict, const Colours& c) {
  const auto sign = [&]() -> std::pair<const char*, const char*> {
    switch (verdict.state) {
      case VerdictState::equivalent:
        return {"✓ ", c.ok};
      case VerdictState::relaxed:
        return {"≈ ", c.warning};
      case VerdictState::different:
        return {"✗ ", c.bad};
      case VerdictState::refused:
        return {"✗ ", c.bad};
      case VerdictState::unknown:
        return {"? ", c.warning};
      default:
        return {"", c.dim};
    }
  }();
  QString s = coloured(QString::fromUtf8(sign.first) + html(verdict.text), sign.second);
  if (!verdict.detail.empty()) s += coloured("&nbsp; " + html(verdict.detail), c.dim);
  return s;
}

}  // namespace

StatusChips::StatusChips(QWidget* parent) : QWidget(parent) {
  setObjectName("chips");
  setAttribute(Qt::WA_StyledBackground);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 6, 12, 6);
  layout->setSpacing(9);
  model_ = chip("chip.model");
  model_->setProperty("chip", false);
  plan_ = chip("chip.plan"), cluster_ = chip("chip.cluster"), verdict_ = chip("chip.verdict"),
  step_ = chip("chip.step");
  peak_ = chip("chip.peak"), busy_ = chip("chip.busy");
  busy_->setProperty("chip", false);
  for (QLabel* label : {model_, plan_, cluster_, verdict_, step_, peak_, busy_}) layout->addWidget(label);
  layout->addStretch(1);
  auto* hint = new QLabel(tr("Ctrl+Shift+P  any command"), this);
  hint->setObjectName("hint");
  layout->addWidget(hint);
}

QLabel* StatusChips::chip(const char* name) {
  auto* label = new QLabel(this);
  label->setObjectName(name);
  label->setProperty("chip", true);
  label->setTextFormat(Qt::RichText);
  return label;
}

void StatusChips::show_snapshot(const SessionSnapshot& s, bool modified, bool busy, Theme theme) {
  const Colours& c = colours(theme);
  const auto show = [](QLabel* label, bool visible, const QString& text) {
    label->setText(text);
    label->setVisible(visible);
  };
  show(model_, true,
       s.model_name.empty() ? coloured(tr("no model"), c.dim)
                            : bold(s.model_name) + coloured("&nbsp; " + html(s.model_summary), c.dim));
  const std::string plan = s.plan_name.empty() ? "untitled" : s.plan_name;
  show(plan_, true, tr("plan ") + bold(plan) + (modified ? coloured(tr(" · changed"), c.dim) : QString()));
  show(cluster_, !s.cluster_name.empty(), html(s.cluster_name));
  show(verdict_, s.verdict.state != VerdictState::none, verdict_html(s.verdict, c));
  show(step_, s.step.has_value(),
       s.step ? tr("step ") + bold(viz::format_time(*s.step)) + coloured(" " + html(s.step_origin), c.dim) : QString());
  const QString limit = s.capacity.value > 0 ? coloured(tr(" of ") + html(viz::format_bytes(s.capacity)),
                                                        s.peak > s.capacity ? c.bad : c.dim)
                                             : QString();
  const bool over = s.capacity.value > 0 && s.peak > s.capacity;
  show(peak_, s.peak.value > 0,
       tr("peak ") + bold(viz::format_bytes(s.peak)) + limit + (over ? coloured(tr(" too much"), c.bad) : QString()));
  show(busy_, busy, coloured(tr("working …"), c.dim));
}

}  // namespace planscope
