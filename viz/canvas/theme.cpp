#include "viz/canvas/theme.h"

#include <utility>

namespace planscope::viz {

Theme dark_theme() {
  Theme t;
  t.ground = rgb(0x16191d), t.background = rgb(0x1d2126), t.raised = rgb(0x23282e), t.line = rgb(0x333a42);
  t.selection = rgb(0x2b4766), t.code = rgb(0xc9d6e6), t.panel = rgb(0x2b3138), t.grid = rgb(0x2a3037), t.text = rgb(0xdfe4ea),
  t.dim = rgb(0x98a2ae);
  t.accent = rgb(0x4ea1f3), t.on_block = rgb(0x0c1014), t.outline = rgb(0xffffff), t.memory = rgb(0x8fb3d9),
  t.capacity = rgb(0xe0645c);
  t.forward = rgb(0x4c8fd6), t.backward = rgb(0xd9a441), t.weight = rgb(0x5aa87f), t.update = rgb(0x86c06c),
  t.communication = rgb(0xa87bd1);
  t.idle = rgb(0x414a54), t.idle_cool_down = rgb(0x3c5566), t.idle_imbalance = rgb(0x4f5a35), t.idle_data = rgb(0x6b5236), t.idle_communication = rgb(0x5c4870), t.idle_memory = rgb(0x6f3f3c);
  t.good = rgb(0x62c073), t.bad = rgb(0xee7a72), t.warning = rgb(0xe0b050);
  t.categories = {rgb(0xe69f00), rgb(0x56b4e9), rgb(0x2fae86), rgb(0xf0e442), rgb(0x4f8fd0), rgb(0xd5754a), rgb(0xcc79a7), rgb(0x9aa4af)};
  t.script = {rgb(0x79b8ff), rgb(0xc9a5ea), rgb(0x7fd1a8), rgb(0xe8b65a), rgb(0xe3c48d), rgb(0x7f8a96)};
  return t;
}

Theme light_theme() {
  Theme t;
  t.ground = rgb(0xf4f5f7), t.background = rgb(0xffffff), t.raised = rgb(0xeef0f3), t.line = rgb(0xd5d9df);
  t.selection = rgb(0xcfe3f8), t.code = rgb(0x22364d), t.panel = rgb(0xf3f5f7), t.grid = rgb(0xe6e9ed), t.text = rgb(0x1b2128),
  t.dim = rgb(0x5a6570);
  t.accent = rgb(0x1565c0), t.on_block = rgb(0x0c1014), t.outline = rgb(0x11161b), t.memory = rgb(0x3d6a99),
  t.capacity = rgb(0xc0392b);
  t.forward = rgb(0x2f72b8), t.backward = rgb(0x6e4a00), t.weight = rgb(0x0f4d2c), t.update = rgb(0x3a6a22),
  t.communication = rgb(0x8752bd);
  t.idle = rgb(0xc8cfd6), t.idle_cool_down = rgb(0xb4cad9), t.idle_imbalance = rgb(0xcdd6ae), t.idle_data = rgb(0xdcc4a4), t.idle_communication = rgb(0xcdbce0), t.idle_memory = rgb(0xe5b9b5);
  t.good = rgb(0x1f7a33), t.bad = rgb(0xb3261e), t.warning = rgb(0x8a5a00);
  t.categories = {rgb(0xe69f00), rgb(0x56b4e9), rgb(0x37b48c), rgb(0xe3d628), rgb(0x3f7fc0), rgb(0xd5754a), rgb(0xcc79a7), rgb(0x8b95a0)};
  t.script = {rgb(0x0b5cad), rgb(0x7036a8), rgb(0x1d7a4c), rgb(0x935f00), rgb(0x8a4b00), rgb(0x68737e)};
  return t;
}

namespace {

std::string properties(const Theme& t, const char* scheme) {
  const std::pair<const char*, Colour> all[] = {
      {"ground", t.ground}, {"panel", t.background}, {"raised", t.raised}, {"line", t.line}, {"text", t.text}, {"dim", t.dim},
      {"accent", t.accent}, {"selection", t.selection}, {"good", t.good}, {"bad", t.bad}, {"warning", t.warning},
      {"script-statement", t.script.word}, {"script-word", t.script.word}, {"script-policy", t.script.policy}, {"script-task", t.script.task},
      {"script-open", t.script.open}, {"script-figure", t.script.figure}, {"script-comment", t.script.comment}};
  std::string out = std::string("{color-scheme:") + scheme + ";";
  for (const auto& [name, colour] : all) out += std::string("--") + name + ":" + hex_text(colour) + ";";
  return out + "}\n";
}

}  // namespace

std::string theme_css() {
  return ":root" + properties(dark_theme(), "dark") + ":root[data-theme=light]" + properties(light_theme(), "light");
}

}  // namespace planscope::viz
