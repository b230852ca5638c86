#include "engine/runtime/transport_checks.h"

#include <algorithm>

#include "engine/base/text.h"

namespace planscope {

std::string numbers(const std::vector<int>& values) {
  std::vector<std::string> texts;
  for (const int v : values) texts.push_back(std::to_string(v));
  return join(texts, ",");
}

std::string describe(const at::Tensor& t) {
  std::vector<std::string> sizes;
  for (const std::int64_t s : t.sizes()) sizes.push_back(std::to_string(s));
  return std::string(c10::toString(t.scalar_type())) + " [" + join(sizes, ", ") + "]";
}

const char* name(Reduction r) { return r == Reduction::sum ? "sum" : r == Reduction::max ? "max" : "min"; }

namespace {

[[noreturn]] void impossible(const std::string& label, const std::string& what) {
  throw TransportError(label + ": impossible: " + what, FailureOrigin::own);
}

}  // namespace

void require(bool holds, const std::string& label, const std::string& what) {
  if (!holds) impossible(label, what);
}

void require_plain(const at::Tensor& t, const std::string& label) {
  if (!t.device().is_cpu() || !t.is_contiguous()) impossible(label, describe(t) + " is not contiguous on the CPU");
}

void require_peer(const Communicator& group, int peer, const std::string& label) {
  if (peer < 0 || peer >= group.size())
    impossible(label, "member " + std::to_string(peer) + " of " + std::to_string(group.size()));
}

void require_gather(const Communicator& group, const at::Tensor& out, const at::Tensor& in, const std::string& label) {
  if (out.numel() != group.size() * in.numel() || out.scalar_type() != in.scalar_type())
    impossible(label, "all_gather of " + describe(in) + " into " + describe(out));
}

void require_scatter(const Communicator& group, const at::Tensor& out, const at::Tensor& in, const std::string& label) {
  if (in.numel() != group.size() * out.numel() || out.scalar_type() != in.scalar_type())
    impossible(label, "reduce_scatter of " + describe(in) + " into " + describe(out));
}

std::vector<std::int64_t> equal_rows(const at::Tensor& t, int blocks, const std::string& label) {
  if (t.dim() == 0 || t.size(0) % blocks != 0)
    impossible(label, "all_to_all of " + describe(t) + " between " + std::to_string(blocks) + " ranks");
  return std::vector<std::int64_t>(static_cast<std::size_t>(blocks), t.size(0) / blocks);
}

std::vector<std::int64_t> bytes_of_blocks(const at::Tensor& t, const std::vector<std::int64_t>& rows, int members,
                                          const std::string& label) {
  std::int64_t sum = 0;
  for (const std::int64_t r : rows) sum += r;
  const bool fits = t.dim() > 0 && static_cast<int>(rows.size()) == members && sum == t.size(0) &&
                    std::all_of(rows.begin(), rows.end(), [](std::int64_t r) { return r >= 0; });
  if (!fits) impossible(label, "blocks that do not make up " + describe(t));
  std::int64_t row_bytes = static_cast<std::int64_t>(t.element_size());
  for (std::int64_t d = 1; d < t.dim(); ++d) row_bytes *= t.size(d);
  std::vector<std::int64_t> bytes;
  for (const std::int64_t r : rows) bytes.push_back(r * row_bytes);
  return bytes;
}

int rank_among(const std::vector<int>& members, const ControlChannel& channel, const std::string& label) {
  const auto self = std::find(members.begin(), members.end(), channel.rank());
  if (self == members.end() || !std::is_sorted(members.begin(), members.end()) || members.front() < 0 ||
      members.back() >= channel.ranks() || std::adjacent_find(members.begin(), members.end()) != members.end()) {
    throw TransportError(label + ": not a group of ascending ranks with this one", FailureOrigin::own);
  }
  return static_cast<int>(self - members.begin());
}

}  // namespace planscope
