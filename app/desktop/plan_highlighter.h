#pragma once
// Colours the words of the plan language: keywords, phases, open arguments, numbers with units, comments. Shallow on
// purpose: what a line means, and what is wrong with it, comes from the session.
#include <QRegularExpression>
#include <QSyntaxHighlighter>
#include <vector>

#include "app/desktop/style.h"

namespace planscope {

class PlanHighlighter : public QSyntaxHighlighter {
 public:
  explicit PlanHighlighter(QTextDocument* document);
  void set_theme(Theme theme);

 protected:
  void highlightBlock(const QString& text) override;

 private:
  struct Rule {
    QRegularExpression pattern;
    QTextCharFormat format;
  };
  std::vector<Rule> rules_;
};

}  // namespace planscope
