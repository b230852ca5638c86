// Tensors that several operators read: the sets of ways in which they do.
#include <algorithm>

#include "planner/search/splits/builder.h"
#include "planner/search/splits/parameters.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::size_t kMostSets = 400, kMostSimilar = 100;

Ways sorted(Ways w) {
  std::sort(w.begin(), w.end());
  w.erase(std::unique(w.begin(), w.end()), w.end());
  return w;
}

// Whether a reader's ways are among those of a set.
bool covers(const Interface& y, const Interface& x) {
  return y.read == x.read && (x.contribution < 0 || x.contribution == y.contribution) && (y.saved || !x.saved);
}
bool covers(const Ways& u, const Ways& own) {
  return std::all_of(own.begin(), own.end(), [&](const Interface& x) {
    return std::any_of(u.begin(), u.end(), [&](const Interface& y) { return covers(y, x); });
  });
}

}  // namespace

// Where there are very many: single ways, and pairs that differ on one axis. Whether a backward reads it is one word for all.
std::vector<Ways> Builder::similar_pairs(std::set<Ways> each, const std::set<Interface>& single) const {
  const bool saved = std::any_of(single.begin(), single.end(), [](const Interface& x) { return x.saved; });
  Ways all;
  for (Interface x : single) {
    x.saved = saved;
    all.push_back(x);
  }
  all = sorted(std::move(all));
  std::set<Ways> out;
  for (Ways u : each) {
    for (Interface& x : u) x.saved = saved;
    out.insert(sorted(std::move(u)));
  }
  const std::set<Ways> alone = out;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (differ_on_one_axis(all[k], all[i])) out.insert({all[k], all[i]});
  const std::set<Ways>& taken = out.size() <= kMostSimilar ? out : alone;
  return {taken.begin(), taken.end()};
}

bool Builder::differ_on_one_axis(const Interface& x, const Interface& y) const {
  int differ = 0;
  for (int a = 0; a < space_.axes(); ++a) {
    const bool gradient = x.contribution >= 0 && y.contribution >= 0;
    differ += !alike_on(space_.layout(x.read), space_.layout(y.read), a) ||
              (gradient && !alike_on(space_.layout(x.contribution), space_.layout(y.contribution), a));
  }
  return differ <= 1;
}

// The sets of ways in which readers together may read it.
std::vector<Reading> Builder::readings(const Wire& w) {
  std::vector<Reading> out;
  const OpId producer = tensor(w.tensor).producer;
  const bool back = producer >= 0 && can_pass_back(g_, g_.ops[at(producer)]);
  for (const Ways& u : sets(w)) {
    std::vector<Interface> kept;  // those that do not pass, where others would
    for (int a = 0; a < space_.axes() && back; ++a) add_unlike(u, a, kept);
    if (kept.empty()) out.push_back({u});
    for (const Interface& x : kept)
      for (int r = 0; r < static_cast<int>(w.readers.size()); ++r) out.push_back({u, r, x});
  }
  if (w.tensor == g_.model->loss)
    for (Reading& u : out) {
      u.ways.push_back({space_.whole(), -1, false});
      u.ways = sorted(std::move(u.ways));
    }
  return g_.model->values[at(w.tensor)].kind == ValueKind::parameter ? with_zero(w.tensor, std::move(out)) : out;
}

std::vector<Reading> Builder::with_zero(TensorId t, std::vector<Reading> all) {
  std::vector<Reading> out = std::move(all);
  const std::size_t plain = weights_.zero.empty() ? 0 : out.size();
  for (std::size_t i = 0; i < plain; ++i)
    for (const int level : {1, 2, 3}) {
      if (!has_zero(space_, t, out[i].ways, weights_) || (level == 2 && weights_.micro_batches == 1)) continue;
      out.push_back(out[i]);
      out.back().zero = level;
    }
  return out;
}

void Builder::add_unlike(const Ways& u, int axis, std::vector<Interface>& kept) const {
  const auto partial = [&](const Interface& x) { return is_partial_on(space_.layout(x.contribution), axis); };
  std::vector<Interface> others;
  bool any = false;
  for (const Interface& x : u) {
    if (x.contribution < 0) continue;
    if (partial(x))
      any = true;
    else
      others.push_back(x);
  }
  if (!any) return;
  for (const Interface& x : others)
    if (std::find(kept.begin(), kept.end(), x) == kept.end()) kept.push_back(x);
}

