#include "engine/runtime/gloo_transport.h"

#include <ATen/ATen.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "engine/runtime/channel_store.h"
#include "engine/runtime/gloo_backend.h"
#include "engine/runtime/transport_checks.h"

namespace planscope {
namespace {

using Work = c10::intrusive_ptr<c10d::Work>;

struct Context {
  ControlChannel& channel;
  TransportSettings settings;
};

// The first line of what c10d or Gloo said, without its backtrace.
std::string first_line(const std::exception& e) {
  const auto* torch = dynamic_cast<const c10::Error*>(&e);
  const std::string text = torch != nullptr ? torch->what_without_backtrace() : e.what();
  return text.substr(0, text.find('\n'));
}

// Runs what c10d does; its exceptions mean that a peer or the connection is gone.
template <class Action>
auto translated(const std::string& label, Action action) {
  try {
    return action();
  } catch (const std::exception& e) {
    throw TransportError(label + ": " + first_line(e), FailureOrigin::peer);
  }
}

class GlooPending final : public Pending {
 public:
  GlooPending(const Context& context, Work work, std::vector<at::Tensor> tensors, std::string label)
      : context_(context), work_(std::move(work)), tensors_(std::move(tensors)), label_(std::move(label)) {}

  void wait() override {
    if (!work_) return;
    double bytes = 0;
    for (const at::Tensor& t : tensors_) bytes += static_cast<double>(t.nbytes());
    const Microseconds expected{bytes / context_.settings.slowest_bandwidth * 1e6};
    const WaitScope scope(context_.channel, label_, expected);
    translated(label_, [&] { return work_->wait(context_.settings.wait_limit); });
    work_.reset();
    tensors_.clear();
  }
  const std::string& label() const override { return label_; }

 private:
  const Context& context_;
  Work work_;
  std::vector<at::Tensor> tensors_;  // kept alive while the transfer is under way
  std::string label_;
};

c10d::ReduceOp reduce_op(Reduction r) {
  switch (r) {
    case Reduction::sum:
      return c10d::ReduceOp::SUM;
    case Reduction::max:
      return c10d::ReduceOp::MAX;
    case Reduction::min:
      return c10d::ReduceOp::MIN;
  }
  return c10d::ReduceOp::SUM;
}
// The same memory as real numbers: sums of complex numbers are those of their parts.
at::Tensor as_reals(const at::Tensor& t) { return t.is_complex() ? at::view_as_real(t) : t; }

// The same memory as a row of bytes: what only moves needs no type.
at::Tensor as_bytes(const at::Tensor& t) { return t.flatten().view(at::kByte); }

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(const Context& context, c10::intrusive_ptr<c10d::Backend> group, std::vector<int> members)
      : context_(context), group_(std::move(group)), members_(std::move(members)), name_(numbers(members_)) {}

  const std::vector<int>& members() const override { return members_; }
  int rank() const override { return group_->getRank(); }

  PendingPtr all_reduce(at::Tensor in_out, Reduction reduction, std::string label) override {
    begin(label, std::string("all_reduce ") + name(reduction) + " of " + describe(in_out), {in_out});
    return issue({in_out}, std::move(label), [&] {
      c10d::AllreduceOptions options;
      options.reduceOp = reduce_op(reduction);
      std::vector<at::Tensor> tensors = {as_reals(in_out)};
      return group_->allreduce(tensors, options);
    });
  }

  PendingPtr all_gather(at::Tensor out, at::Tensor in, std::string label) override {
    begin(label, "all_gather of " + describe(in), {out, in});
    require_gather(*this, out, in, label);
    return issue({out, in}, std::move(label), [&] {
      at::Tensor to = as_bytes(out);
      at::Tensor from = as_bytes(in);
      return group_->_allgather_base(to, from);
    });
  }

  PendingPtr reduce_scatter(at::Tensor out, at::Tensor in, Reduction reduction, std::string label) override {
    begin(label, std::string("reduce_scatter ") + name(reduction) + " of " + describe(in), {out, in});
    require_scatter(*this, out, in, label);
    return issue({out, in}, std::move(label), [&] {
      c10d::ReduceScatterOptions options;
      options.reduceOp = reduce_op(reduction);
      at::Tensor to = as_reals(out).flatten();
      at::Tensor from = as_reals(in).flatten();
      return group_->_reduce_scatter_base(to, from, options);
    });
  }

  PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::string label) override {
    const auto out_rows = equal_rows(out, size(), label), in_rows = equal_rows(in, size(), label);
    return exchange("all_to_all of " + describe(in), out, in, out_rows, in_rows, std::move(label));
  }

  PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::vector<std::int64_t> out_rows,
                        std::vector<std::int64_t> in_rows, std::string label) override {
    // Sizes may differ between members; what all share is the type and the row.
    const std::string row = in.dim() > 0 ? describe(in.narrow(0, 0, 0)) : describe(in);
    return exchange("all_to_all of uneven blocks of " + row, out, in, out_rows, in_rows, std::move(label));
  }

  PendingPtr broadcast(at::Tensor in_out, int root, std::string label) override {
    begin(label, "broadcast from " + std::to_string(root) + " of " + describe(in_out), {in_out});
    require_peer(*this, root, label);
    return issue({in_out}, std::move(label), [&] {
      c10d::BroadcastOptions options;
      options.rootRank = root;
      std::vector<at::Tensor> tensors = {as_bytes(in_out)};
      return group_->broadcast(tensors, options);
    });
  }

  PendingPtr send(at::Tensor tensor, int to, std::uint32_t tag, std::string label) override {
    require_peer(*this, to, label);
    require(to != rank(), label, "a rank sends to itself");
    meet_peer(rank(), to, tag, tensor, label);
    if (tensor.storage().use_count() > 1) tensor = tensor.clone();
    return issue({tensor}, std::move(label), [&] {
      std::vector<at::Tensor> tensors = {as_bytes(tensor)};
      return group_->send(tensors, to, static_cast<int>(tag));
    });
  }

  PendingPtr receive(at::Tensor tensor, int from, std::uint32_t tag, std::string label) override {
    require_peer(*this, from, label);
    require(from != rank(), label, "a rank receives from itself");
    meet_peer(from, rank(), tag, tensor, label);
    return issue({tensor}, std::move(label), [&] {
      std::vector<at::Tensor> tensors = {as_bytes(tensor)};
      return group_->recv(tensors, from, static_cast<int>(tag));
    });
  }

  void barrier(std::string label) override {
    begin(label, "barrier", {});
    Work work = translated(label, [&] { return group_->barrier(); });
    GlooPending(context_, std::move(work), {}, std::move(label)).wait();
  }

 private:
  // Tells the launcher about the next collective of this group.
  void begin(const std::string& label, const std::string& what, const std::vector<at::Tensor>& tensors) {
    for (const at::Tensor& t : tensors) require_plain(t, label);
    context_.channel.agree(name_ + " #" + std::to_string(collectives_++), what, size(), label);
  }

  void meet_peer(int from, int to, std::uint32_t tag, const at::Tensor& t, const std::string& label) {
    require_plain(t, label);
    require(tag < (1u << 31), label, "a tag of " + std::to_string(tag));
    const std::string pair = std::to_string(from) + ">" + std::to_string(to) + " tag " + std::to_string(tag);
    context_.channel.agree(name_ + " " + pair + " #" + std::to_string(sends_[pair]++), describe(t), 2, label);
  }

  PendingPtr exchange(const std::string& what, const at::Tensor& out, const at::Tensor& in,
                      const std::vector<std::int64_t>& out_rows, const std::vector<std::int64_t>& in_rows,
                      std::string label) {
    begin(label, what, {out, in});
    std::vector<std::int64_t> to = bytes_of_blocks(out, out_rows, size(), label);
    std::vector<std::int64_t> from = bytes_of_blocks(in, in_rows, size(), label);
    // An empty tensor here says nothing about the others': every member takes part.
    return issue(
        {out, in}, std::move(label),
        [&] {
          at::Tensor target = as_bytes(out);
          at::Tensor source = as_bytes(in);
          return group_->alltoall_base(target, source, to, from);
        },
        /*empty_is_nothing=*/false);
  }

  template <class Start>
  PendingPtr issue(std::vector<at::Tensor> tensors, std::string label, Start start, bool empty_is_nothing = true) {
    const bool empty = std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& t) { return t.numel() == 0; });
    Work work;
    if (!empty || !empty_is_nothing) work = translated(label, start);
    return std::make_shared<GlooPending>(context_, std::move(work), std::move(tensors), std::move(label));
  }

  const Context& context_;
  c10::intrusive_ptr<c10d::Backend> group_;
  std::vector<int> members_;
  std::string name_;
  int collectives_ = 0;
  std::map<std::string, int> sends_;  // per direction and tag
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(ControlChannel& channel, const TransportSettings& settings, const std::string& address)
      : context_{channel, settings},
        store_(c10::make_intrusive<ChannelStore>(channel.store(), settings.connect_limit)),
        make_group_(translated("connect", [&] { return gloo_factory(address); })) {
    std::vector<int> all;
    for (int r = 0; r < channel.ranks(); ++r) all.push_back(r);
    make(all);
    world_ = groups_.begin()->second.get();
  }

  Communicator& world() override { return *world_; }

  void prepare(std::vector<std::vector<int>> groups) override {
    // One order for all ranks, so that no two ranks wait for each other in different groups.
    std::sort(groups.begin(), groups.end());
    for (const std::vector<int>& g : groups) {
      if (std::find(g.begin(), g.end(), context_.channel.rank()) != g.end()) group(g);
    }
  }

  Communicator& group(const std::vector<int>& members) override {
    const auto it = groups_.find(members);
    return it != groups_.end() ? *it->second : make(members);
  }

 private:
  Communicator& make(const std::vector<int>& members) {
    const std::string label = "connect " + numbers(members);
    const int rank = rank_among(members, context_.channel, label);
    const WaitScope scope(context_.channel, label);
    auto backend = translated(label, [&] {
      auto store = c10::make_intrusive<c10d::PrefixStore>("gloo/" + numbers(members), store_);
      return make_group_(store, rank, static_cast<int>(members.size()), context_.settings.connect_limit);
    });
    backend->setTimeout(context_.settings.wait_limit);
    auto& slot = groups_[members];
    slot = std::make_unique<GlooCommunicator>(context_, std::move(backend), members);
    return *slot;
  }

  Context context_;
  c10::intrusive_ptr<c10d::Store> store_;
  GlooFactory make_group_;
  std::map<std::vector<int>, std::unique_ptr<GlooCommunicator>> groups_;
  Communicator* world_ = nullptr;
};

}  // namespace

std::unique_ptr<Transport> make_gloo_transport(ControlChannel& channel, const TransportSettings& settings,
                                               const std::string& address) {
  // Gloo writes to connections that a peer may just have closed. That is an error of the transfer, not this rank's end.
  ::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<GlooTransport>(channel, settings, address);
}

}  // namespace planscope
