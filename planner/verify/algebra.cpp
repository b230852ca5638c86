#include "planner/verify/algebra.h"

#include <algorithm>
#include <iterator>

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

std::vector<Digit> bound_digits(const std::vector<Binding>& bindings, const PartRef& r) {
  std::vector<Digit> out;
  if (r.factor < 0) return out;
  for (const Binding& b : bindings)
    if (b.factor == r.factor && b.part == r.part) out.push_back(b.digit);
  return out;
}

// The rows that keyed factors select.
void add_selections(const Op& op, const Operand& operand, const std::vector<Binding>& bindings, Layout& out) {
  for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
    const int dim = selected_dim(op, operand, f);
    std::vector<Digit> digits = dim < 0 ? std::vector<Digit>{} : bound_digits(bindings, {f, 0});
    if (!digits.empty()) out.splits.push_back({dim, kByKey, std::move(digits), at(op.factors, f).key});
  }
}

Layout splits_of(const Op& op, const Operand& operand, const std::vector<Binding>& bindings) {
  Layout out;
  if (bindings.empty()) return out;
  for (int d = 0; d < static_cast<int>(operand.map.size()); ++d)
    for (int k = 0; k < static_cast<int>(at(operand.map, d).size()); ++k)
      if (std::vector<Digit> digits = bound_digits(bindings, at(at(operand.map, d), k)); !digits.empty())
        out.splits.push_back({d, k, std::move(digits)});
  add_selections(op, operand, bindings, out);
  return out;
}

void add_partial(Layout& l, const Digit& d, PartialKind kind) {
  const Partial p{plain(d), kind};
  l.partials.insert(std::upper_bound(l.partials.begin(), l.partials.end(), p), p);
}

bool in_set(const Op& op, int set, int input) {
  const std::vector<int>& s = at(op.linear, set);
  return std::find(s.begin(), s.end(), input) != s.end();
}

// Takes `digits` off the minor end of a part; by key, of the rows that this key selects.
bool take(Layout& l, int dim, int part, const std::vector<Digit>& digits, TensorId key) {
  for (auto s = l.splits.begin(); s != l.splits.end(); ++s) {
    if (s->dim != dim || s->part != part || (part == kByKey && s->key != key)) continue;
    if (s->digits.size() < digits.size() || !std::equal(digits.rbegin(), digits.rend(), s->digits.rbegin(), same))
      return false;
    s->digits.resize(s->digits.size() - digits.size());
    if (s->digits.empty()) l.splits.erase(s);
    return true;
  }
  return false;
}

void append(Layout& l, int dim, int part, const std::vector<Digit>& digits, TensorId key) {
  const TensorId by = part == kByKey ? key : -1;
  const auto here = [&](const Split& s) { return s.dim == dim && s.part == part && s.key == by; };
  auto s = std::find_if(l.splits.begin(), l.splits.end(), here);
  if (s == l.splits.end()) s = l.splits.insert(s, {dim, part, {}, by});
  s->digits.insert(s->digits.end(), digits.begin(), digits.end());
  std::sort(l.splits.begin(), l.splits.end());
}

// As long as rows are selected from the region of a dimension, the region stays.
bool regions_stay(const Layout& before, const Layout& after) {
  return std::all_of(before.splits.begin(), before.splits.end(), [&](const Split& s) {
    const auto also = [&](const Split& x) { return x.dim == s.dim && x.part == kByKey; };
    return s.part != kByKey || std::none_of(after.splits.begin(), after.splits.end(), also) ||
           key_layout(before, s.dim) == key_layout(after, s.dim);
  });
}

Layout sorted(Layout l) {
  std::sort(l.splits.begin(), l.splits.end());
  l.partials = canonical({{}, std::move(l.partials)}).partials;
  return l;
}

// Whether `size` cut into `major` blocks, and each of these into `minor`, gives the blocks of one cut into all of them: the
// larger ones first.
bool cuts_alike(std::int64_t size, std::int64_t major, std::int64_t minor) {
  const std::int64_t small = size / major, larger = size % major;
  return (larger < 2 || (small + 1) % minor == 0) && (major - larger < 2 || small % minor == 0) &&
         (larger == 0 || small % minor == 0 || (small + 1) % minor == 0);
}

