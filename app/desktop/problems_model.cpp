#include "app/desktop/problems_model.h"

#include <QColor>

namespace planscope {
namespace {

// Everything but the place, which has columns of its own.
QString message_of(const Diagnostic& d) {
  std::string text = d.subject;
  for (const std::string* part : {&d.what, &d.why, &d.hint}) {
    if (part->empty()) continue;
    if (!text.empty()) text += part == &d.what ? ": " : "; ";
    text += *part;
  }
  return QString::fromStdString(text);
}

}  // namespace

void ProblemsModel::reset(std::vector<Diagnostic> diagnostics) {
  beginResetModel();
  diagnostics_ = std::move(diagnostics);
  endResetModel();
}

QVariant ProblemsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Diagnostic& d = diagnostics_[index.row()];
  const Colours& c = colours(theme_);
  if (role == Qt::ForegroundRole && index.column() == 0)
    return QColor(d.severity == Severity::error ? c.bad : d.severity == Severity::warning ? c.warning : c.accent);
  if (role == Qt::ToolTipRole) return QString::fromStdString(to_string(d));
  if (role != Qt::DisplayRole) return {};
  if (index.column() == 0)
    return d.severity == Severity::error ? tr("error") : d.severity == Severity::warning ? tr("warning") : tr("note");
  if (index.column() == 1) return d.line > 0 ? QVariant(d.line) : QVariant();
  return message_of(d);
}

QVariant ProblemsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == 0 ? QString() : section == 1 ? tr("line") : tr("problem");
}

}  // namespace planscope
