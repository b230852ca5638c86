#include "viz/canvas/rasteriser.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace planscope::viz {
namespace {

struct ClipBox {
  int left, top, right, bottom;
};

struct Target {
  std::uint32_t* pixels;
  int width;
  std::uint32_t* row(int y) const { return pixels + static_cast<std::ptrdiff_t>(y) * width; }
};

// Wide rows are copies of the first one: that is done many pixels at a time.
void fill_opaque(const Target& target, std::uint32_t colour, const ClipBox& box) {
  constexpr int wide = 16;
  std::uint32_t* first = target.row(box.top) + box.left;
  const int width = box.right - box.left;
  std::fill_n(first, width, colour);
  for (int y = box.top + 1; y < box.bottom; ++y) {
    std::uint32_t* row = target.row(y) + box.left;
    if (width < wide)
      std::fill_n(row, width, colour);
    else
      std::memcpy(row, first, static_cast<std::size_t>(width) * sizeof colour);
  }
}

// Packed colours are 0xAABBGGRR, which is R, G, B, A in memory; the target is opaque and stays so.
std::uint32_t blend(std::uint32_t below, std::uint32_t colour, std::uint32_t alpha) {
  const std::uint32_t keep = 255 - alpha;
  const std::uint32_t rb = (colour & 0xff00ff) * alpha + (below & 0xff00ff) * keep + 0x800080;
  const std::uint32_t g = (colour & 0x00ff00) * alpha + (below & 0x00ff00) * keep + 0x008000;
  const auto divide = [](std::uint32_t v, std::uint32_t mask) { return ((v + ((v >> 8) & mask)) >> 8) & mask; };
  return 0xff000000u | divide(rb, 0xff00ff) | (((g >> 8) + ((g >> 16) & 0xff)) & 0x00ff00);
}

// The first pixel whose centre is not before it.
int first_centre(double edge) {
  const double centre = edge - 0.5;
  const int whole = static_cast<int>(centre);  // towards zero
  return whole < centre ? whole + 1 : whole;
}

struct Vertex {
  double x, y, u, v;
  std::uint32_t colour;
};

class Painter {
 public:
  Painter(Target target, const AlphaTexture& atlas, ImVec2 origin, ImVec2 scale)
      : target_(target), atlas_(atlas), origin_(origin), scale_(scale) {}

  void paint(const ImDrawList& list, const ImDrawCmd& command, ClipBox clip) {
    const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    for (unsigned i = 0; i + 3 <= command.ElemCount;) {
      if (i + 6 <= command.ElemCount && is_rectangle(vertices, index + i)) {
        fill_rectangle(vertex(vertices[index[i]]), vertex(vertices[index[i + 2]]), clip);
        i += 6;
      } else {
        fill_triangle(vertex(vertices[index[i]]), vertex(vertices[index[i + 1]]), vertex(vertices[index[i + 2]]), clip);
        i += 3;
      }
    }
  }

 private:
  Vertex vertex(const ImDrawVert& v) const {
    return {(v.pos.x - origin_.x) * scale_.x, (v.pos.y - origin_.y) * scale_.y, v.uv.x * atlas_.width,
            v.uv.y * atlas_.height, v.col};
  }

  // Corners a b c, a c d, clockwise from the top left one, of one colour.
  static bool is_rectangle(const ImDrawVert* v, const ImDrawIdx* i) {
    if (i[3] != i[0] || i[4] != i[2]) return false;
    const ImDrawVert &a = v[i[0]], &b = v[i[1]], &c = v[i[2]], &d = v[i[5]];
    return a.pos.y == b.pos.y && b.pos.x == c.pos.x && c.pos.y == d.pos.y && d.pos.x == a.pos.x && a.pos.x <= c.pos.x &&
           a.pos.y <= c.pos.y && a.col == b.col && a.col == c.col && a.col == d.col && a.uv.y == b.uv.y &&
           b.uv.x == c.uv.x;
  }

  std::uint32_t coverage(double u, double v) const {
    const int x = std::clamp(static_cast<int>(u), 0, atlas_.width - 1),
              y = std::clamp(static_cast<int>(v), 0, atlas_.height - 1);
    return atlas_.alpha[static_cast<std::size_t>(y) * atlas_.width + x];
  }

  static std::uint32_t alpha_of(std::uint32_t colour) { return colour >> 24; }

