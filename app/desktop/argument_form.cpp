#include "app/desktop/argument_form.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/desktop/completing_line.h"
#include "app/desktop/style.h"
#include "app/session/value_help.h"

namespace planscope {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

}  // namespace

ArgumentForm::ArgumentForm(QWidget* window, const session::CommandInfo& command, const session::State& state,
                           session::Invocation begun, Run run)
    : Overlay(window, "arguments", {640, 110 + 34 * static_cast<int>(command.arguments.size())}),
      command_(command),
      state_(state),
      run_(std::move(run)),
      problem_(new QLabel) {
  const QString name = QString(command.title).toHtmlEscaped(), about = QString(command.about).toHtmlEscaped();
  auto* title = new QLabel(QString("<b>%1</b>  %2").arg(name, about));
  title->setWordWrap(true);
  content()->addWidget(title);
  auto* rows = new QFormLayout;
  rows->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
  QWidget* first = nullptr;
  begun.id = command.id;
  for (const session::ArgumentInfo& a : command.arguments) {
    if (a.kind == session::ArgumentInfo::Kind::seen) {
      unasked_[a.name] = session::value_now(state, begun, a.name);
      continue;
    }
    const QString value = text(session::value_now(state, begun, a.name));
    const bool list = a.kind == session::ArgumentInfo::Kind::list;
    auto* lines = new QVBoxLayout;
    QComboBox* field = nullptr;
    for (const QString& one : list ? value.split('\n') : QStringList{value}) {
      QComboBox* added = add_field(a, one, lines);
      if (!field) field = added;
    }
    auto* row = new QHBoxLayout;
    row->addLayout(lines, 1);
    if (list) {
      auto* another = new QToolButton;
      another->setText(QStringLiteral("+"));
      another->setToolTip(tr("Another value"));
      another->setAccessibleName(tr("Another value of %1").arg(a.name));
      connect(another, &QToolButton::clicked, this, [this, &a, lines] { add_field(a, {}, lines)->setFocus(); });
      row->addWidget(another, 0, Qt::AlignTop);
    }
    auto* label = new QLabel(QString(a.name));
    label->setToolTip(a.about);
    rows->addRow(label, row);
    if (a.kind == session::ArgumentInfo::Kind::path) {
      auto* browse = new QToolButton;
      browse->setText(QStringLiteral("…"));
      browse->setToolTip(tr("Choose a file"));
      const bool written = std::string_view(command.id) == "export" || std::string_view(command.id) == "save";
      connect(browse, &QToolButton::clicked, this, [this, field, written] {
        const QString file = written ? QFileDialog::getSaveFileName(this) : QFileDialog::getOpenFileName(this);
        if (!file.isEmpty()) field->setCurrentText(file);
      });
      row->addWidget(browse);
    }
    if (!first) first = field;
  }
  for (const session::ArgumentInfo& a : command.arguments)  // what is still to be said
    if (fields_.contains(a.name) && begun.get(a.name).empty()) {
      first = fields_[a.name].front();
      break;
    }
  auto* go = new QPushButton(tr("Run"));
  connect(go, &QPushButton::clicked, this, [this] { accept(); });
  content()->addLayout(rows);
  content()->addWidget(go, 0, Qt::AlignRight);
  problem_->setObjectName("problem");
  problem_->setWordWrap(true);
  content()->addWidget(problem_);
  content()->addStretch(1);
  open(first ? first : go);
}

QComboBox* ArgumentForm::field_of(const session::ArgumentInfo& a) {
  auto* field = new QComboBox;
  auto* line = new CompletingLine;
  field->setEditable(true);
  field->setLineEdit(line);
  field->setCompleter(nullptr);
  field->setObjectName(QString("argument.") + a.name);
  field->setInsertPolicy(QComboBox::NoInsert);
  field->setMinimumContentsLength(6);
  field->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  for (const session::Choice& c : session::choices(state_, command_.id, a.name)) {
    field->addItem(text(c.value));
    field->setItemData(field->count() - 1, text(c.about), Qt::ToolTipRole);
  }
  line->setPlaceholderText(a.about);
  line->complete = [this, name = std::string(a.name)](const std::string& value, std::size_t cursor) {
    return session::complete_value(state_, written(), name, value, cursor);
  };
  line->note = [this, name = std::string(a.name)](const std::string& value) {
    return session::value_note(state_, written(), name, value);
  };
  field->setToolTip(a.about);
  field->setAccessibleName(QString("%1: %2").arg(a.name, a.about));
  line->setAccessibleName(field->accessibleName());
  field->installEventFilter(this);  // it has the focus, and hands keys to its line without asking the line's filters
  line->installEventFilter(this);
  fields_[a.name].push_back(field);
  return field;
}

QComboBox* ArgumentForm::add_field(const session::ArgumentInfo& a, const QString& value, QBoxLayout* lines) {
  QComboBox* field = field_of(a);
  field->setCurrentText(value);
  lines->addWidget(field);
  return field;
}

session::Invocation ArgumentForm::written() const {
  session::Invocation i{command_.id, unasked_};
  for (const auto& [name, fields] : fields_) {
    QStringList values;
    for (const QComboBox* field : fields)
      if (!field->currentText().isEmpty()) values << field->currentText();
    if (!values.isEmpty()) i.arguments[name] = values.join('\n').toStdString();
  }
  return i;
}

bool ArgumentForm::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress && watched != parentWidget()) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const auto* box = qobject_cast<QComboBox*>(watched);
    const auto* line = dynamic_cast<CompletingLine*>(box ? box->lineEdit() : watched);
    if ((key == Qt::Key_Return || key == Qt::Key_Enter) && !(line && line->completing())) {
      accept();
      return true;
    }
  }
  return Overlay::eventFilter(watched, event);
}

void ArgumentForm::accept() {
  const Result<session::Invocation> checked = session::parse_invocation(session::print(written()));
  if (!checked.ok()) return problem_->setText(QString("✗ ") + text(to_string(checked.diagnostics)));
  const Run run = run_;
  leave();
  run(*checked);
}

}  // namespace planscope
