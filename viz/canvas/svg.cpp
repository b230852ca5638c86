#include "viz/canvas/svg.h"

#include <cstdio>
#include <map>

namespace planscope::viz {
namespace {

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", v);
  std::string s = text;
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

std::string attribute(const char* name, double value) { return std::string(" ") + name + "=\"" + number(value) + '"'; }

// `fill="#rrggbb"` or `stroke="#rrggbb"`, with its opacity where it is not opaque.
std::string paint(const char* what, Colour c) {
  std::string s = std::string(" ") + what + "=\"" + hex_text(c) + '"';
  if (c.a != 255) s += std::string(" ") + what + "-opacity=\"" + number(c.a / 255.0) + '"';
  return s;
}

std::string box(const Rect& r) {
  return attribute("x", r.x) + attribute("y", r.y) + attribute("width", r.width) + attribute("height", r.height);
}

class Writer {
 public:
  void operator()(const FillShape& s) {
    body_ += "<rect" + box(s.rect) + (s.radius > 0 ? attribute("rx", s.radius) : "") + paint("fill", s.colour) + "/>\n";
  }
  void operator()(const StrokeShape& s) {
    body_ += "<rect" + box(inset(s.rect, s.width / 2)) + (s.radius > 0 ? attribute("rx", s.radius) : "") +
             " fill=\"none\"" + paint("stroke", s.colour) + attribute("stroke-width", s.width) + "/>\n";
  }
  void operator()(const LineShape& s) {
    body_ += "<line" + attribute("x1", s.from.x + 0.5) + attribute("y1", s.from.y + 0.5) +
             attribute("x2", s.to.x + 0.5) + attribute("y2", s.to.y + 0.5) + paint("stroke", s.colour) +
             attribute("stroke-width", s.width);
    if (s.dash == Dash::dashed) body_ += attribute("stroke-dasharray", dash_length);
    body_ += "/>\n";
  }
  void operator()(const PolylineShape& s) {
    body_ += "<polyline points=\"";
    for (const Point& p : s.points)
      body_ += (&p == s.points.data() ? "" : " ") + number(p.x + 0.5) + ',' + number(p.y + 0.5);
    body_ += "\" fill=\"none\"" + paint("stroke", s.colour) + attribute("stroke-width", s.width) + "/>\n";
  }
  void operator()(const TextShape& s) {
    const TextMetrics m = metrics(s.style);
    body_ += "<text" + attribute("x", s.at.x) + attribute("y", s.at.y) + attribute("font-size", m.em.value) +
             (m.bold ? " font-weight=\"bold\"" : "") + paint("fill", s.colour) + '>' + escaped(s.text) + "</text>\n";
  }
  void operator()(const HatchShape& s) {
    body_ += "<rect" + box(s.rect) + " fill=\"url(#" + pattern(s.colour, s.pattern) + ")\"/>\n";
  }
  void operator()(const PushClip& s) {
    const std::string id = "c" + std::to_string(++clips_);
    body_ += "<clipPath id=\"" + id + "\"><rect" + box(s.rect) + "/></clipPath>\n<g clip-path=\"url(#" + id + ")\">\n";
  }
  void operator()(const PopClip&) { body_ += "</g>\n"; }

  const std::string& body() const { return body_; }
  const std::string& patterns() const { return patterns_; }

 private:
  // The lines in a square of their distance; those at its edges and corners are drawn from both sides.
  static std::string path(const HatchLines& lines) {
    const std::string s = number(lines.spacing), q = number(lines.spacing / 2), e = number(lines.spacing * 1.5);
    std::string out;
    if (lines.rising)
      out += "M-" + q + ' ' + q + "L" + q + " -" + q + "M0 " + s + 'L' + s + " 0M" + q + ' ' + e + 'L' + e + ' ' + q;
    if (lines.falling)
      out += "M-" + q + ' ' + q + "L" + q + ' ' + e + "M0 0L" + s + ' ' + s + "M" + q + " -" + q + 'L' + e + ' ' + q;
    if (lines.vertical) out += "M0 0V" + s + "M" + s + " 0V" + s;
    if (lines.horizontal) out += "M0 0H" + s + "M0 " + s + "H" + s;
    return out;
  }

  std::string pattern(Colour c, Hatch hatch) {
    const std::string key = hex_text(c) + number(c.a) + ' ' + std::to_string(static_cast<int>(hatch));
    const auto [entry, is_new] = ids_.try_emplace(key, "h" + std::to_string(ids_.size() + 1));
    if (is_new) {
      const HatchLines lines = lines_of(hatch);
      patterns_ += "<pattern id=\"" + entry->second + '"' + attribute("width", lines.spacing) +
                   attribute("height", lines.spacing) + " patternUnits=\"userSpaceOnUse\"><path d=\"" + path(lines) +
                   '"' + paint("stroke", c) + attribute("stroke-width", hatch_thickness) + "/></pattern>\n";
    }
    return entry->second;
  }

  std::string body_, patterns_;
  std::map<std::string, std::string> ids_;
  int clips_ = 0;
};

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n') out += c;
    }
  }
  return out;
}

std::string to_svg(const DisplayList& list, Size size, const SvgOptions& options) {
  Writer writer;
  for (const Shape& shape : list) std::visit(writer, shape);
  const std::string w = number(size.width), h = number(size.height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
                    "\" viewBox=\"0 0 " + w + ' ' + h + "\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n";
  if (!options.title.empty()) out += "<title>" + escaped(options.title) + "</title>\n";
  if (!writer.patterns().empty()) out += "<defs>\n" + writer.patterns() + "</defs>\n";
  if (options.background.a > 0)
    out += "<rect width=\"" + w + "\" height=\"" + h + '"' + paint("fill", options.background) + "/>\n";
  return out + writer.body() + "</svg>\n";
}

}  // namespace planscope::viz
