#pragma once
// Colours and fonts of the window. The colours are those of viz/canvas/theme.h.
#include <QString>

#include "viz/canvas/imgui_host.h"

class QApplication;
class QFont;

namespace planscope {

enum class Theme { dark, light };

struct Colours {  // "#rrggbb", for style sheets and rich text
  QString background, panel, raised, line, text, dim, accent, selection, ok, bad, warning, code;
  QString script_word, script_policy, script_task, script_open, script_figure, script_comment;
};

const Colours& colours(Theme theme);
// `scale`: of texts and everything that goes with them, 1 to 3.
void apply_style(QApplication& application, Theme theme, double scale = 1);
int px(int pixels);  // at the scale that was applied last
double applied_scale();

// For operators, selectors and scripts.
QFont monospaced_font();

// DejaVu Sans from the configured folder or the usual ones; empty names where there is none.
viz::FontFiles find_fonts();

}  // namespace planscope
