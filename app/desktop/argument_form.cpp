#include "app/desktop/argument_form.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace planscope {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

}  // namespace

ArgumentForm::ArgumentForm(QWidget* window, const session::CommandInfo& command, const session::State& state, Run run)
    : Overlay(window, "arguments", {640, 150}), command_(command), run_(std::move(run)), problem_(new QLabel) {
  auto* title = new QLabel(QString("<b>%1</b>  %2").arg(QString(command.title).toHtmlEscaped(), QString(command.about).toHtmlEscaped()));
  title->setWordWrap(true);
  content()->addWidget(title);
  auto* row = new QHBoxLayout;
  QWidget* first = nullptr;
  for (const session::ArgumentInfo& a : command.arguments) {
    auto* field = new QComboBox;
    field->setEditable(true);
    field->setObjectName(QString("argument.") + a.name);
    field->setInsertPolicy(QComboBox::NoInsert);
    field->setMinimumContentsLength(6);
    field->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (const session::Choice& c : session::choices(state, command.id, a.name)) {
      field->addItem(text(c.value));
      field->setItemData(field->count() - 1, text(c.about), Qt::ToolTipRole);
    }
    field->setCurrentText({});
    field->lineEdit()->setPlaceholderText(QString(a.name) + (a.required ? "" : tr(" (may be empty)")));
    field->setToolTip(a.about);
    field->setAccessibleName(QString("%1: %2").arg(a.name, a.about));
    field->lineEdit()->installEventFilter(this);
    fields_[a.name] = field;
    row->addWidget(field, a.kind == session::ArgumentInfo::Kind::number ? 1 : 3);
    if (a.kind == session::ArgumentInfo::Kind::path) {
      auto* browse = new QToolButton;
      browse->setText(QStringLiteral("…"));
      browse->setToolTip(tr("Choose a file"));
      connect(browse, &QToolButton::clicked, this, [this, field] {
        const QString file = QFileDialog::getOpenFileName(this);
        if (!file.isEmpty()) field->setCurrentText(file);
      });
      row->addWidget(browse);
    }
    if (!first) first = field;
  }
  auto* go = new QPushButton(tr("Run"));
  connect(go, &QPushButton::clicked, this, [this] { accept(); });
  row->addWidget(go);
  content()->addLayout(row);
  problem_->setObjectName("problem");
  problem_->setWordWrap(true);
  content()->addWidget(problem_);
  content()->addStretch(1);
  open(first ? first : go);
}

bool ArgumentForm::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress && watched != parentWidget()) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      accept();
      return true;
    }
  }
  return Overlay::eventFilter(watched, event);
}

void ArgumentForm::accept() {
  session::Invocation i{command_.id, {}};
  for (const auto& [name, field] : fields_)
    if (!field->currentText().isEmpty()) i.arguments[name] = field->currentText().toStdString();
  const Result<session::Invocation> checked = session::parse_invocation(session::print(i));
  if (!checked.ok()) return problem_->setText(QString("✗ ") + text(to_string(checked.diagnostics)));
  const Run run = run_;
  leave();
  run(*checked);
}

}  // namespace planscope
