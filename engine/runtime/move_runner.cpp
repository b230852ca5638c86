#include "engine/runtime/move_runner.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace planscope {

namespace {

template <class Block>
std::int64_t largest(const std::vector<Block>& blocks) {
  std::int64_t most = 0;
  for (const Block& b : blocks) most = std::max(most, elements(b));
  return most;
}

// A row of `width` elements that begins with the tensor's.
at::Tensor padded(const at::Tensor& tensor, std::int64_t width) {
  const at::Tensor flat = tensor.contiguous().view({-1});
  if (flat.numel() == width) return flat;
  const at::Tensor row = at::zeros({width}, tensor.options());
  row.narrow(0, 0, flat.numel()).copy_(flat);
  return row;
}

template <class Block>
at::Tensor unpadded(const at::Tensor& row, const Block& block) {
  return row.narrow(0, 0, elements(block)).view(sizes(block));
}

// The blocks lie one behind the other in the whole: they differ in its outermost part alone, and are equally large.
bool are_rows(const Region& whole, const std::vector<Region>& blocks) {
  if (whole.empty() || whole.front().empty()) return false;
  Region row = whole;
  Interval& outermost = row.front().front();
  for (const Region& block : blocks) {
    const std::int64_t begin = &block == &blocks.front() ? whole.front().front().begin : outermost.end;
    outermost = {begin, begin + blocks.front().front().front().size()};
    if (block != row) return false;
  }
  return outermost.end == whole.front().front().end;
}

// Selected rows may lie anywhere.
bool are_rows(const RowBlock&, const std::vector<RowBlock>&) { return false; }

// Moving elements does not depend on their type; reductions do.
at::Tensor bytes(const at::Tensor& tensor) { return tensor.view(at::kByte); }

}  // namespace

const std::vector<int>& MoveRunner::group(const Move& move, PlaceId place) {
  const std::vector<Digit> digits = communicator(move);
  const auto known = groups_.find({place, digits});
  if (known != groups_.end()) return known->second;
  return groups_.emplace(std::make_pair(place, digits), site_.group(place, digits, site_.device())).first->second;
}

template <class Block>
MoveRunner::Members<Block> MoveRunner::members(const Move& move, PlaceId place,
                                               const std::function<Block(ProgramValueId, int)>& block,
                                               ProgramValueId in, ProgramValueId out) {
  Members<Block> m;
  m.devices = group(move, place);
  for (std::size_t k = 0; k < m.devices.size(); ++k) {
    m.in.push_back(block(in, m.devices[k]));
    m.out.push_back(block(out, m.devices[k]));
    if (m.devices[k] == site_.device()) m.self = k;
  }
  return m;
}

const Layout& MoveRunner::layout(ProgramValueId id) const {
  const Program& p = site_.program();
  return p.layouts[static_cast<std::size_t>(p.values[static_cast<std::size_t>(id)].layout)];
}

RowNumbers MoveRunner::row_numbers(int dim, const Operand& in, const Point& at) const {
  const TensorId key = site_.program().values[static_cast<std::size_t>(in.key)].tensor;
  return {site_.graph(), key, in.key_tensor, site_.region(in.key, site_.device(), at), dim};
}

RowBlock MoveRunner::row_block(const RowNumbers& rows, ProgramValueId id, int device, const Point& at) const {
  const PlaceId place = site_.program().values[static_cast<std::size_t>(id)].place;
  return rows.block(site_.region(id, device, at), layout(id), site_.point(place, device, at));
}

Region MoveRunner::held(ProgramValueId id, int device, const Point& at, const at::Tensor& tensor) const {
  Region region = site_.region(id, device, at);
  for (const Split& s : layout(id).splits) {
    if (s.part == kByKey) region[static_cast<std::size_t>(s.dim)] = {{0, tensor.size(s.dim)}};
  }
  return region;
}