// The sizes of blocks that a digit makes of blocks of `sizes`.
std::vector<std::int64_t> block_sizes(const std::vector<std::int64_t>& sizes, const Digit& d) {
  std::vector<std::int64_t> out = d.sizes;
  if (out.empty())
    for (const std::int64_t s : sizes) out.insert(out.end(), {s / d.size, (s + d.size - 1) / d.size});
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool is_next_to(const Digit& major, const Digit& minor) {
  const auto simple = [](const Digit& d) { return d.sizes.empty() && !is_turned(d) && d.reach == Reach::own; };
  return major.axis == minor.axis && major.stride == minor.stride * minor.size && simple(major) && simple(minor);
}

// Of a part of this size.
std::vector<Digit> joined(const std::vector<Digit>& digits, std::int64_t size) {
  std::vector<Digit> out;
  std::vector<std::int64_t> outside = {size}, cut = {size};  // what the last digit of `out` cuts, and what comes out
  bool blocks = true;                                        // what comes out is blocks
  for (const Digit& d : digits) {
    if (blocks && !out.empty() && is_next_to(out.back(), d) &&
        std::all_of(outside.begin(), outside.end(),
                    [&](std::int64_t n) { return cuts_alike(n, out.back().size, d.size); })) {
      out.back().size *= d.size;
      out.back().stride = d.stride;
    } else {
      out.push_back(d);
      outside = cut;
    }
    blocks = blocks && d.reach != Reach::prefix;
    cut = block_sizes(outside, out.back());
  }
  return out;
}

bool take_partials(Layout& l, const std::vector<Digit>& digits, PartialKind kind) {
  for (const Digit& d : digits) {
    const auto at = std::find(l.partials.begin(), l.partials.end(), Partial{plain(d), kind});
    if (at == l.partials.end()) return false;
    l.partials.erase(at);
  }
  return true;
}

bool unused(const Layout& l, const std::vector<Digit>& digits) {
  for (const Digit& used : digits_of(l))
    for (const Digit& d : digits)
      if (!disjoint(used, d)) return false;
  return true;
}

bool is_free(const Program& p, AxisId a) { return at(p.axes, a).grid < 0; }

// The digits that `to` must begin with so that, at equal free indices, some sender holds all that a receiver needs: up to
// the last free digit (grid digits before it must have equal coordinates on both sides).
std::size_t fixed_prefix(const Program& p, const std::vector<Digit>& from) {
  std::size_t n = from.size();
  while (n > 0 && !is_free(p, from[n - 1].axis)) --n;
  return n;
}

}  // namespace

Layout joined(const Graph& g, TensorId t, Layout l) {
  l = sorted(std::move(l));
  for (Split& s : l.splits) {
    const PTensor& tensor = at(g.tensors, s.part == kByKey ? s.key : t);
    const ClassId part = s.part == kByKey ? tensor.domain : at(at(tensor.dims, s.dim), s.part);
    s.digits = joined(s.digits, at(g.classes, part).size);
  }
  return l;
}

bool disjoint(const Digit& a, const Digit& b) {
  return a.axis != b.axis || a.stride % (b.stride * b.size) == 0 || b.stride % (a.stride * a.size) == 0;
}

