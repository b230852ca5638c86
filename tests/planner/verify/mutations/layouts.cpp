#include <algorithm>
#include <utility>

#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

namespace {

bool depends(const Layout& l, const std::vector<AxisId>& axes) {
  const auto named = [&](const Digit& d) { return std::find(axes.begin(), axes.end(), d.axis) != axes.end(); };
  return std::any_of(l.splits.begin(), l.splits.end(),
                     [&](const Split& x) { return std::any_of(x.digits.begin(), x.digits.end(), named); }) ||
         std::any_of(l.partials.begin(), l.partials.end(), [&](const Partial& x) { return named(x.digit); });
}

}  // namespace

Mutations layout_mutations() {
  return {
      {"no key",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, keyed);
         if (!i) return false;
         i->in.pop_back();
         return true;
       }},
      {"another key",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, keyed);
         if (!i) return false;
         const ProgramValue& was = p.values[static_cast<std::size_t>(i->in[1])];
         std::vector<ProgramValueId> others;
         for (ProgramValueId o = 0; o < static_cast<ProgramValueId>(p.values.size()); ++o) {
           const ProgramValue& x = p.values[static_cast<std::size_t>(o)];
           if (x.tensor != was.tensor && x.place == was.place && x.indexed == was.indexed && x.layout == was.layout)
             others.push_back(o);
         }
         if (others.empty()) return false;
         i->in[1] = any(others, r);
         return true;
       }},
      {"rows of other blocks",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Split*> splits;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             if (s.part == kByKey) splits.push_back(&s);
         if (splits.empty()) return false;
         Digit& d = any(any(splits, r)->digits, r);
         d.sizes.assign(static_cast<std::size_t>(d.size), 1);
         d.sizes.front() = 5 - d.size;
         return true;
       }},
      {"blocks turned in another way",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> turned;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             for (Digit& d : s.digits)
               if (is_turned(d)) turned.push_back(&d);
         if (turned.empty()) return false;
         turn(*any(turned, r), r);
         return true;
       }},
      {"a binding turned in another way",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> turned;
         for (Piece& piece : p.pieces)
           for (PieceOp& o : piece.ops)
             for (Binding& b : o.bindings)
               if (is_turned(b.digit)) turned.push_back(&b.digit);
         if (turned.empty()) return false;
         turn(*any(turned, r), r);
         return true;
       }},
      {"a digit that reaches over other indices",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> far;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             for (Digit& d : s.digits)
               if (d.reach != Reach::own) far.push_back(&d);
         if (far.empty()) return false;
         Reach& reach = any(far, r)->reach;
         reach = static_cast<Reach>((static_cast<int>(reach) + 1 + static_cast<int>(r() % 2)) % 3);
         return true;
       }},
      {"a binding that reaches over other indices",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> far;
         for (Piece& piece : p.pieces)
           for (PieceOp& o : piece.ops)
             for (Binding& b : o.bindings)
               if (b.digit.reach != Reach::own) far.push_back(&b.digit);
         if (far.empty()) return false;
         Reach& reach = any(far, r)->reach;
         reach = static_cast<Reach>((static_cast<int>(reach) + 1 + static_cast<int>(r() % 2)) % 3);
         return true;
       }},
      {"a prefix that is cut by another axis",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> far;
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions)
             if (i.code == Code::local && i.move.digits[0].reach == Reach::prefix) far.push_back(&i.move.digits[0]);
         if (far.empty()) return false;
         Digit& d = *far[r() % far.size()];
         d.reach = Reach::own;
         return true;
       }},
      {"one block everywhere twice, another never",
       [](Program& p, const Graph&, Random&) {
         bool any_turned = false;
         const auto even = [&](Digit& d) {
           if (!is_turned(d)) return;
           d.step = 0;
           any_turned = true;
         };
         for (Layout& l : p.layouts)
           for (Split& s : l.splits) std::for_each(s.digits.begin(), s.digits.end(), even);
         for (Piece& piece : p.pieces)
           for (PieceOp& o : piece.ops)
             for (Binding& b : o.bindings) even(b.digit);
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions) even(i.move.turned);
         return any_turned;
       }},
      {"another layout of a value",
       [](Program& p, const Graph&, Random& r) {
         ProgramValue& v = any(p.values, r);
         v.layout = static_cast<LayoutId>(r() % p.layouts.size());
         return true;
       }},
      {"another layout of a slot",
       [](Program& p, const Graph&, Random& r) {
         any(any(p.pieces, r).slots, r).layout = static_cast<LayoutId>(r() % p.layouts.size());
         return true;
       }},
      {"a value of other free axes",
       [](Program& p, const Graph&, Random& r) {
         ProgramValue& v = any(p.values, r);
         // A value that does not depend on the axis (a weight gathered in the loop) is the same at every index: harmless.
         if (v.indexed.empty() || !depends(p.layouts[static_cast<std::size_t>(v.layout)], v.indexed)) return false;
         v.indexed.clear();
         return true;
       }},
      {"a binding to another factor",
       [](Program& p, const Graph& g, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         if (o.bindings.empty()) return false;
         Binding& b = any(o.bindings, r);
         const auto& factors = g.ops[static_cast<std::size_t>(o.op)].factors;
         if (factors.empty()) return false;
         b.factor = static_cast<int>(r() % factors.size());
         b.part = 0;
         return true;
       }},
      {"a binding to another axis",
       [](Program& p, const Graph&, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         if (o.bindings.empty()) return false;
         Binding& b = any(o.bindings, r);
         b.digit.axis = static_cast<AxisId>(r() % p.axes.size());
         b.digit.size = p.axes[static_cast<std::size_t>(b.digit.axis)].size;
         return true;
       }},
      {"a binding less",
       [](Program& p, const Graph&, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         if (o.bindings.empty()) return false;
         o.bindings.erase(o.bindings.begin() + static_cast<std::ptrdiff_t>(r() % o.bindings.size()));
         return true;
       }},
      {"bindings in another order",
       [](Program& p, const Graph&, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         const auto same = [&](std::size_t k) {
           return o.bindings[k].factor == o.bindings[k + 1].factor && o.bindings[k].part == o.bindings[k + 1].part;
         };
         for (std::size_t k = 0; k + 1 < o.bindings.size(); ++k)
           if (same(k) && o.bindings[k].factor >= 0) {
             std::swap(o.bindings[k], o.bindings[k + 1]);
             return true;
           }
         return false;
       }},
      {"digits in another order",
       [](Program& p, const Graph&, Random& r) {
         Layout& l = any(p.layouts, r);
         for (Split& s : l.splits)
           if (s.digits.size() > 1) {
             std::swap(s.digits[0], s.digits[1]);
             return true;
           }
         return false;
       }},
      {"another value of the same tensor",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return !x.in.empty() && x.code != Code::free; });
         if (!i) return false;
         ProgramValueId& v = any(i->in, r);
         if (v < 0) return false;
         std::vector<ProgramValueId> others;
         const ProgramValue& was = p.values[static_cast<std::size_t>(v)];
         for (ProgramValueId o = 0; o < static_cast<ProgramValueId>(p.values.size()); ++o) {
           const ProgramValue& x = p.values[static_cast<std::size_t>(o)];
           const bool equal = x.role == Role::data && was.role == Role::data && x.layout == was.layout &&
                              x.indexed == was.indexed && x.place == was.place;
           if (o != v && x.tensor == was.tensor && !equal) others.push_back(o);
         }
         if (others.empty()) return false;
         v = any(others, r);
         return true;
       }},
  };
}

}  // namespace planscope::testing