at::Tensor MoveRunner::local(const Move& move, const Operand& in, ProgramValueId out, const Point& free_indices) const {
  const int self = site_.device();
  if (move.kind == MoveKind::slice && in.key >= 0) {
    const RowNumbers rows = row_numbers(move.part == kByKey ? move.dim : move.from_dim, in, free_indices);
    return cut(in.tensor, row_block(rows, in.value, self, free_indices), row_block(rows, out, self, free_indices));
  }
  if (move.kind == MoveKind::slice && !site_.is_one_region(in.value)) {
    const Region wanted = site_.region(out, self, free_indices);
    std::int64_t begin = 0;
    for (const Region& block : site_.regions(in.value, self, free_indices)) {
      if (block == wanted) return in.tensor.narrow(0, begin, elements(block)).clone().view(sizes(block));
      begin += elements(block);
    }
    throw std::logic_error("a slice of blocks that are not those of one index");
  }
  if (move.kind == MoveKind::slice) {
    return cut(in.tensor, held(in.value, self, free_indices, in.tensor), held(out, self, free_indices, in.tensor));
  }
  if (move.kind != MoveKind::to_partial) throw std::logic_error("not a local move");
  const Point at = site_.point(site_.program().values[static_cast<std::size_t>(in.value)].place, self, free_indices);
  for (const Digit& digit : move.digits) {
    if (digit_value(digit, at) > 0) return at::zeros_like(in.tensor);
  }
  return in.tensor;
}

at::Tensor MoveRunner::add_rows(at::Tensor total, ProgramValueId out, const Operand& term, const Point& at) const {
  int dim = 0;
  for (const Split& s : layout(term.value).splits) {
    if (s.part == kByKey) dim = s.dim;
  }
  const int self = site_.device();
  const RowNumbers rows = row_numbers(dim, term, at);
  const Region held = site_.region(term.value, self, at), all = site_.region(out, self, at);
  const PlaceId place = site_.program().values[static_cast<std::size_t>(out)].place;
  const RowBlock own = row_block(rows, term.value, self, at),
                 here = rows.block(held, layout(out), site_.point(place, self, at));
  if (!total.defined()) total = at::zeros(held == all ? sizes(here) : sizes(all), term.tensor.options());
  const at::Tensor block = held == all ? total : cut(total, all, held);
  paste(block, here, cut(block, here, own).add_(term.tensor), own);
  if (held != all) paste(total, all, block, held);
  return total;
}

StartedMove MoveRunner::start(const Move& move, const Operand& in, ProgramValueId out, const Point& free_indices,
                              const std::string& label) {
  const PlaceId place = site_.program().values[static_cast<std::size_t>(in.value)].place;
  const auto checked = [&](const auto& m) -> const auto& {
    if (in.tensor.sizes() != sizes(m.in[m.self]))
      throw std::logic_error(label + ": the value has other sizes than its layout says");
    return m;
  };
  if (in.key >= 0) {
    const RowNumbers rows = row_numbers(move.part == kByKey ? move.dim : move.from_dim, in, free_indices);
    const auto m = members<RowBlock>(
        move, place, [&](ProgramValueId v, int device) { return row_block(rows, v, device, free_indices); }, in.value,
        out);
    if (move.kind == MoveKind::all_gather) return all_gather(checked(m), in.tensor, label);
    if (move.kind == MoveKind::all_to_all) return all_to_all(checked(m), in.tensor, label);
    throw std::logic_error("not a move by key");
  }
  if (move.kind == MoveKind::rotate || move.kind == MoveKind::rotate_back)
    return rotate(members<Blocks>(
                      move, place, [&](ProgramValueId v, int device) { return site_.regions(v, device, free_indices); },
                      in.value, out),
                  in.tensor, site_.is_one_region(out), label);
  const auto m = members<Region>(
      move, place, [&](ProgramValueId v, int device) { return held(v, device, free_indices, in.tensor); }, in.value,
      out);
  const bool merges = move.reduce == PartialKind::merge;
  switch (move.kind) {
    case MoveKind::all_reduce:
      return merges ? merge(checked(m), in.tensor, label) : all_reduce(checked(m), in, label);
    case MoveKind::reduce_scatter:
      return merges ? merge(checked(m), in.tensor, label) : reduce_scatter(checked(m), in.tensor, label);
    case MoveKind::all_gather:
      return all_gather(checked(m), in.tensor, label);
    case MoveKind::all_to_all:
      return all_to_all(checked(m), in.tensor, label);
    case MoveKind::rotate:
    case MoveKind::rotate_back:
    case MoveKind::slice:
    case MoveKind::to_partial:
      break;
  }
  throw std::logic_error("not a collective move");
}

