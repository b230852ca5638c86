#include "engine/program/program_json.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/program/structure.h"

namespace planscope {

namespace {

constexpr std::string_view format_name = "planscope program 1";
constexpr std::array roles = {"data", "gradient", "home", "state"};
constexpr std::array partial_kinds = {"sum", "merge", "softmax"};
constexpr std::array reaches = {"own", "prefix", "every"};

std::string_view to_string(Role r) { return roles[static_cast<std::size_t>(r)]; }
std::string_view to_string(Reach r) { return reaches[static_cast<std::size_t>(r)]; }
std::string_view to_string(PartialKind k) { return partial_kinds[static_cast<std::size_t>(k)]; }
using planscope::to_string;

// Appends JSON text. Lists are written by a function per item, so that commas are in one place.
class Writer {
 public:
  std::string take() { return std::move(out_); }

  Writer& raw(std::string_view s) {
    out_ += s;
    return *this;
  }
  Writer& number(std::int64_t n) {
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, n).ptr;
    out_.append(buffer, end);
    return *this;
  }
  Writer& text(std::string_view s) {
    static constexpr std::string_view digits = "0123456789abcdef";
    out_ += '"';
    for (const char c : s) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out_ += "\\u00";
        out_ += digits[static_cast<unsigned char>(c) >> 4];
        out_ += digits[static_cast<unsigned char>(c) & 15];
      } else {
        out_ += c;
      }
    }
    out_ += '"';
    return *this;
  }
  template <class List, class F>
  Writer& list(const List& items, F write, std::string_view separator = ",") {
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += separator;
      first = false;
      write(item);
    }
    out_ += ']';
    return *this;
  }
  template <class Int>
  Writer& numbers(const std::vector<Int>& items) {
    return list(items, [&](Int n) { number(n); });
  }

 private:
  std::string out_;
};

// One member of the Program, one item a line.
template <class List, class F>
void section(Writer& w, std::string_view name, const List& items, F write) {
  w.raw(",\n").text(name).raw(":\n").list(items, write, ",\n");
}

void write_digit(Writer& w, const Digit& d) { w.number(d.axis).raw(",").number(d.size).raw(",").number(d.stride); }

// What few digits have, as one item more: the sizes of blocks, or how it is turned and what it reaches.
void write_more(Writer& w, const Digit& d) {
  if (!d.sizes.empty()) w.raw(",").numbers(d.sizes);
  if (!is_turned(d) && d.reach == Reach::own) return;
  w.raw(",{\"by\":").number(d.by).raw(",\"step\":").number(d.step).raw(",\"turn\":").number(d.turn);
  w.raw(",\"start\":").number(d.start).raw(",\"cross\":").number(d.cross);
  w.raw(",\"reach\":").text(to_string(d.reach)).raw("}");
}

void write_place(Writer& w, const Place& p) {
  w.raw("{\"grid\":").number(p.grid).raw(",\"fixed\":");
  w.list(p.fixed, [&](const auto& f) { w.raw("[").number(f.first).raw(",").number(f.second).raw("]"); }).raw("}");
}

void write_layout(Writer& w, const Layout& l) {
  w.raw("{\"splits\":").list(l.splits, [&](const Split& s) {
    w.raw("[").number(s.dim).raw(",").number(s.part).raw(",");
    w.list(s.digits, [&](const Digit& d) { w.raw("["), write_digit(w, d), write_more(w, d), w.raw("]"); });
    if (s.part == kByKey) w.raw(",").number(s.key);
    w.raw("]");
  });
  w.raw(",\"partials\":").list(l.partials, [&](const Partial& x) {
    w.raw("[").text(to_string(x.kind)).raw(","), write_digit(w, x.digit), w.raw("]");
  });
  w.raw("}");
}

void write_value(Writer& w, const ProgramValue& v) {
  w.raw("[")
      .number(v.tensor)
      .raw(",")
      .text(to_string(v.role))
      .raw(",")
      .number(v.layout)
      .raw(",")
      .number(v.place)
      .raw(",");
  w.numbers(v.indexed).raw(",").number(v.refills);
  if (v.lag != 0) w.raw(",").number(v.lag);
  w.raw("]");
}

void write_binding(Writer& w, const Binding& b) {
  w.raw("["), write_digit(w, b.digit);
  w.raw(",").number(b.factor).raw(",").number(b.part).raw(",").text(to_string(b.origin)).raw(",").number(b.statement);
  write_more(w, b.digit);
  w.raw("]");
}

