#include "app/desktop/plan_highlighter.h"

namespace planscope {

PlanHighlighter::PlanHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) { set_theme(Theme::dark); }

void PlanHighlighter::set_theme(Theme theme) {
  const Colours& c = colours(theme);
  const auto format = [](const QString& colour, bool bold = false) {
    QTextCharFormat f;
    f.setForeground(QColor(colour));
    if (bold) f.setFontWeight(QFont::DemiBold);
    return f;
  };
  rules_ = {
      {QRegularExpression(
           R"(^\s*(?:auto\s+)?)"
           R"((devices|grid|axis|model|let|trans|assign|order|use|require|forbid|relax|template|end)\b)"),
       format(c.script_word, true)},
      {QRegularExpression(R"(\b(auto|as|by|at|to|into|cut|sizes|where|except|and|or|not|in|lag|none)\b)"),
       format(c.script_word)},
      {QRegularExpression(R"(\b(balanced|recompute|offload|keep|keep_gathered|grad_split|host)\b)"),
       format(c.script_policy)},
      {QRegularExpression(R"(\b(f|b|w|r|fetch|grad|update|load|store|memory)(?=\())"),
       format(c.script_task)},
      {QRegularExpression(R"(\?\w+)"), format(c.script_open, true)},
      {QRegularExpression(R"(\b\d+(?:\.\d+)?(?:[KMGT]iB|[KMGT]?B|us|ms|s)?\b)"), format(c.script_figure)},
      // As the lexer reads it: not in quotes, and `x#0` is an ordinal.
      {QRegularExpression(R"((?:'[^']+'|"[^"]+")(*SKIP)(*FAIL)|(?:(?<!\S)#|#(?!\d)).*$)"),
       format(c.script_comment)},
  };
  rehighlight();
}

void PlanHighlighter::highlightBlock(const QString& text) {
  for (const Rule& rule : rules_) {
    for (auto it = rule.pattern.globalMatch(text); it.hasNext();) {
      const QRegularExpressionMatch match = it.next();
      const int group = match.lastCapturedIndex() > 0 ? 1 : 0;
      setFormat(static_cast<int>(match.capturedStart(group)), static_cast<int>(match.capturedLength(group)),
                rule.format);
    }
  }
}

}  // namespace planscope
