#include "app/desktop/plan_highlighter.h"

namespace planscope {

PlanHighlighter::PlanHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) { set_theme(Theme::dark); }

void PlanHighlighter::set_theme(Theme theme) {
  const bool dark = theme == Theme::dark;
  const auto format = [](const char* colour, bool bold = false) {
    QTextCharFormat f;
    f.setForeground(QColor(colour));
    if (bold) f.setFontWeight(QFont::DemiBold);
    return f;
  };
  rules_ = {
      {QRegularExpression(
           R"(^\s*(?:auto\s+)?)"
           R"((devices|grid|axis|model|let|trans|assign|order|use|require|forbid|relax|template|end)\b)"),
       format(dark ? "#79b8ff" : "#0b5cad", true)},
      {QRegularExpression(R"(\b(auto|as|by|at|to|into|cut|sizes|where|except|and|or|not|in|lag|none)\b)"),
       format(dark ? "#79b8ff" : "#0b5cad")},
      {QRegularExpression(R"(\b(balanced|recompute|offload|keep|keep_gathered|grad_split|host)\b)"),
       format(dark ? "#c9a5ea" : "#7036a8")},
      {QRegularExpression(R"(\b(f|b|w|r|fetch|grad|update|load|store|memory)(?=\())"),
       format(dark ? "#7fd1a8" : "#1d7a4c")},
      {QRegularExpression(R"(\?\w+)"), format(dark ? "#e8b65a" : "#935f00", true)},
      {QRegularExpression(R"(\b\d+(?:\.\d+)?(?:[KMGT]iB|[KMGT]?B|us|ms|s)?\b)"), format(dark ? "#e3c48d" : "#8a4b00")},
      // As the lexer reads it: not in quotes, and `x#0` is an ordinal.
      {QRegularExpression(R"((?:'[^']+'|"[^"]+")(*SKIP)(*FAIL)|(?:(?<!\S)#|#(?!\d)).*$)"),
       format(dark ? "#7f8a96" : "#68737e")},
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