bool pairwise_disjoint(const std::vector<Digit>& digits) {
  for (std::size_t k = 0; k < digits.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (!disjoint(digits[j], digits[k])) return false;
  return true;
}

std::vector<Digit> digits_of(const Layout& l) {
  std::vector<Digit> out;
  for (const Split& s : l.splits)
    std::copy_if(s.digits.begin(), s.digits.end(), std::back_inserter(out),
                 [](const Digit& d) { return d.reach == Reach::own; });
  for (const Partial& p : l.partials) out.push_back(p.digit);
  return out;
}

const std::vector<Digit>* digits_at(const Layout& l, int dim, int part) {
  for (const Split& s : l.splits)
    if (s.dim == dim && s.part == part) return &s.digits;
  return nullptr;
}

bool is_partial(const Layout& l) { return !l.partials.empty(); }

bool has_part(const Op& op, const Operand& operand, int factor, int part) {
  for (const auto& dim : operand.map)
    for (const PartRef& r : dim)
      if (r.factor == factor && r.part == part) return true;
  return selected_dim(op, operand, factor) >= 0;
}

Layout demanded(const Op& op, int input, const std::vector<Binding>& bindings) {
  const Operand& operand = at(op.inputs, input);
  Layout out = splits_of(op, operand, bindings);
  for (const Binding& b : bindings) {
    const bool partial = b.factor < 0 ? in_set(op, b.part, input) || operand.added
                                      : operand.added && at(op.factors, b.factor).kind == FactorKind::sum &&
                                            !has_part(op, operand, b.factor, b.part);
    if (partial) add_partial(out, b.digit, PartialKind::sum);
  }
  return sorted(std::move(out));
}

Layout produced(const Op& op, int output, const std::vector<Binding>& bindings) {
  const Operand& operand = at(op.outputs, output);
  Layout out = splits_of(op, operand, bindings);
  for (const Binding& b : bindings) {
    if (b.factor < 0) {
      add_partial(out, b.digit, PartialKind::sum);
    } else if (!has_part(op, operand, b.factor, b.part)) {
      const FactorKind kind = at(op.factors, b.factor).kind;
      if (kind == FactorKind::sum) add_partial(out, b.digit, PartialKind::sum);
      if (kind == FactorKind::merge) add_partial(out, b.digit, PartialKind::merge);
      if (kind == FactorKind::softmax && b.digit.reach == Reach::own) add_partial(out, b.digit, PartialKind::softmax);
    }
  }
  return sorted(std::move(out));
}

namespace {

// At every index of its own axis a turned digit names different blocks on the devices along the axis that turns it, and in
// the course of its indices every block once on every device. Forward a block comes from the device that has it at home.
// Back goes what the devices c have at (i, c) for the block b = turned(i, c), parts of a sum over c: at home, at index i,
// stands the part of the c with turned(i, c) = b, or zero; and every c comes at one i.
std::optional<Layout> rotated(const Program& p, const Layout& in, const Move& m, std::string& why) {
  const auto illegal = [&](const char* reason) {
    why = reason;
    return std::nullopt;
  };
  if (!is_home(p, m.digits, m.turned)) return illegal("its blocks are not those that its devices have");
  if (is_keyed(in)) return illegal("its rows are selected by a key");
  Layout out = in;
  const bool back = m.kind == MoveKind::rotate_back;
  const std::vector<Digit> turned = {m.turned}, &from = back ? turned : m.digits, &to = back ? m.digits : turned;
  auto s = std::find_if(out.splits.begin(), out.splits.end(),
                        [&](const Split& x) { return x.dim == m.dim && x.part == m.part; });
  if (s == out.splits.end() || s->digits.size() < from.size() ||
      !std::equal(from.rbegin(), from.rend(), s->digits.rbegin()))
    return illegal("the innermost split of that dimension is another");
  s->digits.resize(s->digits.size() - from.size());
  const std::vector<Digit> devices = communicator(m);
  if (holds_every(out)) return illegal("it holds every index of another axis");
  if (is_turned_by(out, devices)) return illegal("its devices hold different blocks of another dimension");
  if (back && !take_partials(out, devices, PartialKind::sum))
    return illegal("the value is not a partial sum over the devices");
  if (!unused(out, {plain(m.turned)}) || !unused(out, devices)) return illegal("an axis would be named twice");
  s->digits.insert(s->digits.end(), to.begin(), to.end());
  if (back) add_partial(out, m.turned, PartialKind::sum);
  return out;
}

// Of a value that holds the blocks of every index, those of one: digit by digit.
std::optional<Layout> chosen(const Layout& in, const Move& m) {
  Layout out = in;
  for (Split& s : out.splits) {
    if (s.dim != m.dim || s.part != m.part || s.part == kByKey) continue;
    std::size_t found = 0;
    for (const Digit& d : m.digits)
      for (Digit& x : s.digits) {
        Digit one = x;
        one.reach = Reach::own;
        if (x.reach != Reach::every || !(one == d)) continue;
        x = one;
        ++found;
      }
    if (found == m.digits.size()) return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Layout> moved(const Program& p, const Layout& in, const Move& m, std::string& why) {
  Layout out = in;
  const auto illegal = [&](const char* reason) {
    why = reason;
    return std::nullopt;
  };
  if (m.digits.empty()) return illegal("it names no axis");
  if (!pairwise_disjoint(m.digits)) return illegal("it names one digit of an axis twice");
  if (m.kind == MoveKind::rotate || m.kind == MoveKind::rotate_back) return rotated(p, in, m, why);
  if (!is_local(m.kind) && is_turned_by(in, m.digits))
    return illegal("its devices hold different blocks, which follow from their coordinates");
  if (holds_every(in)) {
    const std::optional<Layout> one = m.kind == MoveKind::slice && unused(in, m.digits) ? chosen(in, m) : std::nullopt;
    return one ? one : illegal("it holds every index of an axis, and the move does not choose one");
  }
  for (const Digit& d : m.digits) {
    if (d.reach == Reach::every) return illegal("it names every index of an axis");
    if (d.reach == Reach::prefix && (m.kind != MoveKind::slice || m.digits.size() != 1 || m.part == kByKey))
      return illegal("it moves what lies before an index");
  }
  const auto prefix = [](const Layout& l, int dim, int part) {
    const std::vector<Digit>* digits = digits_at(l, dim, part);
    return digits &&
           std::any_of(digits->begin(), digits->end(), [](const Digit& d) { return d.reach == Reach::prefix; });
  };
  if (prefix(in, m.dim, m.part) || prefix(in, m.from_dim, m.from_part))
    return illegal("its dimension holds all that lies before an index");
  switch (m.kind) {
    case MoveKind::all_gather:
      if (!take(out, m.dim, m.part, m.digits, m.key))
        return illegal("the axes are not the innermost split of that dimension");
      break;
    case MoveKind::reduce_scatter:
      if (!take_partials(out, m.digits, m.reduce)) return illegal("the value is not partial over the axes in that way");
      if (m.part == kByKey) return illegal("sums are not scattered by key");
      append(out, m.dim, m.part, m.digits, m.key);
      break;
    case MoveKind::all_reduce:
      if (!take_partials(out, m.digits, m.reduce)) return illegal("the value is not partial over the axes in that way");
      break;
    case MoveKind::all_to_all:
      if (m.dim == m.from_dim && m.part == m.from_part) return illegal("it goes from a dimension to the same one");
      if (m.part == kByKey && m.from_part == kByKey) return illegal("it goes from a key to a key");
      if (!take(out, m.from_dim, m.from_part, m.digits, m.key))
        return illegal("the axes are not the innermost split of that dimension");
      append(out, m.dim, m.part, m.digits, m.key);
      break;
    case MoveKind::slice:
      if (!unused(in, m.digits)) return illegal("the value is not replicated over the axes");
      append(out, m.dim, m.part, m.digits, m.key);
      break;
    case MoveKind::to_partial:
      if (!unused(in, m.digits)) return illegal("the value is not replicated over the axes");
      if (m.reduce != PartialKind::sum) return illegal("only a sum has zero as the other blocks");
      for (const Digit& d : m.digits) add_partial(out, d, PartialKind::sum);
      break;
    case MoveKind::rotate:
    case MoveKind::rotate_back:
      break;
  }
  if (!regions_stay(in, out)) return illegal("its rows are selected from a region that the move changes");
  return out;
}

std::optional<Layout> combined_over(const Program& p, const Layout& in, const std::vector<AxisId>& axes,
                                    PartialKind kind, std::string& why) {
  Layout out = in;
  for (const AxisId a : axes) {
    std::int64_t covered = 1;
    for (const Split& s : in.splits)
      for (const Digit& d : s.digits)
        if (d.axis == a && d.reach == Reach::own) covered *= d.size;
    for (const Partial& x : in.partials) {
      if (x.digit.axis != a) continue;
      if (x.kind != kind) {
        why = kind == PartialKind::softmax     ? "it is not partial as a softmax"
              : x.kind == PartialKind::softmax ? "blocks of a softmax are weighed by their log-sum-exps"
                                               : "log-sum-exps are not combined by adding";
        return std::nullopt;
      }
      covered *= x.digit.size;
    }
    if (covered != at(p.axes, a).size) {
      why = "it is neither partial nor split over all of " + at(p.axes, a).name + ": adding counts it several times";
      return std::nullopt;
    }
    std::erase_if(out.partials, [&](const Partial& x) { return x.digit.axis == a; });
  }
  // Blocks that are not one region stay by themselves, one behind the other.
  const auto among = [&](AxisId a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); };
  for (Split& s : out.splits) {
    const auto gone = [&](const Digit& d) { return d.reach != Reach::every && among(d.axis); };
    while (!s.digits.empty() && gone(s.digits.back())) s.digits.pop_back();
    for (Digit& d : s.digits) {
      if (!gone(d)) continue;
      if (s.part == kByKey || d.reach == Reach::prefix) {
        why = "the blocks of all indices together are not one region";
        return std::nullopt;
      }
      d.reach = Reach::every;
    }
    for (auto d = s.digits.begin(); d != s.digits.end(); ++d)
      if (d->by >= 0 && among(d->by) && std::none_of(s.digits.begin(), d, [&](const Digit& x) {
            return x.reach == Reach::every && x.axis == d->by;
          })) {
        why = "its blocks follow from an index that all of them together do not have";
        return std::nullopt;
      }
  }
  std::erase_if(out.splits, [](const Split& s) { return s.digits.empty(); });
  if (!regions_stay(in, out)) {
    why = "its rows are selected from a region, and those of all indices together from another one";
    return std::nullopt;
  }
  return out;
}

bool transferable(const Program& p, const ProgramValue& from, const ProgramValue& to, std::string& why) {
  const Layout& sent = at(p.layouts, from.layout);
  const Layout& got = at(p.layouts, to.layout);
  const Place &source = at(p.places, from.place), &target = at(p.places, to.place);
  if (sent.partials != got.partials) {
    why = "partial values must be equally partial on both sides";
    return false;
  }
  const bool alike = source.grid == target.grid && free_axes(p, source) == free_axes(p, target);
  for (const Digit& d : digits_of(sent))
    if (is_turned(d) && !alike) {
      why = "blocks that follow from coordinates go only to devices of equal coordinates";
      return false;
    }
  bool grid_partial = false;
  for (const Partial& x : sent.partials) grid_partial = grid_partial || !is_free(p, x.digit.axis);
  if (grid_partial && (!alike || sent != got)) {
    why = "a value that is partial over devices goes only to devices of equal coordinates";
    return false;
  }
  if (holds_every(sent) || holds_every(got)) {
    why = "what holds every index of an axis is not sent to other places";
    return false;
  }
  if (is_keyed(sent) || is_keyed(got)) {
    why = "rows that are selected by a key are not sent to other places";
    return false;
  }
  for (const Split& s : sent.splits) {
    const std::size_t prefix = fixed_prefix(p, s.digits);
    if (prefix == 0) continue;
    const std::vector<Digit>* digits = digits_at(got, s.dim, s.part);
    if (digits && digits->size() >= prefix &&
        std::equal(s.digits.begin(), s.digits.begin() + static_cast<std::ptrdiff_t>(prefix), digits->begin()))
      continue;
    why = "at one index the senders hold less than the receivers need";
    return false;
  }
  return true;
}

}  // namespace planscope::verification