std::vector<Ways> Builder::sets(const Wire& w) const {
  std::set<Ways> each;  // of one reader
  std::set<Interface> single;
  std::set<std::pair<int, std::vector<int>>> seen;
  for (const OpId r : w.readers) {
    const std::vector<int> inputs = positions(r, w.tensor);
    if (!seen.emplace(out_.kind_of[at(r)], inputs).second) continue;
    for (const Strategy& s : strategies(r)) {
      const Ways x = ways(r, inputs, s);
      each.insert(x);
      single.insert(x.begin(), x.end());
    }
  }
  const std::size_t n = single.size(), pairs = n + n * (n - 1) / 2, triples = pairs + n * (n - 1) * (n - 2) / 6;
  if (w.readers.size() > 1 && pairs > kMostSets) return similar_pairs(std::move(each), single);
  const std::size_t most = std::min<std::size_t>(w.readers.size(), triples <= kMostSets ? 3 : 2);
  std::set<Ways> out = std::move(each);
  for (std::size_t k = 1; k < most; ++k) {
    std::set<Ways> longer = out;
    for (const Ways& u : out)
      for (const Interface& x : single) {
        Ways more = u;
        more.push_back(x);
        more = sorted(std::move(more));
        if (more.size() <= most) longer.insert(std::move(more));
      }
    out = std::move(longer);
  }
  if (out.empty()) out.insert(Ways{});
  return {out.begin(), out.end()};
}

void Builder::connect_all(const Wire& w) {
  const std::vector<Reading> all = readings(w);
  const int number = sets_.emplace(all, static_cast<int>(sets_.size())).first->second;
  const bool parameter = g_.model->values[at(w.tensor)].kind == ValueKind::parameter;
  const int node = add_node(tensor_kind(w, all, number, parameter));
  if (parameter) {
    ParameterNode p{node, w.readers, {}};
    for (const Reading& u : all) p.zero.push_back(u.zero);
    out_.parameters.push_back(std::move(p));
  } else {
    join_writer(w, all, number, node);
  }
  for (int k = 0; k < static_cast<int>(w.readers.size()); ++k) join_reader(w, all, number, node, k);
  if (parameter || storage_.layers().empty()) return;
  Other other{node, {1, out_.kind_of[at(tensor(w.tensor).producer)], tensor(w.tensor).output, number}, {}};
  for (const Reading& u : all) other.ways.push_back(u.ways);
  add_again(w, other);
}

void Builder::join_writer(const Wire& w, const std::vector<Reading>& all, int number, int node) {
  const OpId producer = tensor(w.tensor).producer;
  const std::vector<std::int64_t> key = {1, out_.kind_of[at(producer)], tensor(w.tensor).output, number};
  add_edge(out_.node_of[at(producer)], node, key, [&] {
    layouts::Matrix m{static_cast<int>(strategies(producer).size()), static_cast<int>(all.size()), {}};
    for (const Strategy& a : strategies(producer))
      for (const Reading& u : all) m.values.push_back(between(w.tensor, a, u.ways));
    return m;
  });
}

void Builder::join_reader(const Wire& w, const std::vector<Reading>& all, int number, int node, int position) {
  const OpId r = w.readers[at(position)];
  const bool witnesses = std::any_of(all.begin(), all.end(), [](const Reading& u) { return u.witness >= 0; });
  const std::vector<int> inputs = positions(r, w.tensor);
  std::vector<std::int64_t> key = {2, number, out_.kind_of[at(r)], witnesses ? position : -1};
  key.insert(key.end(), inputs.begin(), inputs.end());
  add_edge(node, out_.node_of[at(r)], std::move(key), [&] {
    layouts::Matrix m{static_cast<int>(all.size()), static_cast<int>(strategies(r).size()), {}};
    for (const Reading& u : all)
      for (const Strategy& s : strategies(r)) {
        const Ways own = ways(r, inputs, s);
        const bool gives = u.witness != position || std::any_of(own.begin(), own.end(), [&](const Interface& x) {
                             return x.contribution == u.of.contribution && covers(u.of, x);
                           });
        m.values.push_back(gives && covers(u.ways, own) ? 0 : kNever);
      }
    return m;
  });
}

int Builder::tensor_kind(const Wire& w, const std::vector<Reading>& all, int number, bool parameter) {
  const std::vector<std::int64_t> key = {0, number, parameter ? space_.kind(w.tensor) : -1};
  const auto [known, fresh] = other_kinds_.emplace(key, 0);
  if (!fresh) return known->second;
  std::vector<double> cost;
  std::vector<std::int64_t> bytes;
  for (const Reading& u : all) {
    const ParameterCost c = parameter ? parameter_cost(space_, w.tensor, u.ways, weights_, u.zero) : ParameterCost{};
    cost.push_back(c.cost);
    bytes.push_back(c.bytes);
  }
  return known->second = add_kind(std::move(cost), std::move(bytes));
}

}  // namespace planscope::splits
