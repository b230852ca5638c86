#include "app/desktop/start_page.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "app/desktop/panel_view.h"

namespace planscope {

QString StartPage::samples_folder() {
  const QString program = QCoreApplication::applicationDirPath();
  for (const QString& folder : {qEnvironmentVariable("PLANSCOPE_SAMPLES"), program + "/../../../sample_models",
                                program + "/../share/planscope/sample_models", QStringLiteral("sample_models")})
    if (!folder.isEmpty() && QFileInfo(folder).isDir()) return QDir::cleanPath(folder);
  return QStringLiteral("sample_models");
}

StartPage::StartPage(QWidget* parent) : QScrollArea(parent) {
  setObjectName("start");
  setAccessibleName(tr("Start"));
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  auto* page = new QWidget;
  page->setObjectName("centre");
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(16, 12, 16, 12);
  auto* heading = new QLabel(tr("Open a model and a plan, or drop a model with its plan here (.pt2, .plan)"));
  heading->setObjectName("heading");
  heading->setWordWrap(true);
  layout->addWidget(heading);
  layout->addStretch(1);
  sections_ = layout;
  setWidget(page);
}

StartPage::Section& StartPage::section(const QString& id, const QString& title) {
  for (Section& known : all_)
    if (known.view->id() == "start." + id) return known;
  auto* heading = new QLabel(title);
  heading->setObjectName("heading");
  auto* view = new PanelView("start." + id, title);
  view->on_activate = [this](const std::string& command) {
    if (on_activate) on_activate(command);
  };
  view->set_theme(theme_);
  for (QWidget* w : std::initializer_list<QWidget*>{heading, view}) sections_->insertWidget(sections_->count() - 1, w);
  return all_.emplace_back(Section{heading, view});
}

void StartPage::show_panel(std::shared_ptr<const session::Panel> panel) {
  const auto id = QString::fromStdString(panel->id), title = QString::fromStdString(panel->title);
  Section& s = section(id, title);
  s.view->show_panel(std::move(panel));
  s.heading->setVisible(s.view->has_contents());
  s.view->setVisible(s.view->has_contents());
  fit(s);
}

// As high as its first lines need.
void StartPage::fit(const Section& s) {
  const session::Panel* panel = s.view->panel();
  const auto lines = static_cast<int>(panel->rows.size() + static_cast<std::size_t>(std::ranges::count(panel->text, '\n')));
  s.view->setMinimumHeight(px(50 + 22 * qMin(lines, 10)));
}

void StartPage::set_theme(Theme theme) {
  theme_ = theme;
  for (const Section& s : all_) s.view->set_theme(theme), fit(s);
}

}  // namespace planscope