  void fill_rectangle(const Vertex& a, const Vertex& c, const ClipBox& clip) {
    const int x0 = std::max(first_centre(a.x), clip.left), x1 = std::min(first_centre(c.x), clip.right);
    const int y0 = std::max(first_centre(a.y), clip.top), y1 = std::min(first_centre(c.y), clip.bottom);
    if (x0 >= x1 || y0 >= y1) return;
    if (a.u == c.u && a.v == c.v) return fill_plain(a.colour, {x0, y0, x1, y1});
    const double du = (c.u - a.u) / (c.x - a.x), dv = (c.v - a.v) / (c.y - a.y);
    for (int y = y0; y < y1; ++y) {
      std::uint32_t* row = target_.row(y);
      const double v = a.v + (y + 0.5 - a.y) * dv;
      for (int x = x0; x < x1; ++x) {
        const std::uint32_t alpha = coverage(a.u + (x + 0.5 - a.x) * du, v) * alpha_of(a.colour) / 255;
        if (alpha != 0) row[x] = blend(row[x], a.colour, alpha);
      }
    }
  }

  void fill_plain(std::uint32_t colour, const ClipBox& box) {
    const std::uint32_t alpha = alpha_of(colour);
    if (alpha == 0) return;
    if (alpha == 255) return fill_opaque(target_, colour, box);
    for (int y = box.top; y < box.bottom; ++y) {
      std::uint32_t* row = target_.row(y);
      for (int x = box.left; x < box.right; ++x) row[x] = blend(row[x], colour, alpha);
    }
  }

  // From its upper to its lower end, so that two triangles sharing it agree on every pixel.
  struct Edge {
    double top, bottom, x, slope;
    Edge(const Vertex& a, const Vertex& b) {
      const Vertex &upper = a.y > b.y ? b : a, &lower = a.y > b.y ? a : b;
      top = upper.y, bottom = lower.y, x = upper.x;
      slope = bottom > top ? (lower.x - upper.x) / (bottom - top) : 0;
    }
  };

  // Where the edges of a triangle cross the line of pixel centres `y`: [left, right).
  static bool span(const Edge (&edges)[3], double y, double& left, double& right) {
    left = 1e30, right = -1e30;
    for (const Edge& e : edges) {
      if (y < e.top || y >= e.bottom) continue;
      const double x = e.x + e.slope * (y - e.top);
      left = std::min(left, x), right = std::max(right, x);
    }
    return left < right;
  }

  void fill_triangle(const Vertex& a, const Vertex& b, const Vertex& c, const ClipBox& clip) {
    const double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if (area == 0) return;
    const int y0 = std::max(first_centre(std::min({a.y, b.y, c.y})), clip.top);
    const int y1 = std::min(first_centre(std::max({a.y, b.y, c.y})), clip.bottom);
    if (y0 >= y1) return;
    const Vertex* const corner[3] = {&a, &b, &c};
    const Edge edges[3] = {{a, b}, {b, c}, {c, a}};
    const bool textured = a.u != b.u || a.u != c.u || a.v != b.v || a.v != c.v;
    const bool plain = !textured && a.colour == b.colour && a.colour == c.colour;
    const bool one_colour = ((a.colour ^ b.colour) & 0xffffff) == 0 && ((a.colour ^ c.colour) & 0xffffff) == 0;
    const Slope alpha = one_colour ? slope_of_alpha(corner, area) : Slope{};
    for (int y = y0; y < y1; ++y) {
      double left, right;
      if (!span(edges, y + 0.5, left, right)) continue;
      const int x0 = std::max(first_centre(left), clip.left), x1 = std::min(first_centre(right), clip.right);
      if (x0 >= x1) continue;
      if (plain)
        fill_plain(a.colour, {x0, y, x1, y + 1});
      else if (one_colour && !textured)
        fade_span(a, alpha, y, x0, x1);
      else
        shade_span(corner, area, y, x0, x1, textured, one_colour);
    }
  }

  // How fast the alpha changes from pixel to pixel.
  struct Slope {
    double across = 0, down = 0;
  };

