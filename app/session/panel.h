#pragma once
// What a surface shows, as plain data: seven kinds of panels, each of which a surface renders in one way, whatever
// panel it is.
// Every figure is a value with a unit, and the text that it is shown as; scripts read the values, people the texts.
//
//   Panel p{.id = "runs", .title = "Runs", .kind = PanelKind::table};
//   p.columns = {{"run", "Run"}, {"step_us", "Step", Unit::microseconds}};
//   p.rows.push_back({.id = "3", .cells = {cell(3), cell(1200.0, Unit::microseconds)}});
//   to_json(p)   // {"rows": [{"run": 3, "step_us": 1200.0}]}
//   to_text(p)   // the same as people read it
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope::session {

using Json = nlohmann::ordered_json;

enum class PanelKind { table, tree, form, script, chips, facts, chart };
std::string_view to_string(PanelKind);

enum class Unit { none, count, microseconds, bytes, share };
enum class Tone { plain, dim, good, bad, warning };  // surfaces show each with a sign beside its colour
std::string_view to_string(Tone);

struct Cell {
  Json value = nullptr;   // null: not known
  std::string text = {};  // as it is shown
  Tone tone = Tone::plain;
  std::string tip = {};  // the whole of it, its origin, or the reason why it is not known
  // What changing it runs, of a table's cell: a line of a session script with the new value behind it; of a yes or no,
  // the whole line that makes it the other one. Empty: it cannot be changed.
  std::string edit = {};
  bool operator==(const Cell&) const = default;
};
Cell cell(Json value, Unit unit = Unit::none, Tone tone = Tone::plain, std::string tip = {});

// The parts of a time, by name, that are more than nothing.
using PartsUs = std::vector<std::pair<std::string, double>>;
std::string each_part_text(const PartsUs&);          // `warm-up 30 µs, data 13 µs`
std::string sum_and_parts_text(const PartsUs&);  // `43 µs: warm-up 30 µs, data 13 µs`; of one alone `43 µs: data`

Cell time_cell(std::int64_t wall_us);  // as `2026-11-26T11:21:43Z`; 0: not known

// One named figure: of chips and facts, and beside the rows of a table. `id` ends with the unit, as in `step_us`.
struct Fact {
  std::string id, title;
  Cell cell;
  std::string command =
      {};  // what activating it runs, as a line of a session script; arguments that are missing are asked for
  bool quiet = false;  // for scripts: people see it elsewhere
  bool operator==(const Fact&) const = default;
};

struct Column {
  std::string id, title;
  Unit unit = Unit::none;
  bool quiet = false;  // for scripts: people see it elsewhere, as the parent of a row in a tree
  bool operator==(const Column&) const = default;
};

struct TableRow {
  std::string id;
  std::string parent = {};       // of trees: the id of another row; empty: a root
  std::vector<Cell> cells = {};  // by column
  bool selected = false;
  Tone tone = Tone::plain;
  std::string command = {};  // what activating the row runs, as a line of a session script
  bool operator==(const TableRow&) const = default;
};

// A field that can be changed, of forms.
struct Field {
  std::string id, title;
  Cell cell;
  std::vector<std::string> choices = {};  // empty: any text
  std::string problem = {};               // why the value is not valid
  std::string command = {};               // what setting it runs, with the value behind it; empty: it cannot be set
  bool operator==(const Field&) const = default;
};

// Of a script: columns count bytes from 0; `to` is behind the last one; 0 and 0: the whole line.
struct Mark {
  int line = 0;
  int from = 0, to = 0;
  Severity severity = Severity::error;
  std::string text, hint;
  std::string fix = {};  // what may stand there instead; empty: nothing is proposed
  bool operator==(const Mark&) const = default;
};

// What a line of a script does, for those who point at it.
struct LineNote {
  int line = 0;
  std::string text;
  bool operator==(const LineNote&) const = default;
};

// A line that a script does not have, at the place where it would be: what a planner proposes.
struct Ghost {
  int after = 0;  // the line before it; 0: it would be the first one
  std::string text;
  std::string command;  // that puts it there
  bool operator==(const Ghost&) const = default;
};

struct Series {
  std::string name;
  Unit unit = Unit::none;
  std::vector<std::pair<double, double>> points = {};
  Unit along = Unit::none;  // of the first number of each point
  std::string said = {};    // its values in words, for those who do not see the curve; empty: its last value
  bool operator==(const Series&) const = default;
};

struct Panel {
  std::string id, title;
  PanelKind kind = PanelKind::table;
  std::string empty = {};  // where there is nothing to show: what it is for, and the first step
  bool current = true;     // false: what is shown is not of the plan as it stands; `reason` says of what, and why
  std::string reason = {};
  std::vector<Fact> facts = {};
  std::string rows_id = "rows";
  std::vector<Column> columns = {};
  std::vector<TableRow> rows = {};
  std::vector<Field> fields = {};
  std::string text = {};  // the text of a script; in a panel of facts, a text that can be copied
  std::vector<Mark> marks = {};
  std::vector<LineNote> notes = {};  // by line
  std::vector<Ghost> ghosts = {};    // in the order of their places
  std::vector<Series> series = {};
  std::vector<std::string> commands = {};  // that it offers beside what it shows, as lines of a session script
  std::string paste = {};  // of tables: what text that is pasted runs, with the text behind it; empty: nothing
  bool operator==(const Panel&) const = default;
};

std::string said(const Series&);  // `best step: 4.1 ms`
Json to_json(const Panel&);
std::string to_text(const Panel&);

}  // namespace planscope::session
