#include "random_traffic.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>

using namespace planscope;

void Checks::same(const at::Tensor& got, const at::Tensor& expected, const std::string& what) {
  ++count_;
  const auto bytes = [](const at::Tensor& t) { return t.contiguous().flatten().view(at::kByte); };
  if (got.scalar_type() == expected.scalar_type() && got.sizes() == expected.sizes() &&
      at::equal(bytes(got), bytes(expected)))
    return;
  if (++wrong_ > 3) return;
  std::ostringstream text;
  text << what << ": " << got.scalar_type() << " " << got.sizes() << " expected " << expected.scalar_type() << " "
       << expected.sizes();
  if (got.sizes() == expected.sizes())
    text << "; " << at::ne(got, expected).sum().item<std::int64_t>() << " elements differ";
  if (got.numel() < 100) text << ": got " << got << " expected " << expected;
  std::cerr << text.str() << "\n";
}

namespace {

enum class Kind { all_reduce, reduce_scatter, all_gather, all_to_all, uneven, broadcast, transfer, barrier };
constexpr int kinds = 8;

const std::vector<at::ScalarType> types = {at::kFloat, at::kDouble, at::kBFloat16,     at::kHalf,
                                           at::kLong,  at::kInt,    at::kShort,        at::kChar,
                                           at::kByte,  at::kBool,   at::kComplexDouble};

struct Step {
  int number = 0;
  Kind kind{};
  std::vector<int> members;
  at::ScalarType type{};
  Reduction reduction{};
  std::int64_t rows = 0, columns = 1;             // of a block
  std::vector<std::vector<std::int64_t>> uneven;  // rows from i to j
  int root = 0, other = 0;                        // members
  std::uint32_t tag = 0;
  std::string name() const {
    std::string text = "step " + std::to_string(number) + " kind " + std::to_string(static_cast<int>(kind)) + " of";
    for (const int m : members) text += " " + std::to_string(m);
    return text;
  }
};

class Script {
 public:
  Script(std::uint64_t seed, int ranks) : random_(seed), ranks_(ranks) {}

