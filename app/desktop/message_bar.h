#pragma once
// What went wrong, or is to be known, above the centre: messages of the session with the file's name, and commands
// that were refused.
// A message stays until the user closes it. Commands that mend a refused one, or that act on a notice, are buttons beside it.
#include <QWidget>
#include <functional>
#include <vector>

#include "app/desktop/style.h"
#include "app/session/commands.h"
#include "app/session/notices.h"
#include "app/session/state.h"

class QVBoxLayout;

namespace planscope {

class MessageBar : public QWidget {
 public:
  explicit MessageBar(QWidget* parent = nullptr);

  void show_state(const session::State& state);
  // `seen`: the number of the text that was refused.
  void add_refusal(const session::Invocation& invocation, const std::vector<Diagnostic>& diagnostics,
                   std::uint64_t seen = 0);
  void add_message(const Diagnostic& diagnostic);  // of the window itself
  void set_theme(Theme theme);
  QStringList texts() const { return texts_; }

  std::function<void(session::Invocation)> on_run;

 private:
  struct Refusal {
    session::Invocation invocation;
    Diagnostic diagnostic;
    std::uint64_t seen = 0;
  };
  void rebuild();
  void add_row(const QString& text, Severity severity,
               const std::vector<std::pair<QString, session::Invocation>>& buttons);
  void put_away();

  QVBoxLayout* rows_;
  Theme theme_ = Theme::dark;
  std::vector<Diagnostic> messages_;
  std::vector<session::Notice> notices_;
  std::vector<Refusal> refusals_;
  QStringList texts_;
};

}  // namespace planscope
