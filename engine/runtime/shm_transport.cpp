#include "engine/runtime/shm_transport.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/base/text.h"
#include "engine/runtime/copy_bytes.h"
#include "engine/runtime/shm_operations.h"
#include "engine/runtime/shm_reduce.h"
#include "engine/runtime/transport_checks.h"

namespace planscope {

namespace {

constexpr std::size_t shared_work_from = 32u << 10;  // bytes of an all_reduce from which its work is divided
constexpr std::uint32_t collective_tag = ~0u;        // tags of sends are smaller

std::byte* data(const at::Tensor& t) { return static_cast<std::byte*>(t.data_ptr()); }

std::size_t sum(const std::vector<std::int64_t>& values) {
  std::int64_t total = 0;
  for (const std::int64_t v : values) total += v;
  return static_cast<std::size_t>(total);
}

class ShmCommunicator final : public Communicator {
 public:
  ShmCommunicator(ShmNode& node, std::vector<int> members, int rank)
      : node_(node), members_(std::move(members)), rank_(rank), digest_(digest(numbers(members_))) {}

  const std::vector<int>& members() const override { return members_; }
  int rank() const override { return rank_; }

  PendingPtr all_reduce(at::Tensor t, Reduction reduction, std::string label) override {
    require_plain(t, label);
    require(reducible(t.scalar_type()), label, std::string("all_reduce of ") + describe(t));
    const std::size_t bytes = t.nbytes(), n = members_.size();
    const bool divide = bytes >= shared_work_from && n > 1;
    ShmReading::What what{next_key(), statement(ShmKind::all_reduce, t, reduction), nullptr};
    const ShmSharedCombine::Division division(bytes, n);
    const std::size_t deposited = divide ? std::min(bytes, division.window) : bytes;
    const std::size_t padding = divide ? division.window - deposited : 0;
    const std::size_t progress = divide && rank_ == 0 ? division.progress_bytes : 0;
    what.own =
        &node_.put(what.key, what.statement, {{t.data_ptr(), deposited}}, whole(bytes), padding + progress, label);
    const ShmReduction r{
        data(t), data(t), self(), t.scalar_type(), reduction, static_cast<std::size_t>(t.element_size()), bytes};
    if (divide) return begin<ShmSharedCombine>(label, {t}, what, sources(bytes), r);
    return begin<ShmCombine>(label, {t}, what, sources(bytes), r);
  }

  PendingPtr all_gather(at::Tensor out, at::Tensor in, std::string label) override {
    require_plain(out, label);
    require_plain(in, label);
    require_gather(*this, out, in, label);
    const std::size_t bytes = in.nbytes();
    ShmReading::What what{next_key(), statement(ShmKind::all_gather, in), nullptr};
    what.own = &node_.put(what.key, what.statement, {{in.data_ptr(), bytes}}, whole(bytes), 0, label);
    copy_bytes(data(out) + self() * bytes, data(in), bytes);
    std::vector<ShmSource> from = sources(bytes);
    for (ShmSource& s : from) s.to = data(out) + place(s.rank) * bytes;
    return begin<ShmExchange>(label, {out, in}, what, from);
  }

  PendingPtr reduce_scatter(at::Tensor out, at::Tensor in, Reduction reduction, std::string label) override {
    require_plain(out, label);
    require_plain(in, label);
    require_scatter(*this, out, in, label);
    require(reducible(in.scalar_type()), label, std::string("reduce_scatter of ") + describe(in));
    const std::size_t bytes = out.nbytes();
    ShmReading::What what{next_key(), statement(ShmKind::reduce_scatter, in, reduction), nullptr};
    what.own =
        &put_blocks(what, in, std::vector<std::int64_t>(members_.size(), static_cast<std::int64_t>(bytes)), label);
    copy_bytes(data(out), data(in) + self() * bytes, bytes);
    const ShmReduction r{
        data(out), data(out), self(), in.scalar_type(), reduction, static_cast<std::size_t>(in.element_size()), bytes};
    return begin<ShmCombine>(label, {out}, what, sources(bytes), r);
  }

  PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::string label) override {
    const auto out_rows = equal_rows(out, size(), label), in_rows = equal_rows(in, size(), label);
    return exchange(ShmKind::all_to_all, out, in, out_rows, in_rows, std::move(label));
  }

  PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::vector<std::int64_t> out_rows,
                        std::vector<std::int64_t> in_rows, std::string label) override {
    return exchange(ShmKind::uneven_all_to_all, out, in, out_rows, in_rows, std::move(label));
  }

