#pragma once
// Named figures in a row that wraps: the chips of a panel. Each says its title; what is too wide ends in "…" and
// is shown in full by its
// tooltip; good, bad and doubtful have a sign beside their colour. What can be activated is reached by the keyboard.
#include <QAbstractButton>
#include <functional>
#include <vector>

#include "app/desktop/style.h"
#include "app/session/panel.h"

namespace planscope {

// "✓ ", "✗ ", "! ", or nothing.
QString sign_of(session::Tone);
QColor colour_of(session::Tone, Theme);

class Chip : public QAbstractButton {
 public:
  explicit Chip(QWidget* parent = nullptr);

  void show_fact(const session::Fact& fact, bool current, const QString& reason);
  void set_theme(Theme theme);
  const session::Fact& fact() const { return fact_; }
  bool is_dimmed() const { return !current_; }
  QString whole_text() const;   // "Step 20.24 s"
  QString shown_value() const;  // as it is painted now, perhaps with "…"
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {24, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  QFont strong() const;
  int title_width() const;

  session::Fact fact_;
  bool current_ = true;
  Theme theme_ = Theme::dark;
};

class ChipRow : public QWidget {
 public:
  explicit ChipRow(QWidget* parent = nullptr);

  void show_facts(const std::vector<session::Fact>& facts, bool current, const QString& reason);
  void set_theme(Theme theme);

  std::function<void(const Chip&)> on_activate;

 private:
  std::vector<Chip*> chips_;
  Theme theme_ = Theme::dark;
};

}  // namespace planscope
