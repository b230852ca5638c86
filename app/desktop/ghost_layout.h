#pragma once
// Leaves room in a plain text, below its lines, for lines that it does not have.
//
//   auto* layout = new GhostLayout(document);
//   document->setDocumentLayout(layout);
//   layout->set_rooms({{3, 36}});   // by number of the line, from 1, in pixels
#include <QPlainTextDocumentLayout>
#include <QTextBlock>
#include <map>

namespace planscope {

class GhostLayout : public QPlainTextDocumentLayout {
 public:
  using QPlainTextDocumentLayout::QPlainTextDocumentLayout;

  void set_rooms(std::map<int, qreal> rooms) {
    if (rooms == rooms_) return;
    rooms_ = std::move(rooms);
    Q_EMIT documentSizeChanged(documentSize());
    Q_EMIT update();
  }

  qreal room_below(const QTextBlock& block) const {
    const auto found = rooms_.find(block.blockNumber() + 1);
    return found == rooms_.end() ? 0 : found->second;
  }

  QRectF blockBoundingRect(const QTextBlock& block) const override {
    return QPlainTextDocumentLayout::blockBoundingRect(block).adjusted(0, 0, 0, room_below(block));
  }

 private:
  std::map<int, qreal> rooms_;
};

}  // namespace planscope
