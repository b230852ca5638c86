#include "app/desktop/text_view.h"

#include <QApplication>
#include <QClipboard>
#include <QPushButton>
#include <QVBoxLayout>

namespace planscope {

TextView::TextView(QWidget* parent) : QWidget(parent), text_(new QPlainTextEdit), copy_(new QPushButton(tr("Copy"))) {
  text_->setReadOnly(true);
  text_->setFont(monospaced_font());
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  text_->setFrameShape(QFrame::NoFrame);
  copy_->setObjectName("copy");
  connect(copy_, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(text_->toPlainText()); });
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(text_, 1);
  layout->addWidget(copy_, 0, Qt::AlignLeft);
}

void TextView::show_text(const QString& text) {
  if (text != text_->toPlainText()) text_->setPlainText(text);
}

void TextView::set_theme(Theme) { text_->setFont(monospaced_font()); }

}  // namespace planscope