  Step next() {
    Step s;
    s.number = number_++;
    s.kind = static_cast<Kind>(below(kinds));
    while (static_cast<int>(s.members.size()) < (s.kind == Kind::transfer ? std::min(2, ranks_) : 1)) {
      s.members.clear();
      for (int r = 0; r < ranks_; ++r) {
        if (below(3) > 0) s.members.push_back(r);
      }
    }
    if (s.kind == Kind::transfer && s.members.size() < 2) s.kind = Kind::all_gather;  // there is one rank
    const int n = static_cast<int>(s.members.size());
    const bool reduces = s.kind == Kind::all_reduce || s.kind == Kind::reduce_scatter;
    s.type = types[static_cast<std::size_t>(below(static_cast<int>(types.size())))];
    s.reduction = static_cast<Reduction>(below(3));
    if (reduces && c10::isComplexType(s.type)) s.reduction = Reduction::sum;  // they have no order
    s.columns = 1 + below(4);
    const int scale = below(10);
    s.rows = scale == 0 ? 0 : scale < 6 ? below(40) : scale < 9 ? below(9000) : below(200000);
    for (int i = 0; i < n; ++i) {
      s.uneven.emplace_back();
      for (int j = 0; j < n; ++j) s.uneven.back().push_back(below(2) == 0 ? 0 : below(static_cast<int>(s.rows) + 1));
    }
    s.root = below(n);
    s.other = (s.root + 1 + (n > 1 ? below(n - 1) : 0)) % n;
    s.tag = static_cast<std::uint32_t>(below(3));
    return s;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  std::mt19937_64 random_;
  int ranks_;
  int number_ = 0;
};

// What a member holds before a step.
at::Tensor values(const Step& s, int member, std::int64_t rows) {
  const auto seed = static_cast<std::uint64_t>(s.number) * 100 + static_cast<std::uint64_t>(member);
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  const at::Tensor t = at::randn({rows, s.columns}, generator, at::TensorOptions().dtype(at::kDouble)).mul(30);
  if (c10::isComplexType(s.type)) return at::complex(t, t.neg().add(member)).to(s.type);
  return s.type == at::kBool ? t.gt(0) : t.to(s.type);
}

at::Tensor combined(const std::vector<at::Tensor>& all, Reduction reduction) {
  const at::ScalarType type = all.front().scalar_type();
  const bool wide = type == at::kBFloat16 || type == at::kHalf;
  at::Tensor total = wide ? all.front().to(at::kFloat) : all.front().clone();
  for (std::size_t k = 1; k < all.size(); ++k) {
    const at::Tensor next = wide ? all[k].to(at::kFloat) : all[k];
    if (type == at::kBool)
      total = reduction == Reduction::min ? total.logical_and(next) : total.logical_or(next);
    else if (reduction == Reduction::sum)
      total = total.add(next);
    else
      total = reduction == Reduction::max ? at::maximum(total, next) : at::minimum(total, next);
  }
  return total.to(type);
}

std::int64_t sum(const std::vector<std::int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

struct UnderWay {
  PendingPtr pending;
  std::function<void()> check;
};

class Player {
 public:
  Player(Transport& transport, Checks& checks) : transport_(transport), checks_(checks) {}

  UnderWay issue(const Step& s) {
    g_ = &transport_.group(s.members);
    const auto n = static_cast<std::int64_t>(s.members.size());
    const std::size_t me = static_cast<std::size_t>(g_->rank());
    const std::string name = s.name();
    const auto all = [&](std::int64_t rows) {
      std::vector<at::Tensor> out;
      for (int m = 0; m < static_cast<int>(n); ++m) out.push_back(values(s, m, rows));
      return out;
    };
    const auto empty = [&](std::int64_t rows) {
      return at::empty({rows, s.columns}, at::TensorOptions().dtype(s.type));
    };
    switch (s.kind) {
      case Kind::all_reduce: {
        const auto in = all(s.rows);
        const at::Tensor t = in[me].clone();
        return compare(g_->all_reduce(t, s.reduction, name), t, combined(in, s.reduction), name);
      }
      case Kind::reduce_scatter: {
        const auto in = all(s.rows * n);
        const at::Tensor out = empty(s.rows);
        return compare(g_->reduce_scatter(out, in[me], s.reduction, name), out,
                       combined(in, s.reduction).narrow(0, static_cast<std::int64_t>(me) * s.rows, s.rows), name);
      }
      case Kind::all_gather: {
        const auto in = all(s.rows);
        const at::Tensor out = empty(s.rows * n);
        return compare(g_->all_gather(out, in[me], name), out, at::cat(in), name);
      }
      case Kind::all_to_all: {
        std::vector<at::Tensor> blocks;
        const auto in = all(s.rows * n);
        for (const at::Tensor& t : in) blocks.push_back(t.narrow(0, static_cast<std::int64_t>(me) * s.rows, s.rows));
        const at::Tensor out = empty(s.rows * n);
        return compare(g_->all_to_all(out, in[me], name), out, at::cat(blocks), name);
      }
      case Kind::uneven:
        return uneven(s, me, name);
      case Kind::broadcast: {
        const auto in = all(s.rows);
        const at::Tensor t = in[me].clone();
        return compare(g_->broadcast(t, s.root, name), t, in[static_cast<std::size_t>(s.root)], name);
      }
      case Kind::transfer: {
        const at::Tensor sent = values(s, s.root, s.rows);
        if (static_cast<int>(me) == s.root) return {g_->send(sent, s.other, s.tag, name), [] {}};
        if (static_cast<int>(me) != s.other) return {};
        const at::Tensor t = empty(s.rows);
        return compare(g_->receive(t, s.root, s.tag, name), t, sent, name);
      }
      case Kind::barrier:
        break;
    }
    g_->barrier(name);
    return {};
  }

 private:
  UnderWay uneven(const Step& s, std::size_t me, const std::string& name) {
    std::vector<at::Tensor> blocks;
    std::vector<std::int64_t> rows_in;
    for (std::size_t from = 0; from < s.members.size(); ++from) {
      const std::vector<std::int64_t>& rows = s.uneven[from];
      const std::int64_t begin = sum({rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(me)});
      blocks.push_back(values(s, static_cast<int>(from), sum(rows)).narrow(0, begin, rows[me]));
      rows_in.push_back(rows[me]);
    }
    const at::Tensor in = values(s, static_cast<int>(me), sum(s.uneven[me]));
    const at::Tensor out = at::empty({sum(rows_in), s.columns}, in.options());
    return compare(g_->all_to_all(out, in, rows_in, s.uneven[me], name), out, at::cat(blocks), name);
  }

  UnderWay compare(PendingPtr pending, const at::Tensor& got, const at::Tensor& expected, const std::string& name) {
    return {std::move(pending), [this, got, expected, name] { checks_.same(got, expected, name); }};
  }

  Transport& transport_;
  Checks& checks_;
  Communicator* g_ = nullptr;
};

}  // namespace

void check_random(Transport& transport, std::uint64_t seed, Checks& checks) {
  Communicator& world = transport.world();
  Script script(seed, world.size());
  Player player(transport, checks);
  std::mt19937_64 own_order(seed * 1000 + static_cast<std::uint64_t>(world.rank()));
  std::vector<UnderWay> under_way;
  const auto wait_for_some = [&](std::size_t left) {
    std::shuffle(under_way.begin(), under_way.end(), own_order);
    while (under_way.size() > left) {
      under_way.back().pending->wait();
      under_way.back().check();
      under_way.pop_back();
    }
  };
  for (int k = 0; k < 150; ++k) {
    const Step step = script.next();
    if (std::find(step.members.begin(), step.members.end(), world.rank()) == step.members.end()) continue;
    UnderWay u = player.issue(step);
    if (u.pending) under_way.push_back(std::move(u));
    if (own_order() % 4 == 0) wait_for_some(under_way.size() * (own_order() % 3) / 3);
  }
  wait_for_some(0);
}
