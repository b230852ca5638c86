#include "engine/runtime/move_runner.h"

#include <algorithm>
#include <stdexcept>

namespace planscope {

namespace {

std::int64_t largest(const std::vector<Region>& regions) {
  std::int64_t most = 0;
  for (const Region& r : regions) most = std::max(most, elements(r));
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

at::Tensor unpadded(const at::Tensor& row, const Region& region) {
  return row.narrow(0, 0, elements(region)).view(sizes(region));
}

// Moving elements does not depend on their type; reductions do.
at::Tensor bytes(const at::Tensor& tensor) { return tensor.view(at::kByte); }

}  // namespace

MoveRunner::Members MoveRunner::members(const Move& move, ProgramValueId in, ProgramValueId out,
                                        const Point& free_indices) {
  const PlaceId place = site_.program().values[static_cast<std::size_t>(in)].place;
  auto group = groups_.find({place, move.digits});
  if (group == groups_.end()) {
    group = groups_.emplace(std::make_pair(place, move.digits), site_.group(place, move.digits, site_.device())).first;
  }
  Members m;
  m.devices = group->second;
  for (std::size_t k = 0; k < m.devices.size(); ++k) {
    m.in.push_back(site_.region(in, m.devices[k], free_indices));
    m.out.push_back(site_.region(out, m.devices[k], free_indices));
    if (m.devices[k] == site_.device()) m.self = k;
  }
  return m;
}

at::Tensor MoveRunner::local(const Move& move, ProgramValueId in, ProgramValueId out, const Point& free_indices,
                             const at::Tensor& tensor) const {
  if (move.kind == MoveKind::slice) {
    return cut(tensor, site_.region(in, site_.device(), free_indices), site_.region(out, site_.device(), free_indices));
  }
  if (move.kind != MoveKind::to_partial) throw std::logic_error("not a local move");
  const Point at =
      site_.point(site_.program().values[static_cast<std::size_t>(in)].place, site_.device(), free_indices);
  for (const Digit& digit : move.digits) {
    if (digit_value(digit, at) > 0) return at::zeros_like(tensor);
  }
  return tensor;
}

StartedMove MoveRunner::start(const Move& move, ProgramValueId in, ProgramValueId out, const Point& free_indices,
                              const at::Tensor& tensor, const std::string& label) {
  const Members m = members(move, in, out, free_indices);
  if (tensor.sizes() != sizes(m.in[m.self]))
    throw std::logic_error(label + ": the value has other sizes than its layout says");
  const bool merges = move.reduce == PartialKind::merge;
  switch (move.kind) {
    case MoveKind::all_reduce:
      return merges ? merge(m, tensor, label) : all_reduce(m, tensor, label);
    case MoveKind::reduce_scatter:
      return merges ? merge(m, tensor, label) : reduce_scatter(m, tensor, label);
    case MoveKind::all_gather:
      return all_gather(m, tensor, label);
    case MoveKind::all_to_all:
      return all_to_all(m, tensor, label);
    case MoveKind::slice:
    case MoveKind::to_partial:
      break;
  }
  throw std::logic_error("not a collective move");
}

StartedMove MoveRunner::all_reduce(const Members& m, const at::Tensor& tensor, const std::string& label) {
  const at::Tensor total = tensor.clone(at::MemoryFormat::Contiguous);
  if (m.devices.size() == 1) return {[total] { return total; }, {}};
  auto pending = transport_.group(m.devices).all_reduce(total, Reduction::sum, label);
  return {[=] { return pending->wait(), total; }, {}};
}

StartedMove MoveRunner::merge(const Members& m, const at::Tensor& tensor, const std::string& label) {
  const at::Tensor most = tensor.clone(at::MemoryFormat::Contiguous);
  if (m.devices.size() > 1) transport_.group(m.devices).all_reduce(most, Reduction::max, label)->wait();
  const at::Tensor finite = most.masked_fill(most.isinf(), 0);  // all shards empty: -inf stays -inf
  const at::Tensor sum = tensor.sub(finite).exp();
  if (m.devices.size() > 1) transport_.group(m.devices).all_reduce(sum, Reduction::sum, label)->wait();
  const at::Tensor combined = sum.log().add(finite);
  const at::Tensor result = cut(combined, m.in[m.self], m.out[m.self]);
  return {[result] { return result; }, tensor.sub(combined).exp()};
}

StartedMove MoveRunner::all_gather(const Members& m, const at::Tensor& tensor, const std::string& label) {
  const std::int64_t width = largest(m.in), count = static_cast<std::int64_t>(m.devices.size());
  const at::Tensor rows = at::empty({count * width}, tensor.options());
  const at::Tensor own = padded(tensor, width);
  const auto finish = [m, rows, width](const std::function<void()>& wait) {
    wait();
    const Region& held = m.out[m.self];
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

StartedMove MoveRunner::reduce_scatter(const Members& m, const at::Tensor& tensor, const std::string& label) {
  const std::int64_t width = largest(m.out);
  TensorList rows;
  for (const Region& region : m.out) rows.push_back(padded(cut(tensor, m.in[m.self], region), width));
  const at::Tensor packed = at::cat(rows);
  const Region held = m.out[m.self];
  if (m.devices.size() == 1 || width == 0) return {[=] { return unpadded(packed, held); }, {}};
  const at::Tensor row = at::empty({width}, tensor.options());
  auto pending = transport_.group(m.devices).reduce_scatter(row, packed, Reduction::sum, label);
  return {[=] {
            pending->wait();
            return elements(held) == width ? unpadded(row, held) : unpadded(row, held).clone();
          },
          {}};
}

StartedMove MoveRunner::all_to_all(const Members& m, const at::Tensor& tensor, const std::string& label) {
  std::vector<Region> give, get;
  for (std::size_t k = 0; k < m.devices.size(); ++k) {
    give.push_back(intersection(m.in[m.self], m.out[k]));
    get.push_back(intersection(m.in[k], m.out[m.self]));
  }
  const auto lengths = [](const std::vector<Region>& regions) {
    std::vector<std::int64_t> out;
    for (const Region& r : regions) out.push_back(elements(r));
    return out;
  };
  const std::int64_t width = static_cast<std::int64_t>(tensor.element_size());
  const auto rows = [width](std::vector<std::int64_t> counts) {
    for (std::int64_t& c : counts) c *= width;
    return counts;
  };
  const std::vector<std::int64_t> give_lengths = lengths(give), get_lengths = lengths(get);
  TensorList blocks;
  for (const Region& r : give) blocks.push_back(cut(tensor, m.in[m.self], r).view({-1}));
  const at::Tensor sent = at::cat(blocks);
  std::int64_t total = 0;
  for (const std::int64_t n : get_lengths) total += n;
  const at::Tensor arrived = m.devices.size() == 1 ? sent : at::empty({total}, tensor.options());
  const Region held = m.out[m.self];
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
