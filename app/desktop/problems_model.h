#pragma once
// The diagnostics of a snapshot as a table: line, what and why and hint. Severity is a word as well as a colour.
#include <QAbstractTableModel>
#include <vector>

#include "app/desktop/style.h"
#include "engine/base/diagnostic.h"

namespace planscope {

class ProblemsModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  void reset(std::vector<Diagnostic> diagnostics);
  void set_theme(Theme theme) { theme_ = theme; }
  const Diagnostic& at(int row) const { return diagnostics_[row]; }

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(diagnostics_.size());
  }
  int columnCount(const QModelIndex&) const override { return 3; }
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Diagnostic> diagnostics_;
  Theme theme_ = Theme::dark;
};

}  // namespace planscope
