// What goes from one place to another: `send` and `receive`.
#include <functional>
#include <memory>
#include <utility>

#include "engine/runtime/executor.h"

namespace planscope {

// One message goes from a device to another at an index of a transfer.
std::uint32_t Executor::tag(int transfer) const {
  std::uint64_t tag = 0;
  for (const AxisId axis : value(program_.transfers[static_cast<std::size_t>(transfer)].to[0]).indexed) {
    tag = tag * static_cast<std::uint64_t>(program_.axes[static_cast<std::size_t>(axis)].size) +
          static_cast<std::uint64_t>(free_[static_cast<std::size_t>(axis)]);
  }
  tag = tag * program_.transfers.size() + static_cast<std::uint64_t>(transfer);  // minor: transfers differ in axes
  return static_cast<std::uint32_t>(tag);
}

void Executor::send(const Instruction& i) {
  const Transfer& transfer = program_.transfers[static_cast<std::size_t>(i.transfer)];
  const PlaceId to = value(transfer.to[0]).place;
  for (const int receiver : devices(program_, program_.places[static_cast<std::size_t>(to)])) {
    struct Part {
      ProgramValueId of;
      Region held, wanted;
    };
    std::vector<Part> parts;
    std::int64_t count = 0;
    for (std::size_t k = 0; k < transfer.from.size(); ++k) {
      for (const TransferBlock& block : site_.blocks_to(transfer, k, receiver, free_)) {
        if (block.from != site_.device()) continue;
        const Region held = site_.region(transfer.from[k], site_.device(), free_);
        if (receiver == site_.device()) {
          to_self_[key(transfer.to[k])].emplace_back(block.region, cut(get(transfer.from[k]), held, block.region));
          continue;
        }
        parts.push_back({transfer.from[k], held, block.region});
        count += elements(block.region);
      }
    }
    if (parts.empty()) continue;
    at::Tensor message;
    if (parts.size() == 1 && parts[0].held == parts[0].wanted) {
      message = get(parts[0].of).contiguous().view({-1});
    } else {
      message = at::empty({count}, get(parts[0].of).options());
      std::int64_t begin = 0;
      for (const Part& part : parts) {
        const std::int64_t length = elements(part.wanted);
        cut_to(message.narrow(0, begin, length), get(part.of), part.held, part.wanted);
        begin += length;
      }
    }
    at::Tensor bytes = message.view(at::kByte);
    message.reset();
    auto pending = transport_.world().send(std::move(bytes), receiver, tag(i.transfer),
                                           describe(i) + " to rank " + std::to_string(receiver));
    sent_.emplace_back(step_, [pending] { pending->wait(); });
  }
}

void Executor::receive(const Instruction& i) {
  const Transfer& transfer = program_.transfers[static_cast<std::size_t>(i.transfer)];
  const Value& meant = site_.graph().model->values[static_cast<std::size_t>(value(transfer.to[0]).tensor)];
  const auto options = at::TensorOptions().dtype(scalar_type(meant.dtype, options_.shards.precision));
  struct Block {
    std::size_t k;
    Region region;
  };
  struct Arrival {
    std::vector<Key> keys;
    std::vector<Region> wanted;
    std::vector<std::size_t> own;  // blocks that this device sends itself
    TensorList whole;
    std::vector<std::function<void()>> messages;
  };
  const auto arrival = std::make_shared<Arrival>();
  std::map<int, std::vector<Block>> senders;
  for (std::size_t k = 0; k < transfer.to.size(); ++k) {
    arrival->keys.push_back(key(transfer.to[k]));
    arrival->wanted.push_back(site_.region(transfer.to[k], site_.device(), free_));
    arrival->whole.push_back(at::empty(sizes(arrival->wanted[k]), options));
    arrival->own.push_back(0);
    for (const TransferBlock& block : site_.blocks_to(transfer, k, site_.device(), free_))
      if (block.from != site_.device())
        senders[block.from].push_back({k, block.region});
      else
        ++arrival->own.back();
  }
  for (const auto& [sender, blocks] : senders) {
    std::int64_t count = 0;
    for (const Block& b : blocks) count += elements(b.region);
    const bool whole = blocks.size() == 1 && blocks[0].region == arrival->wanted[blocks[0].k];
    const at::Tensor message = whole ? arrival->whole[blocks[0].k].view({-1}) : at::empty({count}, options);
    auto pending = transport_.world().receive(message.view(at::kByte), sender, tag(i.transfer),
                                              describe(i) + " from rank " + std::to_string(sender));
    arrival->messages.push_back([pending, message, whole, blocks, all = arrival.get()] {
      pending->wait();
      std::int64_t begin = 0;
      for (const Block& b : blocks) {
        const std::int64_t length = elements(b.region);
        if (!whole) paste(all->whole[b.k], all->wanted[b.k], message.narrow(0, begin, length), b.region);
        begin += length;
      }
    });
  }
  for (std::size_t k = 0; k < transfer.to.size(); ++k) {
    pending_[arrival->keys[k]] = [this, arrival, k] {
      for (const auto& message : std::exchange(arrival->messages, {})) message();
      const auto own = to_self_.extract(arrival->keys[k]);
      if ((own ? own.mapped().size() : 0) != arrival->own[k])
        throw std::logic_error("a device receives what it sends itself before it sends it");
      if (own)
        for (const auto& [region, piece] : own.mapped()) paste(arrival->whole[k], arrival->wanted[k], piece, region);
      return std::move(arrival->whole[k]);
    };
  }
}

}  // namespace planscope