void write_piece(Writer& w, const Piece& p) {
  w.raw("{\"leaves\":").number(p.leaves).raw(",\"gradient\":").raw(p.gradient ? "true" : "false");
  w.raw(",\"outputs\":").numbers(p.outputs);
  w.raw(",\"slots\":").list(p.slots, [&](const PieceSlot& s) {
    w.raw("[").number(s.tensor).raw(",").number(s.layout).raw("]");
  });
  w.raw(",\"ops\":").list(p.ops, [&](const PieceOp& o) {
    w.raw("[").number(o.op).raw(",").numbers(o.inputs).raw(",").number(o.first_output).raw(",");
    w.list(o.bindings, [&](const Binding& b) { write_binding(w, b); }).raw("]");
  });
  w.raw("}");
}

void write_move(Writer& w, const Move& m) {
  w.raw(",\"move\":[").text(to_string(m.kind)).raw(",");
  const auto one = [&](const Digit& d) { w.raw("["), write_digit(w, d), write_more(w, d), w.raw("]"); };
  w.list(m.digits, one);
  for (const int n : {m.dim, m.part, m.from_dim, m.from_part}) w.raw(",").number(n);
  w.raw(",").text(to_string(m.reduce));
  if (m.key >= 0) w.raw(",").number(m.key);
  if (m.turned != Digit{}) w.raw(","), one(m.turned);
  w.raw("]");
}

void write_instruction(Writer& w, const Instruction& i) {
  w.raw("{\"do\":").text(to_string(i.code));
  if (i.piece >= 0) w.raw(",\"piece\":").number(i.piece);
  if (!i.in.empty()) w.raw(",\"in\":").numbers(i.in);
  if (!i.out.empty()) w.raw(",\"out\":").numbers(i.out);
  if (i.move != Move{}) write_move(w, i.move);
  if (i.transfer >= 0) w.raw(",\"transfer\":").number(i.transfer);
  if (i.keep) w.raw(",\"keep\":true");
  if (i.last) w.raw(",\"last\":true");
  if (i.statement >= 0) w.raw(",\"statement\":").number(i.statement);
  w.raw("}");
}

void write_segment(Writer& w, const Segment& s) {
  w.raw("{\"name\":").text(s.name).raw(",\"phase\":").text(to_string(s.phase)).raw(",\"place\":").number(s.place);
  w.raw(",\"free_axes\":").numbers(s.free_axes).raw(",\"instructions\":");
  w.list(s.instructions, [&](const Instruction& i) { write_instruction(w, i); }, ",\n ").raw("}");
}

void write_class(Writer& w, const DeviceClass& c) {
  w.raw("{\"name\":").text(c.name).raw(",\"place\":"), write_place(w, c.place);
  w.raw(",\"devices\":").numbers(c.devices).raw(",\"loops\":").list(c.loops, [&](const Loop& l) {
    w.raw("[").number(l.count).raw(",").list(l.body, [&](const SlotStep& s) {
      w.raw("[").number(s.segment).raw(",").numbers(s.base).raw(",").numbers(s.step);
      if (s.ahead != 0) w.raw(",").number(s.ahead);
      w.raw("]");
    });
    w.raw("]");
  });
  w.raw("}");
}

}  // namespace

std::string to_json(const Program& p) {
  Writer w;
  w.raw("{\"format\":").text(format_name);
  w.raw(",\n\"graph\":").text(hex(p.graph_digest)).raw(",\n\"plan\":").text(hex(p.plan_digest));
  w.raw(",\n\"cluster\":").text(hex(p.cluster_digest)).raw(",\n\"devices\":").number(p.device_count);
  w.raw(",\n\"loss\":").number(p.loss);
  section(w, "sizes", p.sizes, [&](const auto& s) { w.raw("[").text(s.first).raw(",").number(s.second).raw("]"); });
  section(w, "axes", p.axes, [&](const Axis& a) {
    w.raw("{\"name\":").text(a.name).raw(",\"size\":").number(a.size).raw(",\"grid\":").number(a.grid);
    if (a.of >= 0) w.raw(",\"of\":").number(a.of).raw(",\"indices\":").numbers(a.indices);
    w.raw("}");
  });
  section(w, "grids", p.grids, [&](const Grid& g) {
    w.raw("{\"name\":").text(g.name).raw(",\"axes\":").numbers(g.axes).raw(",\"strides\":").numbers(g.strides);
    w.raw(",\"first\":").number(g.first).raw(",\"devices\":").numbers(g.devices).raw("}");
  });
  section(w, "places", p.places, [&](const Place& x) { write_place(w, x); });
  section(w, "layouts", p.layouts, [&](const Layout& x) { write_layout(w, x); });
  section(w, "values", p.values, [&](const ProgramValue& x) { write_value(w, x); });
  section(w, "pieces", p.pieces, [&](const Piece& x) { write_piece(w, x); });
  section(w, "transfers", p.transfers,
          [&](const Transfer& t) { w.raw("[").numbers(t.from).raw(",").numbers(t.to).raw("]"); });
  section(w, "segments", p.segments, [&](const Segment& x) { write_segment(w, x); });
  section(w, "classes", p.classes, [&](const DeviceClass& x) { write_class(w, x); });
  section(w, "statements", p.statements, [&](const StatementRef& s) {
    w.raw("[").number(s.line).raw(",").text(s.file).raw(",").text(s.text).raw("]");
  });
  if (!p.relaxations.empty())
    section(w, "relaxations", p.relaxations, [&](const Relaxation& r) {
      w.raw("[").number(r.op).raw(",").number(r.lag).raw(",").number(r.statement).raw("]");
    });
  w.raw("}\n");
  return w.take();
}

