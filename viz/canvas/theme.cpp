#include "viz/canvas/theme.h"

namespace planscope::viz {

Theme dark_theme() {
  Theme t;
  t.background = rgb(0x1d2126), t.panel = rgb(0x2b3138), t.raised = rgb(0x23282e), t.grid = rgb(0x2a3037), t.text = rgb(0xdfe4ea),
  t.dim = rgb(0x98a2ae);
  t.accent = rgb(0x4ea1f3), t.on_block = rgb(0x0c1014), t.outline = rgb(0xffffff), t.memory = rgb(0x8fb3d9),
  t.capacity = rgb(0xe0645c);
  t.forward = rgb(0x4c8fd6), t.backward = rgb(0xd9a441), t.weight = rgb(0x5aa87f), t.update = rgb(0x86c06c),
  t.communication = rgb(0xa87bd1);
  t.idle = rgb(0x414a54), t.idle_cool_down = rgb(0x3c5566), t.idle_imbalance = rgb(0x4f5a35), t.idle_data = rgb(0x6b5236), t.idle_communication = rgb(0x5c4870), t.idle_memory = rgb(0x6f3f3c);
  t.good = rgb(0x58b368), t.bad = rgb(0xe0645c), t.warning = rgb(0xd9a441);
  t.categories = {rgb(0xe69f00), rgb(0x56b4e9), rgb(0x2fae86), rgb(0xf0e442), rgb(0x4f8fd0), rgb(0xd5754a), rgb(0xcc79a7), rgb(0x9aa4af)};
  return t;
}

Theme light_theme() {
  Theme t;
  t.background = rgb(0xffffff), t.panel = rgb(0xf3f5f7), t.raised = rgb(0xeef0f3), t.grid = rgb(0xe6e9ed), t.text = rgb(0x1b2128),
  t.dim = rgb(0x5a6570);
  t.accent = rgb(0x1565c0), t.on_block = rgb(0x0c1014), t.outline = rgb(0x11161b), t.memory = rgb(0x3d6a99),
  t.capacity = rgb(0xc0392b);
  t.forward = rgb(0x6fa8e3), t.backward = rgb(0xe6b85c), t.weight = rgb(0x74bd96), t.update = rgb(0x9ccf84),
  t.communication = rgb(0xb48ad9);
  t.idle = rgb(0xc8cfd6), t.idle_cool_down = rgb(0xb4cad9), t.idle_imbalance = rgb(0xcdd6ae), t.idle_data = rgb(0xdcc4a4), t.idle_communication = rgb(0xcdbce0), t.idle_memory = rgb(0xe5b9b5);
  t.good = rgb(0x2b7d3d), t.bad = rgb(0xb83229), t.warning = rgb(0x8f6410);
  t.categories = {rgb(0xe69f00), rgb(0x56b4e9), rgb(0x37b48c), rgb(0xe3d628), rgb(0x3f7fc0), rgb(0xd5754a), rgb(0xcc79a7), rgb(0x8b95a0)};
  return t;
}

}  // namespace planscope::viz