  PendingPtr broadcast(at::Tensor t, int root, std::string label) override {
    require_plain(t, label);
    require_peer(*this, root, label);
    ShmReading::What what{next_key(), statement(ShmKind::broadcast, t, {}, root), nullptr};
    const std::size_t bytes = rank_ == root ? t.nbytes() : 0;
    what.own = &node_.put(what.key, what.statement, {{t.data_ptr(), bytes}}, whole(bytes), 0, label);
    std::vector<ShmSource> from = sources(0);  // all say what they mean; one has data
    for (ShmSource& s : from) {
      if (s.rank == members_[static_cast<std::size_t>(root)]) s.bytes = t.nbytes();
      s.to = data(t);
    }
    return begin<ShmExchange>(label, {t}, what, from);
  }

  PendingPtr send(at::Tensor t, int to, std::uint32_t tag, std::string label) override {
    const ShmReading::What what = transfer(t, to, tag, sent_, "a rank sends to itself", label);
    const int there = members_[static_cast<std::size_t>(to)];
    Deposit& deposit =
        node_.put(what.key, what.statement, {{t.data_ptr(), t.nbytes()}}, {{there, 0, t.nbytes()}}, 0, label);
    return std::make_shared<ShmSent>(node_, std::move(label), t, deposit, there);
  }

  PendingPtr receive(at::Tensor t, int from, std::uint32_t tag, std::string label) override {
    const ShmReading::What what = transfer(t, from, tag, received_, "a rank receives from itself", label);
    std::vector<ShmSource> source = {{members_[static_cast<std::size_t>(from)], t.nbytes(), data(t)}};
    return begin<ShmExchange>(label, {t}, what, source);
  }

  void barrier(std::string label) override {
    ShmReading::What what{next_key(), {}, nullptr};
    what.own = &node_.put(what.key, what.statement, {}, whole(0), 0, label);
    begin<ShmExchange>(label, {}, what, sources(0))->wait();
  }

 private:
  std::size_t self() const { return static_cast<std::size_t>(rank_); }
  std::size_t place(int rank_of_trial) const {
    return static_cast<std::size_t>(std::lower_bound(members_.begin(), members_.end(), rank_of_trial) -
                                    members_.begin());
  }

  ShmKey next_key() { return {digest_, std::uint64_t{collective_tag} << 32 | collectives_++}; }

  // Transfers of one direction and tag are counted, so that each has a key of its own.
  ShmReading::What transfer(const at::Tensor& t, int peer, std::uint32_t tag,
                            std::map<std::pair<int, std::uint32_t>, std::uint32_t>& counts, const char* with_itself,
                            const std::string& label) {
    require_plain(t, label);
    require_peer(*this, peer, label);
    require(peer != rank_, label, with_itself);
    require(tag < (1u << 31), label, "a tag of " + std::to_string(tag));
    const std::uint32_t count = counts[{peer, tag}]++;
    return {{digest_, std::uint64_t{tag} << 32 | count}, statement(ShmKind::transfer, t), nullptr};
  }

  template <class Operation, class... More>
  PendingPtr begin(std::string& label, std::vector<at::Tensor> tensors, const ShmReading::What& what,
                   std::vector<ShmSource> from, const More&... more) {
    auto operation =
        std::make_shared<Operation>(node_, std::move(label), std::move(tensors), what, std::move(from), more...);
    node_.start(operation);
    return operation;
  }

  // All other members, as those who read the same bytes of a deposit, and as those of whom so much is expected.
  std::vector<ShmNode::Reader> whole(std::size_t bytes) const {
    std::vector<ShmNode::Reader> readers;
    for (const int m : members_) {
      if (m != members_[self()]) readers.push_back({m, 0, bytes});
    }
    return readers;
  }
  std::vector<ShmSource> sources(std::size_t bytes) const {
    std::vector<ShmSource> out;
    for (const int m : members_) {
      if (m != members_[self()]) out.push_back({m, bytes, nullptr});
    }
    return out;
  }

  // One block for each of the others; each begins with the member behind it, so that not all read the same one first.
  Deposit& put_blocks(const ShmReading::What& what, const at::Tensor& in, const std::vector<std::int64_t>& bytes,
                      const std::string& label) {
    std::vector<std::size_t> begins = {0};
    for (const std::int64_t b : bytes) begins.push_back(begins.back() + static_cast<std::size_t>(b));
    std::vector<ShmNode::Piece> pieces;
    std::vector<ShmNode::Reader> readers;
    std::size_t total = 0;
    for (std::size_t k = 1; k < members_.size(); ++k) {
      const std::size_t m = (self() + k) % members_.size();
      const auto count = static_cast<std::size_t>(bytes[m]);
      pieces.push_back({data(in) + begins[m], count});
      readers.push_back({members_[m], total, count});
      total += count;
    }
    return node_.put(what.key, what.statement, pieces, readers, 0, label);
  }