namespace {

using nlohmann::json;

struct Damaged {
  std::string what;
};

// Reads typed items; throws Damaged (caught in program_from_json) where the text has something else.
class Reader {
 public:
  explicit Reader(const json& root) : root_(root) {}

  Program program() {
    Program p;
    if (text(member(root_, "format")) != format_name) throw Damaged{"it is not a program of this version"};
    p.graph_digest = digest_of("graph");
    p.plan_digest = digest_of("plan");
    p.cluster_digest = digest_of("cluster");
    p.device_count = integer<int>(member(root_, "devices"));
    p.loss = integer<int>(member(root_, "loss"));
    read("sizes", p.sizes,
         [&](const json& j) { return std::pair(text(item(j, 0, 2)), integer<std::int64_t>(item(j, 1, 2))); });
    read("axes", p.axes, [&](const json& j) {
      Axis a{text(member(j, "name")), integer<std::int64_t>(member(j, "size")), integer<int>(member(j, "grid"))};
      if (j.contains("of")) {
        a.of = integer<int>(member(j, "of"));
        a.indices = integers<std::int64_t>(member(j, "indices"));
      }
      return a;
    });
    read("grids", p.grids, [&](const json& j) { return grid(j); });
    read("places", p.places, [&](const json& j) { return place(j); });
    read("layouts", p.layouts, [&](const json& j) { return layout(j); });
    read("values", p.values, [&](const json& j) { return value(j); });
    read("pieces", p.pieces, [&](const json& j) { return piece(j); });
    read("transfers", p.transfers,
         [&](const json& j) { return Transfer{integers<int>(item(j, 0, 2)), integers<int>(item(j, 1, 2))}; });
    read("segments", p.segments, [&](const json& j) { return segment(j); });
    read("classes", p.classes, [&](const json& j) { return device_class(j); });
    read("statements", p.statements, [&](const json& j) {
      return StatementRef{integer<int>(item(j, 0, 3)), text(item(j, 1, 3)), text(item(j, 2, 3))};
    });
    if (root_.contains("relaxations"))
      read("relaxations", p.relaxations, [&](const json& j) {
        return Relaxation{integer<int>(item(j, 0, 3)), integer<std::int64_t>(item(j, 1, 3)),
                          integer<int>(item(j, 2, 3))};
      });
    return p;
  }

  const std::string& where() const { return where_; }

 private:
  template <class T, class F>
  void read(const char* name, std::vector<T>& out, F one) {
    const json& list = member(root_, name);
    if (!list.is_array()) throw Damaged{std::string("'") + name + "' is not a list"};
    out.reserve(list.size());
    for (const json& j : list) {
      where_ = std::string(name) + "[" + std::to_string(out.size()) + "]";
      out.push_back(one(j));
    }
    where_.clear();
  }