std::function<TensorList()> MoveRunner::start_bucket(const Move& move, std::vector<Operand> in,
                                                     const std::vector<ProgramValueId>& out, const Point& free_indices,
                                                     const std::string& label) {
  const PlaceId place = site_.program().values[static_cast<std::size_t>(in[0].value)].place;
  const at::TensorOptions options = in[0].tensor.options();
  std::vector<Members<Region>> all;
  std::vector<std::int64_t> begin{0};  // of each value in a member's row
  for (std::size_t k = 0; k < in.size(); ++k) {
    const auto block = [&](ProgramValueId v, int device) { return held(v, device, free_indices, in[k].tensor); };
    all.push_back(members<Region>(move, place, block, in[k].value, out[k]));
    begin.push_back(begin.back() + largest(all.back().out));
  }
  const std::vector<int>& devices = all[0].devices;
  const std::size_t self = all[0].self;
  const bool scatters = move.kind == MoveKind::reduce_scatter;
  if (!scatters && move.kind != MoveKind::all_reduce) throw std::logic_error(label + ": not a reduction");
  const std::int64_t width = begin.back();
  const std::size_t rows = scatters ? devices.size() : 1;
  const at::Tensor packed = at::zeros({static_cast<std::int64_t>(rows) * width}, options);
  for (std::size_t k = 0; k < in.size(); ++k) {
    const at::Tensor tensor = std::exchange(in[k].tensor, {});
    const Members<Region>& m = all[k];
    if (tensor.sizes() != sizes(m.in[self]))
      throw std::logic_error(label + ": the value has other sizes than its layout says");
    for (std::size_t row = 0; row < rows; ++row) {
      const Region& region = scatters ? m.out[row] : m.out[self];
      cut_to(packed.narrow(0, static_cast<std::int64_t>(row) * width + begin[k], elements(region)), tensor, m.in[self],
             region);
    }
  }
  at::Tensor result = packed;
  PendingPtr pending;
  if (devices.size() > 1 && !scatters) pending = transport_.group(devices).all_reduce(packed, Reduction::sum, label);
  if (devices.size() > 1 && scatters) {
    result = at::empty({width}, options);
    pending = transport_.group(devices).reduce_scatter(result, packed, Reduction::sum, label);
  }
  return [=, all = std::move(all)] {
    if (pending) pending->wait();
    TensorList results;
    for (std::size_t k = 0; k < all.size(); ++k)
      results.push_back(unpadded(result.narrow(0, begin[k], begin[k + 1] - begin[k]), all[k].out[self]));
    return results;
  };
}

StartedMove MoveRunner::all_reduce(const Members<Region>& m, const Operand& in, const std::string& label) {
  const bool in_place = in.given && in.tensor.is_contiguous();
  const at::Tensor total = in_place ? in.tensor : in.tensor.clone(at::MemoryFormat::Contiguous);
  if (m.devices.size() == 1) return {[total] { return total; }, {}};
  auto pending = transport_.group(m.devices).all_reduce(total, Reduction::sum, label);
  return {[=] { return pending->wait(), total; }, {}};
}

StartedMove MoveRunner::merge(const Members<Region>& m, const at::Tensor& tensor, const std::string& label) {
  const at::Tensor most = tensor.clone(at::MemoryFormat::Contiguous);
  if (m.devices.size() > 1) transport_.group(m.devices).all_reduce(most, Reduction::max, label)->wait();
  const at::Tensor finite = most.masked_fill(most.isinf(), 0);  // all shards empty: -inf stays -inf
  const at::Tensor sum = tensor.sub(finite).exp();
  if (m.devices.size() > 1) transport_.group(m.devices).all_reduce(sum, Reduction::sum, label)->wait();
  const at::Tensor combined = sum.log().add(finite);
  const at::Tensor result = cut(combined, m.in[m.self], m.out[m.self]);
  return {[result] { return result; }, tensor.sub(combined).exp()};
}

