#pragma once
// Colours and fonts of the window, in step with those of the canvases (viz/timeline/draw.h).
#include "viz/canvas/imgui_host.h"

class QApplication;
class QFont;

namespace planscope {

enum class Theme { dark, light };

struct Colours {  // "#rrggbb", for style sheets and rich text
  const char *background, *panel, *raised, *line, *text, *dim, *accent, *selection, *ok, *bad, *warning, *code;
};

const Colours& colours(Theme theme);
void apply_style(QApplication& application, Theme theme);

// For operators, selectors and scripts.
QFont monospaced_font();

// What the system asks for: what its portal says, else whether its own palette is dark. Called before apply_style().
Theme system_theme();

// DejaVu Sans from the configured folder or the usual ones; empty names where there is none.
viz::FontFiles find_fonts();

}  // namespace planscope
