#pragma once
// What the centre shows while nothing is open: sample models with their plans, what was open lately, lost drafts,
// and how to bring a
// model of one's own. Everything is a row that runs a command.
#include <QScrollArea>
#include <functional>

#include "app/desktop/style.h"
#include "app/session/panel.h"

class QLabel;
class QPlainTextEdit;
class QVBoxLayout;

namespace planscope {

class PanelView;

class StartPage : public QScrollArea {
 public:
  explicit StartPage(QWidget* parent = nullptr);

  void show_recent(const QStringList& commands);  // lines of a session script, the latest first
  void show_drafts(std::shared_ptr<const session::Panel> drafts);
  void set_theme(Theme theme);

  static QString samples_folder();

  std::function<void(const std::string& command)> on_activate;

 private:
  PanelView* section(QVBoxLayout& layout, const QString& id, const QString& title, int height);

  PanelView *samples_, *recent_, *drafts_;
  QPlainTextEdit* snippet_;
  QLabel *drafts_title_, *recent_title_;
};

// The program that README shows, to export a model of one's own.
QString export_snippet();

}  // namespace planscope
