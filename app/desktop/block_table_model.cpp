#include "app/desktop/block_table_model.h"

#include <algorithm>

namespace planscope {

void BlockTableModel::reset(std::shared_ptr<const viz::TimelineModel> timeline) {
  beginResetModel();
  timeline_ = std::move(timeline);
  runs_.clear();
  rows_ = 0;
  for (int l = 0; timeline_ && l < static_cast<int>(timeline_->lanes.size()); ++l) {
    for (int s = 0; s < static_cast<int>(timeline_->lanes[l].streams.size()); ++s) {
      runs_.push_back({rows_, l, s});
      rows_ += static_cast<int>(timeline_->lanes[l].streams[s].blocks.size());
    }
  }
  endResetModel();
}

viz::BlockRef BlockTableModel::ref(int row) const {
  const auto run = std::partition_point(runs_.begin(), runs_.end(), [row](const Run& r) { return r.first <= row; }) - 1;
  return {run->lane, run->stream, row - run->first};
}

int BlockTableModel::row(const viz::BlockRef& ref) const {
  const auto run = std::find_if(runs_.begin(), runs_.end(),
                                [&](const Run& r) { return r.lane == ref.lane && r.stream == ref.stream; });
  return run == runs_.end() ? -1 : run->first + ref.block;
}

int BlockTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : rows_; }

QVariant BlockTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole && index.column() >= 4) return int(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const viz::BlockRef r = ref(index.row());
  const viz::Lane& lane = timeline_->lanes[r.lane];
  const viz::Block& block = timeline_->at(r);
  const auto text = [](const std::string& s) { return QString::fromStdString(s); };
  switch (index.column()) {
    case 0:
      return text(lane.name);
    case 1:
      return text(lane.streams[r.stream].name);
    case 2:
      return text(block.label);
    case 3:
      return QString::fromUtf8(viz::name_of(block.kind));
    case 4:
      return block.micro_batch < 0 ? QVariant() : QVariant(block.micro_batch);
    case 5:
      return text(viz::format_time(block.start));
    default:
      return text(viz::format_time(block.duration));
  }
}

QVariant BlockTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return int((section >= 4 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const QString names[] = {tr("lane"),        tr("stream"), tr("block"),   tr("kind"),
                           tr("micro-batch"), tr("start"),  tr("duration")};
  return names[section];
}

}  // namespace planscope