template <class Block>
StartedMove MoveRunner::all_gather(const Members<Block>& m, const at::Tensor& tensor, const std::string& label) {
  const std::int64_t width = largest(m.in), count = static_cast<std::int64_t>(m.devices.size());
  const at::Tensor rows = at::empty({count * width}, tensor.options());
  const at::Tensor own = padded(tensor, width);
  if (count > 1 && width > 0 && are_rows(m.out[m.self], m.in)) {
    auto pending = transport_.group(m.devices).all_gather(bytes(rows), bytes(own), label);
    return {[pending, whole = rows.view(sizes(m.out[m.self]))] { return pending->wait(), whole; }, {}};
  }
  const auto finish = [m, rows, width](const std::function<void()>& wait) {
    wait();
    const Block& held = m.out[m.self];
    const at::Tensor whole = at::empty(sizes(held), rows.options());
    for (std::size_t k = 0; k < m.devices.size(); ++k) {
      if (elements(m.in[k]) > 0)
        paste(whole, held, unpadded(rows.narrow(0, static_cast<std::int64_t>(k) * width, width), m.in[k]), m.in[k]);
    }
    return whole;
  };
  if (count == 1 || width == 0) {
    if (width > 0) rows.copy_(own);
    return {[finish] { return finish([] {}); }, {}};
  }
  auto pending = transport_.group(m.devices).all_gather(bytes(rows), bytes(own), label);
  return {[=] { return finish([pending] { pending->wait(); }); }, {}};
}

StartedMove MoveRunner::reduce_scatter(const Members<Region>& m, const at::Tensor& tensor, const std::string& label) {
  const std::int64_t width = largest(m.out);
  at::Tensor packed;
  if (are_rows(m.in[m.self], m.out)) {
    packed = tensor.contiguous().view({-1});
  } else {
    packed = at::zeros({static_cast<std::int64_t>(m.out.size()) * width}, tensor.options());
    for (std::size_t row = 0; row < m.out.size(); ++row)
      cut_to(packed.narrow(0, static_cast<std::int64_t>(row) * width, elements(m.out[row])), tensor, m.in[m.self],
             m.out[row]);
  }
  const Region held = m.out[m.self];
  if (m.devices.size() == 1 || width == 0) return {[=] { return unpadded(packed, held).clone(); }, {}};
  const at::Tensor row = at::empty({width}, tensor.options());
  auto pending = transport_.group(m.devices).reduce_scatter(row, packed, Reduction::sum, label);
  return {[=] {
            pending->wait();
            return elements(held) == width ? unpadded(row, held) : unpadded(row, held).clone();
          },
          {}};
}

namespace {

std::int64_t elements(const std::vector<Region>& blocks) {
  std::int64_t count = 0;
  for (const Region& b : blocks) count += planscope::elements(b);
  return count;
}

// Calls visit(block of `a`, where it begins, block of `b`, where it begins, what lies in both) for every pair that meets.
template <class F>
void each_common(const std::vector<Region>& a, const std::vector<Region>& b, F visit) {
  std::int64_t from = 0;
  for (const Region& x : a) {
    std::int64_t to = 0;
    for (const Region& y : b) {
      const Region common = intersection(x, y);
      if (planscope::elements(common) > 0) visit(x, from, y, to, common);
      to += planscope::elements(y);
    }
    from += planscope::elements(x);
  }
}

}  // namespace

