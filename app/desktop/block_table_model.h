#pragma once
// The timeline as a table: every block of every lane in order, for the keyboard, screen readers and copying. Rows are
// looked up, not stored, so a million of them cost nothing.
#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

#include "viz/timeline/model.h"

namespace planscope {

class BlockTableModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  void reset(std::shared_ptr<const viz::TimelineModel> timeline);
  viz::BlockRef ref(int row) const;
  int row(const viz::BlockRef& ref) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex&) const override { return 7; }
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Run {  // the rows of one stream begin at `first`
    int first, lane, stream;
  };
  std::shared_ptr<const viz::TimelineModel> timeline_;
  std::vector<Run> runs_;
  int rows_ = 0;
};

}  // namespace planscope