  static Slope slope_of_alpha(const Vertex* const (&corner)[3], double area) {
    const Vertex &a = *corner[0], &b = *corner[1], &c = *corner[2];
    const auto alpha = [](const Vertex& v) { return static_cast<double>(alpha_of(v.colour)); };
    const double to_b = (alpha(b) - alpha(a)) / area, to_c = (alpha(c) - alpha(a)) / area;
    return {(c.y - a.y) * to_b - (b.y - a.y) * to_c, (b.x - a.x) * to_c - (c.x - a.x) * to_b};
  }

  // The soft edge of a line: one colour, of which the alpha is linear.
  void fade_span(const Vertex& a, const Slope& slope, int y, int x0, int x1) {
    double alpha = alpha_of(a.colour) + (x0 + 0.5 - a.x) * slope.across + (y + 0.5 - a.y) * slope.down + 0.5;
    std::uint32_t* row = target_.row(y);
    for (int x = x0; x < x1; ++x, alpha += slope.across)
      if (alpha >= 1) row[x] = blend(row[x], a.colour, static_cast<std::uint32_t>(std::min(alpha, 255.0)));
  }

  // Weights of the corners, linear in x, give colour and texture position of each pixel.
  void shade_span(const Vertex* const (&corner)[3], double area, int y, int x0, int x1, bool textured, bool one_colour) {
    const Vertex &a = *corner[0], &b = *corner[1], &c = *corner[2];
    const double px = x0 + 0.5 - a.x, py = y + 0.5 - a.y;
    double wb = (px * (c.y - a.y) - (c.x - a.x) * py) / area, wc = ((b.x - a.x) * py - px * (b.y - a.y)) / area;
    const double step_b = (c.y - a.y) / area, step_c = (a.y - b.y) / area;
    std::uint32_t* row = target_.row(y);
    for (int x = x0; x < x1; ++x, wb += step_b, wc += step_c) {
      const double wa = 1 - wb - wc;
      const auto channel = [&](int shift) {
        const auto of = [shift](const Vertex& v) { return static_cast<double>((v.colour >> shift) & 0xff); };
        return static_cast<std::uint32_t>(std::clamp(wa * of(a) + wb * of(b) + wc * of(c) + 0.5, 0.0, 255.0));
      };
      std::uint32_t alpha = channel(24);
      if (textured) alpha = alpha * coverage(wa * a.u + wb * b.u + wc * c.u, wa * a.v + wb * b.v + wc * c.v) / 255;
      if (alpha == 0) continue;
      row[x] = blend(row[x], one_colour ? a.colour : channel(0) | channel(8) << 8 | channel(16) << 16, alpha);
    }
  }

  Target target_;
  AlphaTexture atlas_;
  ImVec2 origin_, scale_;
};

}  // namespace

void rasterise(const ImDrawData& data, const AlphaTexture& atlas, Colour background, Image& target) {
  const ImVec2 scale = data.FramebufferScale;
  target.width = std::max(0, static_cast<int>(std::lround(data.DisplaySize.x * scale.x)));
  target.height = std::max(0, static_cast<int>(std::lround(data.DisplaySize.y * scale.y)));
  const std::size_t count = static_cast<std::size_t>(target.width) * target.height;
  std::vector<std::uint8_t>& bytes = target.rgba;
  bytes.resize(count * 4);
  if (count == 0) return;
  auto* pixels = reinterpret_cast<std::uint32_t*>(bytes.data());  // vector storage is aligned for any scalar
  const std::uint32_t ground = 0xff000000u | background.b << 16 | background.g << 8 | background.r;
  fill_opaque({pixels, target.width}, ground, {0, 0, target.width, target.height});

  Painter painter({pixels, target.width}, atlas, data.DisplayPos, scale);
  for (const ImDrawList* list : data.CmdLists) {
    for (const ImDrawCmd& command : list->CmdBuffer) {
      const auto edge = [](float v, float origin, float s, int limit) {
        return std::clamp(static_cast<int>(std::lround((v - origin) * s)), 0, limit);
      };
      const ImVec4& r = command.ClipRect;
      const ImVec2& o = data.DisplayPos;
      const ClipBox clip{edge(r.x, o.x, scale.x, target.width), edge(r.y, o.y, scale.y, target.height),
                         edge(r.z, o.x, scale.x, target.width), edge(r.w, o.y, scale.y, target.height)};
      if (command.UserCallback == nullptr && clip.left < clip.right && clip.top < clip.bottom)
        painter.paint(*list, command, clip);
    }
  }
}

}  // namespace planscope::viz
