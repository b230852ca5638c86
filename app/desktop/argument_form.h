#pragma once
// Asks for the arguments of a command in one line over the window: a field for each, with what there is to choose from. Return runs it.
#include <functional>
#include <map>

#include "app/desktop/overlay.h"
#include "app/session/choices.h"
#include "app/session/commands.h"

class QComboBox;
class QLabel;

namespace planscope {

class ArgumentForm : public Overlay {
 public:
  using Run = std::function<void(session::Invocation)>;

  ArgumentForm(QWidget* window, const session::CommandInfo& command, const session::State& state, Run run);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void accept();

  const session::CommandInfo& command_;
  Run run_;
  std::map<std::string, QComboBox*> fields_;
  QLabel* problem_;
};

}  // namespace planscope
