// The plan language, statement by statement with an example: docs/plan-language.md as a tree that can be searched.
#include "app/session/panels/panels.h"
#include "app/session/panels/reference_text.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// Without the marks of Markdown: `code`, and \| for a bar in a table.
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '`' && !(text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '|')) out += text[i];
  return out;
}

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') + 1 - from);
}

// The cells of `| a | b |`; `\|` is a part of one.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out(1);
  for (std::size_t i = 1; i < line.size(); ++i)
    if (line[i] == '|' && line[i - 1] != '\\')
      out.emplace_back();
    else
      out.back() += line[i];
  out.pop_back();
  for (std::string& c : out) c = plain(trimmed(c));
  return out;
}

class Reference {
 public:
  explicit Reference(Panel& p) : panel_(p) {}

  void read(std::string_view text) {
    const std::vector<std::string> lines = split(text, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& line = lines[i];
      const bool heads_table = i + 1 < lines.size() && lines[i + 1].starts_with("|---");
      if (line.starts_with("```")) {
        end_paragraph();
        code_ = !code_;
      } else if (code_) {
        if (!trimmed(line).empty()) add("", "", line);
      } else if (line.starts_with("# ")) {
        section(line.substr(2));
      } else if (line.starts_with("## ")) {
        section(line.substr(3));
      } else if (heads_table) {
        end_paragraph();
        ++i;
        table_ = true;
      } else if (table_ && line.starts_with("|")) {
        std::vector<std::string> cells = cells_of(line);
        cells.resize(3);
        add(cells[0], cells[1], cells[2]);
      } else {
        table_ = false;
        if (line.empty() || line.starts_with("- ")) end_paragraph();
        paragraph_ += (paragraph_.empty() || line.empty() ? "" : " ") + (line.starts_with("- ") ? line.substr(2) : line);
      }
    }
    end_paragraph();
  }

 private:
  void section(const std::string& title) {
    end_paragraph();
    section_ = plain(title);
    TableRow row{.id = section_};
    row.cells = {cell(section_), cell(""), cell("")};
    panel_.rows.push_back(std::move(row));
  }

  void end_paragraph() {
    if (!paragraph_.empty()) add("", plain(paragraph_), "");
    paragraph_.clear();
  }

  void add(const std::string& written, const std::string& about, const std::string& example) {
    TableRow row{.id = section_ + "." + std::to_string(panel_.rows.size()), .parent = section_};
    row.cells = {cell(written), cell(about, Unit::none, Tone::plain, about), cell(example)};
    panel_.rows.push_back(std::move(row));
  }

  Panel& panel_;
  std::string section_, paragraph_;
  bool code_ = false, table_ = false;
};

}  // namespace

Panel reference_panel(const State&) {
  static const Panel panel = [] {
    Panel p{.id = "reference", .title = "Plan language", .kind = PanelKind::tree};
    p.columns = {{"written", "Written"}, {"about", "What it does"}, {"example", "Example"}};
    Reference(p).read(reference_text());
    return p;
  }();
  return panel;
}

}  // namespace planscope::session
