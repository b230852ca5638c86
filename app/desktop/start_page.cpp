#include "app/desktop/start_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/desktop/panel_view.h"
#include "app/session/commands.h"
#include "app/session/samples.h"

namespace planscope {

QString export_snippet() {
  return QStringLiteral(R"(import torch

class Step(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, labels):
        logits = self.model(tokens)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())

tokens = torch.randint(0, 1000, (8, 128))
labels = torch.randint(0, 1000, (8, 128))
program = torch.export.export(Step(model).train(), (tokens, labels), strict=False)
torch.export.save(program, "my_model.pt2")
)");
}

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
  drafts_title_ = new QLabel(tr("Not kept when planscope ended last"));
  drafts_title_->setObjectName("heading");
  layout->addWidget(drafts_title_);
  drafts_ = section(*layout, "start.drafts", {}, 90);
  recent_title_ = new QLabel(tr("Recent"));
  recent_title_->setObjectName("heading");
  layout->addWidget(recent_title_);
  recent_ = section(*layout, "start.recent", {}, 130);
  samples_ = section(*layout, "start.samples", tr("Samples"), 260);
  samples_->show_panel(std::make_shared<const session::Panel>(session::samples_panel(samples_folder().toStdString())));
  show_recent({});
  auto* own = new QLabel(tr("Your own model: torch.export writes it, with the training step's loss as its result"));
  own->setObjectName("heading");
  own->setWordWrap(true);
  layout->addWidget(own);
  snippet_ = new QPlainTextEdit(export_snippet());
  QPlainTextEdit* snippet = snippet_;
  snippet->setAccessibleName(tr("Program that exports a model"));
  snippet->setReadOnly(true);
  snippet->setFont(monospaced_font());
  snippet->setLineWrapMode(QPlainTextEdit::NoWrap);
  snippet->setMinimumHeight(250);
  layout->addWidget(snippet);
  auto* copy = new QPushButton(tr("Copy the program"));
  connect(copy, &QPushButton::clicked, this, [] { QApplication::clipboard()->setText(export_snippet()); });
  layout->addWidget(copy, 0, Qt::AlignLeft);
  layout->addStretch(1);
  setWidget(page);
}

PanelView* StartPage::section(QVBoxLayout& layout, const QString& id, const QString& title, int height) {
  if (!title.isEmpty()) {
    auto* label = new QLabel(title);
    label->setObjectName("heading");
    layout.addWidget(label);
  }
  auto* view = new PanelView(id, title.isEmpty() ? id : title);
  view->setMinimumHeight(height);
  view->on_activate = [this](const std::string& command) {
    if (on_activate) on_activate(command);
  };
  layout.addWidget(view);
  return view;
}

void StartPage::show_recent(const QStringList& commands) {
  session::Panel p{.id = "recent", .title = "Recent", .kind = session::PanelKind::table};
  p.empty = "What was open lately is listed here.";
  p.columns = {{"model", "Model"}, {"plan", "Plan"}, {"cluster", "Cluster"}};
  for (const QString& line : commands) {
    const Result<session::Invocation> i = session::parse_invocation(line.toStdString());
    if (!i.ok()) continue;
    session::TableRow row{.id = line.toStdString(), .command = line.toStdString()};
    for (const char* name : {"model", "plan", "cluster"}) {
      const QFileInfo file(QString::fromStdString(i->get(name)));
      row.cells.push_back(
          session::cell(file.fileName().toStdString(), session::Unit::none, session::Tone::plain, i->get(name)));
    }
    p.rows.push_back(std::move(row));
  }
  recent_title_->setVisible(!p.rows.empty());
  recent_->setVisible(!p.rows.empty());
  recent_->show_panel(std::make_shared<const session::Panel>(std::move(p)));
}

void StartPage::show_drafts(std::shared_ptr<const session::Panel> drafts) {
  const bool any = drafts && !drafts->rows.empty();
  drafts_title_->setVisible(any);
  drafts_->setVisible(any);
  if (drafts) drafts_->show_panel(std::move(drafts));
}

void StartPage::set_theme(Theme theme) {
  for (PanelView* view : {samples_, recent_, drafts_}) view->set_theme(theme);
  snippet_->setFont(monospaced_font());
  snippet_->setMinimumHeight(px(250));
  samples_->setMinimumHeight(px(260));
}

}  // namespace planscope