  PendingPtr exchange(ShmKind kind, const at::Tensor& out, const at::Tensor& in,
                      const std::vector<std::int64_t>& out_rows, const std::vector<std::int64_t>& in_rows,
                      std::string label) {
    require_plain(out, label);
    require_plain(in, label);
    const std::vector<std::int64_t> to = bytes_of_blocks(out, out_rows, size(), label);
    const std::vector<std::int64_t> from = bytes_of_blocks(in, in_rows, size(), label);
    require(to[self()] == from[self()], label, "a block for itself of two sizes");
    ShmReading::What what{next_key(), statement(kind, in), nullptr};
    what.own = &put_blocks(what, in, from, label);
    std::vector<std::size_t> begins = {0};
    for (const std::int64_t b : to) begins.push_back(begins.back() + static_cast<std::size_t>(b));
    const std::size_t own_begin = sum({from.begin(), from.begin() + rank_});
    copy_bytes(data(out) + begins[self()], data(in) + own_begin, static_cast<std::size_t>(from[self()]));
    std::vector<ShmSource> all = sources(0);
    for (ShmSource& s : all) {
      s.to = data(out) + begins[place(s.rank)];
      s.bytes = static_cast<std::size_t>(to[place(s.rank)]);
    }
    return begin<ShmExchange>(label, {out, in}, what, all);
  }

  ShmNode& node_;
  std::vector<int> members_;
  int rank_;
  std::uint64_t digest_;
  std::uint32_t collectives_ = 0;
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> sent_, received_;  // per peer and tag
};

class ShmTransport final : public Transport {
 public:
  ShmTransport(SharedMemory memory, ControlChannel& channel, const TransportSettings& settings)
      : channel_(channel), node_(std::move(memory), channel, settings) {
    std::vector<int> all;
    for (int r = 0; r < channel.ranks(); ++r) all.push_back(r);
    world_ = &group(all);
  }

  Communicator& world() override { return *world_; }

  void prepare(std::vector<std::vector<int>> groups) override {
    for (const std::vector<int>& g : groups) {
      if (std::find(g.begin(), g.end(), channel_.rank()) != g.end()) group(g);
    }
  }

  Communicator& group(const std::vector<int>& members) override {
    const auto it = groups_.find(members);
    if (it != groups_.end()) return *it->second;
    const int rank = rank_among(members, channel_, "connect " + numbers(members));
    return *(groups_[members] = std::make_unique<ShmCommunicator>(node_, members, rank));
  }

 private:
  ControlChannel& channel_;
  ShmNode node_;
  std::map<std::vector<int>, std::unique_ptr<ShmCommunicator>> groups_;
  Communicator* world_ = nullptr;
};

template <class T>
T answer_of(Result<T> r, const char* what) {
  if (!r.ok()) throw TransportError(std::string(what) + ": " + to_string(r.diagnostics), FailureOrigin::peer);
  return std::move(*r);
}

}  // namespace

Result<std::unique_ptr<Transport>> make_shm_transport(ControlChannel& channel, const TransportSettings& settings) {
  const char* what = "connect";
  Store& store = channel.store();
  const std::string file = "shm/file";
  const int rank = channel.rank(), ranks = channel.ranks();
  Result<SharedMemory> memory = no_shared_memory("rank 0 has none to share");
  if (rank == 0) {
    memory = SharedMemory::create(ranks);
    store.set(file, memory.ok() ? memory->address() : "");
  } else if (const std::string address = answer_of(store.get(file, settings.connect_limit), what); !address.empty()) {
    memory = SharedMemory::open(address, ranks);
  }
  std::string problem = memory.ok() ? ShmNode::open_desk(*memory, rank, ranks) : memory.diagnostics.front().why;
  // All ranks hear of all, so that all decide the same; nobody maps a file after its owner may have ended.
  std::vector<std::string> keys;
  for (int r = 0; r < ranks; ++r) keys.push_back("shm/rank " + std::to_string(r));
  store.set(keys[static_cast<std::size_t>(rank)], problem.empty() ? "here" : problem);
  const std::vector<std::string> answers = answer_of(store.wait(keys, settings.connect_limit), what);
  for (int r = 0; r < ranks; ++r) {
    const std::string& answer = answers[static_cast<std::size_t>(r)];
    if (answer != "here") return no_shared_memory("rank " + std::to_string(r) + ": " + answer);
  }
  return std::unique_ptr<Transport>(std::make_unique<ShmTransport>(std::move(*memory), channel, settings));
}

}  // namespace planscope
