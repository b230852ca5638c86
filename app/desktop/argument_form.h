#pragma once
// Asks for the arguments of a command in one line over the window: a field for each, of a list one for each of its values, with
// what there is to choose from and completion while it is typed. Return runs it.
#include <functional>
#include <map>
#include <vector>

#include "app/desktop/overlay.h"
#include "app/session/choices.h"
#include "app/session/commands.h"

class QBoxLayout;
class QComboBox;
class QLabel;

namespace planscope {

class ArgumentForm : public Overlay {
 public:
  using Run = std::function<void(session::Invocation)>;

  // `begun`: what has been said already; fields show it. Which text is seen has no field: that of the state.
  ArgumentForm(QWidget* window, const session::CommandInfo& command, const session::State& state,
               session::Invocation begun, Run run);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void accept();

  QComboBox* field_of(const session::ArgumentInfo& argument);
  QComboBox* add_field(const session::ArgumentInfo& argument, const QString& value, QBoxLayout* lines);
  session::Invocation written() const;

  const session::CommandInfo& command_;
  const session::State state_;  // as it was when it was asked
  Run run_;
  std::map<std::string, std::vector<QComboBox*>> fields_;
  std::map<std::string, std::string> unasked_;  // arguments without a field
  QLabel* problem_;
};

}  // namespace planscope