StartedMove MoveRunner::rotate(const Members<Blocks>& m, const at::Tensor& tensor, bool one_region,
                               const std::string& label) {
  if (tensor.numel() != elements(m.in[m.self]))
    throw std::logic_error(label + ": the value has another size than its layout says");
  const at::Tensor flat = tensor.contiguous().view({-1});
  std::vector<std::int64_t> give, get;  // bytes for and from each device
  TensorList blocks;
  for (std::size_t k = 0; k < m.devices.size(); ++k) {
    give.push_back(0);
    get.push_back(0);
    const auto bytes_of = [&](const Region& r) { return planscope::elements(r) * tensor.element_size(); };
    each_common(m.in[m.self], m.out[k],
                [&](const Region& x, std::int64_t at, const Region&, std::int64_t, const Region& c) {
                  give.back() += bytes_of(c);
                  blocks.push_back(cut(flat.narrow(0, at, planscope::elements(x)).view(sizes(x)), x, c).view({-1}));
                });
    each_common(m.in[k], m.out[m.self], [&](const Region&, std::int64_t, const Region&, std::int64_t, const Region& c) {
      get.back() += bytes_of(c);
    });
  }
  const at::Tensor sent = blocks.empty() ? at::empty({0}, tensor.options()) : at::cat(blocks);
  std::int64_t total = 0;
  for (const std::int64_t n : get) total += n;
  const at::Tensor arrived =
      m.devices.size() == 1 ? sent : at::empty({total / tensor.element_size()}, tensor.options());
  const auto finish = [m, arrived, one_region] {
    const at::Tensor whole = at::zeros({elements(m.out[m.self])}, arrived.options());
    std::int64_t next = 0;
    for (std::size_t k = 0; k < m.devices.size(); ++k)
      each_common(m.in[k], m.out[m.self],
                  [&](const Region&, std::int64_t, const Region& y, std::int64_t at, const Region& c) {
                    const std::int64_t n = planscope::elements(c);
                    paste(whole.narrow(0, at, planscope::elements(y)).view(sizes(y)), y, arrived.narrow(0, next, n), c);
                    next += n;
                  });
    return one_region ? whole.view(sizes(m.out[m.self].front())) : whole;
  };
  if (m.devices.size() == 1) return {finish, {}};
  auto pending = transport_.group(m.devices).all_to_all(bytes(arrived), bytes(sent), get, give, label);
  return {[=] { return pending->wait(), finish(); }, {}};
}

template <class Block>
StartedMove MoveRunner::all_to_all(const Members<Block>& m, const at::Tensor& tensor, const std::string& label) {
  std::vector<Block> give, get;
  for (std::size_t k = 0; k < m.devices.size(); ++k) {
    give.push_back(intersection(m.in[m.self], m.out[k]));
    get.push_back(intersection(m.in[k], m.out[m.self]));
  }
  const auto lengths = [](const std::vector<Block>& all) {
    std::vector<std::int64_t> out;
    for (const Block& b : all) out.push_back(elements(b));
    return out;
  };
  const std::int64_t width = static_cast<std::int64_t>(tensor.element_size());
  const auto rows = [width](std::vector<std::int64_t> counts) {
    for (std::int64_t& c : counts) c *= width;
    return counts;
  };
  const std::vector<std::int64_t> give_lengths = lengths(give), get_lengths = lengths(get);
  TensorList blocks;
  for (const Block& b : give) blocks.push_back(cut(tensor, m.in[m.self], b).view({-1}));
  const at::Tensor sent = at::cat(blocks);
  std::int64_t total = 0;
  for (const std::int64_t n : get_lengths) total += n;
  const at::Tensor arrived = m.devices.size() == 1 ? sent : at::empty({total}, tensor.options());
  const Block held = m.out[m.self];
  const auto finish = [=] {
    const at::Tensor whole = at::empty(sizes(held), arrived.options());
    std::int64_t at = 0;
    for (std::size_t k = 0; k < get.size(); ++k) {
      if (get_lengths[k] > 0) paste(whole, held, arrived.narrow(0, at, get_lengths[k]), get[k]);
      at += get_lengths[k];
    }
    return whole;
  };
  if (m.devices.size() == 1) return {finish, {}};
  auto pending =
      transport_.group(m.devices).all_to_all(bytes(arrived), bytes(sent), rows(get_lengths), rows(give_lengths), label);
  return {[=] {
            pending->wait();
            return finish();
          },
          {}};
}

}  // namespace planscope
