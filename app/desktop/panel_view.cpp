#include "app/desktop/panel_view.h"

#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/desktop/chart_view.h"
#include "app/desktop/form_view.h"
#include "app/desktop/script_view.h"
#include "app/desktop/table_view.h"
#include "app/desktop/text_view.h"
#include "app/session/commands.h"

namespace planscope {

namespace {

constexpr std::size_t rows_for_a_filter = 12;

QString text(const std::string& s) { return QString::fromStdString(s); }

// Commands that a panel offers, as chips that have a name alone.
std::vector<session::Fact> facts_of(const std::vector<std::string>& commands) {
  std::vector<session::Fact> out;
  for (const std::string& line : commands) {
    const Result<session::Invocation> i = session::parse_begun(line);
    if (!i.ok()) continue;
    const session::CommandInfo& info = *session::find_command(i->id);
    out.push_back({line, info.title, session::cell(true), line});
    out.back().cell.tip = info.about;
  }
  return out;
}

}  // namespace

PanelView::PanelView(const QString& id, const QString& title, QWidget* parent)
    : QWidget(parent),
      id_(id),
      title_(title),
      chips_(new ChipRow),
      commands_(new ChipRow),
      reason_(new QLabel),
      empty_(new QLabel),
      stack_(new QStackedWidget) {
  setObjectName("panel." + id);
  setAccessibleName(title);
  setAutoFillBackground(true);
  reason_->setObjectName("reason");
  reason_->setWordWrap(true);
  reason_->hide();
  for (ChipRow* row : {chips_, commands_}) {
    row->hide();
    row->on_activate = [this](const Chip& chip) {
      if (on_activate) on_activate(chip.fact().command);
    };
  }
  empty_->setObjectName("empty");
  empty_->setWordWrap(true);
  empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  empty_->setMargin(12);
  auto* room = new QScrollArea;  // a long text does not make the window higher than its screen
  room->setFrameShape(QFrame::NoFrame);
  room->setWidgetResizable(true);
  room->setFocusPolicy(Qt::NoFocus);
  room->setWidget(empty_);
  empty_room_ = room;
  stack_->addWidget(empty_room_);
  setMinimumHeight(90);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(commands_);
  layout->addWidget(chips_);
  layout->addWidget(reason_);
  layout->addWidget(stack_, 1);
}

bool PanelView::has_contents() const {
  if (!panel_) return false;
  switch (panel_->kind) {
    case session::PanelKind::table:
    case session::PanelKind::tree:
      return !panel_->rows.empty();
    case session::PanelKind::form:
      return !panel_->fields.empty();
    case session::PanelKind::chart:
      return !panel_->series.empty();
    case session::PanelKind::script:
      return true;
    case session::PanelKind::facts:
      return !panel_->text.empty();
    default:
      return false;
  }
}

void PanelView::make_body(session::PanelKind kind) {
  kind_ = kind;
  delete body_;
  table_ = nullptr, script_ = nullptr, form_ = nullptr, chart_ = nullptr, text_ = nullptr;
  const auto activate = [this](const std::string& command) {
    if (on_activate) on_activate(command);
  };
  switch (kind) {
    case session::PanelKind::table:
    case session::PanelKind::tree:
      body_ = table_ = new TableView;
      table_->view()->setObjectName(id_);
      table_->view()->setAccessibleName(title_);
      table_->on_activate = activate;
      if (on_table) on_table(*table_);
      table_->set_theme(theme_);
      break;
    case session::PanelKind::script:
      body_ = script_ = new ScriptView;
      script_->editor()->setObjectName(id_);
      script_->editor()->setAccessibleName(title_);
      script_->set_theme(theme_);
      if (on_script) on_script(*script_);
      break;
    case session::PanelKind::form:
      body_ = form_ = new FormView;
      form_->on_activate = activate;
      form_->set_theme(theme_);
      break;
    case session::PanelKind::chart:
      body_ = chart_ = new ChartView;
      chart_->setAccessibleName(title_);
      chart_->set_theme(theme_);
      break;
    case session::PanelKind::facts:
      body_ = text_ = new TextView;
      text_->text()->setObjectName(id_);
      text_->text()->setAccessibleName(title_);
      break;
    default:
      body_ = new QWidget;
      break;
  }
  stack_->addWidget(body_);
}

void PanelView::show_panel(std::shared_ptr<const session::Panel> panel) {
  if (panel == panel_) return;
  panel_ = std::move(panel);
  if (!body_ || kind_ != panel_->kind) make_body(panel_->kind);
  const QString reason = text(panel_->reason);
  chips_->show_facts(panel_->facts, panel_->current, reason);
  commands_->show_facts(facts_of(panel_->commands), true, {});
  reason_->setVisible(!panel_->current && !reason.isEmpty());
  reason_->setText(reason);
  reason_->setToolTip(reason_->text());
  empty_->setText(panel_->facts.empty() || panel_->kind != session::PanelKind::facts ? text(panel_->empty) : QString());
  stack_->setCurrentWidget(has_contents() ? body_ : empty_room_);
  if (table_) {
    table_->set_filter_visible(panel_->rows.size() >= rows_for_a_filter);
    table_->set_panel(panel_);
  }
  if (form_) form_->set_panel(panel_);
  if (chart_) chart_->set_panel(panel_);
  if (script_) script_->show_panel(*panel_);
  if (text_) text_->show_text(text(panel_->text));
}

void PanelView::set_theme(Theme theme) {
  theme_ = theme;
  chips_->set_theme(theme);
  commands_->set_theme(theme);
  if (table_) table_->set_theme(theme);
  if (script_) script_->set_theme(theme);
  if (form_) form_->set_theme(theme);
  if (chart_) chart_->set_theme(theme);
  if (text_) text_->set_theme(theme);
}

QWidget* PanelView::focus_target() const {
  if (script_) return script_->editor();
  if (table_ && has_contents()) return table_->view();
  if (text_ && has_contents()) return text_->text();
  return const_cast<PanelView*>(this);
}

}  // namespace planscope