  static const json& member(const json& j, const char* name) {
    if (!j.is_object()) throw Damaged{"an object is expected"};
    const auto at = j.find(name);
    if (at == j.end()) throw Damaged{std::string("'") + name + "' is missing"};
    return *at;
  }
  static const json& item(const json& j, std::size_t k, std::size_t count) {
    if (!j.is_array() || j.size() != count) throw Damaged{"a list of " + std::to_string(count) + " is expected"};
    return j[k];
  }
  template <class Int>
  static Int integer(const json& j) {
    if (!j.is_number_integer()) throw Damaged{"a whole number is expected"};
    if (j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Int>::max()))
      throw Damaged{"a number is too large"};
    const std::int64_t n = j.get<std::int64_t>();
    if (n < std::numeric_limits<Int>::min() || n > std::numeric_limits<Int>::max())
      throw Damaged{"a number is too large"};
    return static_cast<Int>(n);
  }
  static const std::string& text(const json& j) {
    if (!j.is_string()) throw Damaged{"a text is expected"};
    return j.get_ref<const std::string&>();
  }
  static bool flag(const json& j) {
    if (!j.is_boolean()) throw Damaged{"true or false is expected"};
    return j.get<bool>();
  }
  std::uint64_t digest_of(const char* name) {
    const std::string& s = text(member(root_, name));
    std::uint64_t n = 0;
    const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), n, 16);
    if (failed != std::errc{} || end != s.data() + s.size() || s.size() != 16)
      throw Damaged{std::string("'") + name + "' is no digest"};
    return n;
  }
  template <class T, class F>
  static std::vector<T> list(const json& j, F one) {
    if (!j.is_array()) throw Damaged{"a list is expected"};
    std::vector<T> out;
    out.reserve(j.size());
    for (const json& x : j) out.push_back(one(x));
    return out;
  }
  template <class Int>
  static std::vector<Int> integers(const json& j) {
    return list<Int>(j, [](const json& x) { return integer<Int>(x); });
  }
  // The enumerator whose text is given, among the first `count`.
  template <class E>
  static E word(const json& j, int count) {
    const std::string& s = text(j);
    for (int k = 0; k < count; ++k)
      if (to_string(static_cast<E>(k)) == s) return static_cast<E>(k);
    throw Damaged{"'" + s.substr(0, 40) + "' is no known word"};
  }

  // A digit from item `at` on of a list of `count` items; what few digits have is one item more.
  static Digit digit(const json& j, std::size_t at, std::size_t count) {
    const std::size_t n = j.is_array() && j.size() == count + 1 ? count + 1 : count;
    Digit d{integer<int>(item(j, at, n)),
            integer<std::int64_t>(item(j, at + 1, n)),
            integer<std::int64_t>(item(j, at + 2, n)),
            {}};
    if (n == count) return d;
    const json& more = j[count];
    if (!more.is_object()) {
      d.sizes = integers<std::int64_t>(more);
      return d;
    }
    d.by = integer<int>(member(more, "by"));
    d.step = integer<std::int64_t>(member(more, "step"));
    d.turn = integer<std::int64_t>(member(more, "turn"));
    d.start = integer<std::int64_t>(member(more, "start"));
    d.cross = integer<std::int64_t>(member(more, "cross"));
    d.reach = word<Reach>(member(more, "reach"), static_cast<int>(reaches.size()));
    return d;
  }
  static std::vector<Digit> digits(const json& j) {
    return list<Digit>(j, [](const json& x) { return digit(x, 0, 3); });
  }
  static Grid grid(const json& j) {
    return {text(member(j, "name")), integers<int>(member(j, "axes")), integers<std::int64_t>(member(j, "strides")),
            integer<std::int64_t>(member(j, "first")), integers<int>(member(j, "devices"))};
  }
  static Place place(const json& j) {
    return {integer<int>(member(j, "grid")),
            list<std::pair<AxisId, std::int64_t>>(member(j, "fixed"), [](const json& x) {
              return std::pair(integer<int>(item(x, 0, 2)), integer<std::int64_t>(item(x, 1, 2)));
            })};
  }
  static Layout layout(const json& j) {
    return {list<Split>(member(j, "splits"),
                        [](const json& x) {
                          const std::size_t n = x.is_array() && x.size() == 4 ? 4 : 3;  // by key: with the key
                          return Split{integer<int>(item(x, 0, n)), integer<int>(item(x, 1, n)), digits(item(x, 2, n)),
                                       n == 4 ? integer<int>(x[3]) : -1};
                        }),
            list<Partial>(member(j, "partials"),
                          [](const json& x) { return Partial{digit(x, 1, 4), word<PartialKind>(x[0], 3)}; })};
  }
  static ProgramValue value(const json& j) {
    constexpr int role_count = static_cast<int>(roles.size());
    const std::size_t n = j.is_array() && j.size() == 7 ? 7 : 6;  // with a lag
    return {integer<int>(item(j, 0, n)),
            word<Role>(item(j, 1, n), role_count),
            integer<int>(item(j, 2, n)),
            integer<int>(item(j, 3, n)),
            integers<int>(item(j, 4, n)),
            integer<int>(item(j, 5, n)),
            n == 7 ? integer<std::int64_t>(j[6]) : 0};
  }
  static Binding binding(const json& j) {
    return {digit(j, 0, 7), integer<int>(j[3]), integer<int>(j[4]), word<Origin>(j[5], 5), integer<int>(j[6])};
  }
  static Piece piece(const json& j) {
    Piece p;
    p.leaves = integer<int>(member(j, "leaves"));
    p.gradient = flag(member(j, "gradient"));
    p.outputs = integers<int>(member(j, "outputs"));
    p.slots = list<PieceSlot>(member(j, "slots"), [](const json& x) {
      return PieceSlot{integer<int>(item(x, 0, 2)), integer<int>(item(x, 1, 2))};
    });
    p.ops = list<PieceOp>(member(j, "ops"), [](const json& x) {
      return PieceOp{integer<int>(item(x, 0, 4)), integers<int>(item(x, 1, 4)), integer<int>(item(x, 2, 4)),
                     list<Binding>(item(x, 3, 4), [](const json& b) { return binding(b); })};
    });
    return p;
  }
  static Move move(const json& j) {
    Move m;
    const std::size_t n = j.is_array() && j.size() == 8 ? 8 : 7;  // with a key, or what is turned
    m.kind = word<MoveKind>(item(j, 0, n), 8);
    m.digits = digits(j[1]);
    m.dim = integer<int>(j[2]);
    m.part = integer<int>(j[3]);
    m.from_dim = integer<int>(j[4]);
    m.from_part = integer<int>(j[5]);
    m.reduce = word<PartialKind>(j[6], 3);
    if (n == 8 && j[7].is_array())
      m.turned = digit(j[7], 0, 3);
    else if (n == 8)
      m.key = integer<int>(j[7]);
    return m;
  }
  static Instruction instruction(const json& j) {
    Instruction i;
    i.code = word<Code>(member(j, "do"), 17);
    for (const auto& [key, x] : j.items()) {
      if (key == "piece")
        i.piece = integer<int>(x);
      else if (key == "in")
        i.in = integers<int>(x);
      else if (key == "out")
        i.out = integers<int>(x);
      else if (key == "move")
        i.move = move(x);
      else if (key == "transfer")
        i.transfer = integer<int>(x);
      else if (key == "keep")
        i.keep = flag(x);
      else if (key == "last")
        i.last = flag(x);
      else if (key == "statement")
        i.statement = integer<int>(x);
      else if (key != "do")
        throw Damaged{"an instruction has no '" + key.substr(0, 40) + "'"};
    }
    return i;
  }
  static Segment segment(const json& j) {
    return {text(member(j, "name")), word<Phase>(member(j, "phase"), 9), integer<int>(member(j, "place")),
            integers<int>(member(j, "free_axes")),
            list<Instruction>(member(j, "instructions"), [](const json& x) { return instruction(x); })};
  }
  static DeviceClass device_class(const json& j) {
    return {text(member(j, "name")), place(member(j, "place")), integers<int>(member(j, "devices")),
            list<Loop>(member(j, "loops"), [](const json& l) {
              return Loop{integer<std::int64_t>(item(l, 0, 2)), list<SlotStep>(item(l, 1, 2), [](const json& s) {
                            const std::size_t n = s.size() == 4 ? 4 : 3;
                            return SlotStep{integer<int>(item(s, 0, n)), integers<std::int64_t>(item(s, 1, n)),
                                            integers<std::int64_t>(item(s, 2, n)),
                                            n == 4 ? integer<std::int64_t>(item(s, 3, n)) : 0};
                          })};
            })};
  }

  const json& root_;
  std::string where_;
};

}  // namespace

Result<Program> program_from_json(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) return error("the program file is damaged", "it is not JSON");
  Reader reader(root);
  try {
    return reader.program();
  } catch (const Damaged& d) {
    return error("the program file is damaged", reader.where().empty() ? d.what : reader.where() + ": " + d.what);
  }
}

std::vector<Diagnostic> check_fit(const Program& p, const Graph& graph) {
  if (p.graph_digest == graph.digest) return check_structure(p, graph);
  return {error("the program was made for another model",
                "its graph is " + hex(p.graph_digest) + ", this one is " + hex(graph.digest),
                "Sizes are part of it: open the model with the sizes that the program names.")};
}

Result<Program> program_from_json(std::string_view text, const Graph& graph) {
  Result<Program> p = program_from_json(text);
  if (!p.value) return p;
  std::vector<Diagnostic> problems = check_fit(*p, graph);
  if (!problems.empty()) return problems;
  return p;
}

}  // namespace planscope
