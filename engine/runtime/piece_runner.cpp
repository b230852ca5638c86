#include "engine/runtime/piece_runner.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "engine/runtime/autograd.h"

namespace planscope {

namespace {

// Settled, and without what autograd knows of it: a view would hold what it views.
at::Tensor plain(const at::Tensor& tensor) { return settled(tensor).variable_data(); }

}  // namespace

PieceRunner::PieceRunner(const Site& site, ShardOptions options) : site_(site), options_(options) {
  const Program& program = site.program();
  backwards_.assign(program.pieces.size(), 0);
  for (const Piece& piece : program.pieces) wanted_.emplace_back(static_cast<std::size_t>(piece.leaves), false);
  for (const Segment& segment : program.segments) {
    for (const Instruction& i : segment.instructions) {
      offloads_ = offloads_ || (i.code == Code::offload && i.piece >= 0);
      if (i.code != Code::backward) continue;
      ++backwards_[static_cast<std::size_t>(i.piece)];
      std::vector<bool>& wanted = wanted_[static_cast<std::size_t>(i.piece)];
      for (std::size_t leaf = 0; leaf < i.out.size() && leaf < wanted.size(); ++leaf) {
        wanted[leaf] = wanted[leaf] || i.out[leaf] >= 0;
      }
    }
  }
}

const PieceRunner::Prepared& PieceRunner::prepare(PieceId id, const Point& at) {
  const Program& program = site_.program();
  const Piece& piece = program.pieces[static_cast<std::size_t>(id)];
  std::vector<Region> regions;
  for (const PieceSlot& slot : piece.slots) {
    regions.push_back(region(site_.graph(), slot.tensor, program.layouts[static_cast<std::size_t>(slot.layout)], at));
  }
  const auto known = prepared_.find(id);
  if (known != prepared_.end() && known->second.regions == regions) return known->second;
  Prepared made{std::move(regions), {}};
  for (const PieceOp& op : piece.ops) {
    std::vector<Region> inputs, outputs;
    for (const int slot : op.inputs) inputs.push_back(made.regions[static_cast<std::size_t>(slot)]);
    const std::size_t count = site_.graph().ops[static_cast<std::size_t>(op.op)].outputs.size();
    for (std::size_t o = 0; o < count; ++o)
      outputs.push_back(made.regions[static_cast<std::size_t>(op.first_output) + o]);
    ShardOptions options = options_;
    options.prefix = std::any_of(op.bindings.begin(), op.bindings.end(),
                                 [](const Binding& b) { return b.digit.reach == Reach::prefix; });
    made.ops.emplace_back(site_.graph(), op.op, inputs, outputs, options);
  }
  return prepared_.insert_or_assign(id, std::move(made)).first->second;
}

std::vector<int> PieceRunner::last_uses(const Piece& piece) const {
  std::vector<int> last(piece.slots.size(), -1);
  for (std::size_t k = 0; k < piece.ops.size(); ++k) {
    for (const int slot : piece.ops[k].inputs) last[static_cast<std::size_t>(slot)] = static_cast<int>(k);
  }
  for (const int slot : piece.outputs) last[static_cast<std::size_t>(slot)] = static_cast<int>(piece.ops.size());
  return last;
}

TensorList PieceRunner::run(PieceId id, const Point& at, const TensorList& leaves, KeptRun* kept) {
  const Piece& piece = site_.program().pieces[static_cast<std::size_t>(id)];
  const Prepared& prepared = prepare(id, at);
  const std::vector<int> last = last_uses(piece);
  const at::AutoGradMode recording(kept != nullptr);
  TensorList slots(piece.slots.size());
  ParameterViews views;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    slots[leaf] = leaves[leaf];
    if (kept != nullptr) kept->leaves.emplace_back();
    if (!wanted_[static_cast<std::size_t>(id)][leaf] || !carries_gradient(leaves[leaf])) continue;
    if (kept == nullptr) {
      // As a model's own weights under no_grad: LibTorch's products choose by `requires_grad` whether they copy the
      // operand that is not contiguous or a weight for each matrix of the batch.
      slots[leaf] = leaves[leaf].detach().requires_grad_();
      continue;
    }
    kept->leaves.back() = stand_in(leaves[leaf].detach());
    slots[leaf] = behind(kept->leaves.back(), leaves[leaf]);
  }
  for (std::size_t k = 0; k < piece.ops.size(); ++k) {
    TensorList inputs;
    for (const int slot : piece.ops[k].inputs) inputs.push_back(slots[static_cast<std::size_t>(slot)]);
    const bool apart = kept != nullptr && backwards_[static_cast<std::size_t>(id)] > 1;
    const std::size_t before = apart ? kept->apart.size() : 0;
    if (apart) set_apart(piece, piece.ops[k], views, inputs, *kept);
    const std::shared_ptr<TensorList> whole = kept == nullptr ? nullptr : awaited(piece, piece.ops[k], *kept);
    TensorList outputs = prepared.ops[k](inputs, whole);
    if (kept != nullptr && offloads_) note_saved(piece.ops[k], inputs, outputs, *kept);
    if (apart && kept->apart.size() > before && only_views(piece, piece.ops[k], inputs, outputs)) {
      for (std::size_t o = 0; o < outputs.size(); ++o)
        views.emplace(piece.ops[k].first_output + static_cast<int>(o), kept->apart.back());
      kept->apart.pop_back();
    } else if (apart && kept->apart.size() > before) {
      for (const at::Tensor& o : outputs) {
        if (o.defined() && o.requires_grad()) kept->apart.back().results.push_back(stand_in(o));
      }
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const std::size_t slot = static_cast<std::size_t>(piece.ops[k].first_output) + o;
      if (last[slot] >= 0) slots[slot] = std::move(outputs[o]);
    }
    for (const int slot : piece.ops[k].inputs) {
      if (last[static_cast<std::size_t>(slot)] == static_cast<int>(k)) slots[static_cast<std::size_t>(slot)].reset();
    }
  }
  TensorList results;
  for (const int slot : piece.outputs) {
    const at::Tensor& made = slots[static_cast<std::size_t>(slot)];
    if (kept != nullptr) kept->outputs.push_back(made.requires_grad() ? stand_in(made) : at::Tensor());
    at::Tensor result = made.detach();
    const auto shares = [&](const at::Tensor& other) { return share_storage(other, result); };
    const bool aliased =
        std::any_of(leaves.begin(), leaves.end(), shares) || std::any_of(results.begin(), results.end(), shares);
    results.push_back(aliased ? result.clone(at::MemoryFormat::Contiguous) : result.contiguous());
  }
  return results;
}

// Where an operator's backward reads its whole results: a place for them.
std::shared_ptr<TensorList> PieceRunner::awaited(const Piece& piece, const PieceOp& op, KeptRun& kept) const {
  if (site_.graph().ops[static_cast<std::size_t>(op.op)].log_sums < 0) return nullptr;
  const Layout& layout =
      site_.program().layouts[static_cast<std::size_t>(piece.slots[static_cast<std::size_t>(op.first_output)].layout)];
  const bool softmax = std::any_of(layout.partials.begin(), layout.partials.end(),
                                   [](const Partial& p) { return p.kind == PartialKind::softmax; });
  if (!softmax) return nullptr;
  kept.whole.emplace_back(op.first_output, std::make_shared<TensorList>());
  return kept.whole.back().second;
}

// Hands whole results to the operators of the run that wait for them.
void PieceRunner::hand_out(PieceId id, const KeptRun& kept, const TensorList& given) const {
  const Piece& piece = site_.program().pieces[static_cast<std::size_t>(id)];
  std::size_t next = piece.outputs.size();
  for (const int position : softmax_outputs(site_.graph(), site_.program(), piece)) {
    const int slot = piece.outputs[static_cast<std::size_t>(position)];
    for (const auto& [first, whole] : kept.whole) {
      const auto k = static_cast<std::size_t>(slot - first);
      if (slot < first || k >= 2) continue;
      whole->resize(2);
      (*whole)[k] = given[next];
    }
    ++next;
  }
}

// Whether an operator makes nothing but views of its one operand, for others of the piece.
bool PieceRunner::only_views(const Piece& piece, const PieceOp& op, const TensorList& inputs,
                             const TensorList& outputs) {
  if (inputs.size() != 1) return false;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const int slot = op.first_output + static_cast<int>(o);
    if (std::find(piece.outputs.begin(), piece.outputs.end(), slot) != piece.outputs.end()) return false;
    if (!outputs[o].defined() || !share_storage(outputs[o], inputs[0])) return false;
  }
  return true;
}

// Aliases of the parameters that an operator reads, as they are or as views: a gradient taken there is that of this one use.
void PieceRunner::set_apart(const Piece& piece, const PieceOp& op, const ParameterViews& views, TensorList& inputs,
                            KeptRun& kept) const {
  KeptRun::Apart use;
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    const int slot = op.inputs[k];
    if (const auto view = views.find(slot); view != views.end()) {
      use.leaves.insert(use.leaves.end(), view->second.leaves.begin(), view->second.leaves.end());
      use.parameters.insert(use.parameters.end(), view->second.parameters.begin(), view->second.parameters.end());
    }
    if (slot >= piece.leaves || !inputs[k].defined() || !inputs[k].requires_grad()) continue;
    const TensorId t = piece.slots[static_cast<std::size_t>(slot)].tensor;
    if (site_.graph().model->values[static_cast<std::size_t>(t)].kind != ValueKind::parameter) continue;
    inputs[k] = at::alias(inputs[k]);
    use.leaves.push_back(slot);
    use.parameters.push_back(inputs[k]);
  }
  if (!use.leaves.empty()) kept.apart.push_back(std::move(use));
}

void PieceRunner::note_saved(const PieceOp& piece_op, const TensorList& inputs, const TensorList& outputs,
                             KeptRun& kept) const {
  const Op& op = site_.graph().ops[static_cast<std::size_t>(piece_op.op)];
  if (!op.backward) return;
  for (const int s : op.saves) {
    const at::Tensor& tensor = s >= 0 ? inputs[static_cast<std::size_t>(s)] : outputs[static_cast<std::size_t>(-1 - s)];
    if (tensor.defined() && tensor.has_storage()) kept.saved.emplace_back(tensor.storage().getWeakStorageImpl());
  }
}

TensorList PieceRunner::parameter_gradients(const KeptRun& kept, const std::vector<bool>& wanted, bool keep_graph) {
  TensorList sums(wanted.size());
  for (const KeptRun::Apart& use : kept.apart) {
    TensorList results, given;
    for (std::size_t k = 0; k < use.results.size(); ++k) {
      if (!use.gradients[k].defined()) continue;
      results.push_back(use.results[k]);
      given.push_back(use.gradients[k]);
    }
    if (results.empty()) continue;
    TensorList found = torch::autograd::grad(results, use.parameters, given, keep_graph, false, true);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const at::Tensor one = std::move(found[k]);  // let go before the next: it may be in another order in memory
      at::Tensor& sum = sums[static_cast<std::size_t>(use.leaves[k])];
      if (!one.defined() || !wanted[static_cast<std::size_t>(use.leaves[k])]) continue;
      sum = sum.defined() ? sum.add(one) : plain(one);  // what was found may be another's too
    }
  }
  for (std::size_t leaf = 0; leaf < wanted.size(); ++leaf) {
    const at::Tensor& of = kept.leaves[leaf];
    if (wanted[leaf] && of.defined() && !sums[leaf].defined())
      sums[leaf] = at::zeros(of.sizes(), of.options().requires_grad(false));
  }
  return sums;
}

bool PieceRunner::only_parameters(PieceId id, const std::vector<bool>& wanted) const {
  const Piece& piece = site_.program().pieces[static_cast<std::size_t>(id)];
  for (std::size_t leaf = 0; leaf < wanted.size(); ++leaf) {
    const TensorId t = piece.slots[leaf].tensor;
    if (wanted[leaf] && site_.graph().model->values[static_cast<std::size_t>(t)].kind != ValueKind::parameter)
      return false;
  }
  return true;
}

TensorList PieceRunner::backward(PieceId id, KeptRun& kept, const TensorList& gradients,
                                 const std::vector<bool>& wanted, bool keep_graph) {
  const bool left = !kept.apart.empty() && !kept.apart.front().gradients.empty();
  if (left && only_parameters(id, wanted)) return parameter_gradients(kept, wanted, keep_graph);
  hand_out(id, kept, gradients);
  TensorList outputs, given, leaves;
  std::vector<std::size_t> position;
  for (std::size_t o = 0; o < kept.outputs.size(); ++o) {
    if (!gradients[o].defined() || !kept.outputs[o].defined()) continue;
    outputs.push_back(kept.outputs[o]);
    given.push_back(gradients[o]);
  }
  TensorList results(wanted.size());
  for (std::size_t leaf = 0; leaf < wanted.size(); ++leaf) {
    if (!wanted[leaf] || !kept.leaves[leaf].defined()) continue;
    leaves.push_back(kept.leaves[leaf]);
    position.push_back(leaf);
  }
  if (leaves.empty()) return results;
  const std::size_t count = leaves.size();
  for (const KeptRun::Apart& use : kept.apart) leaves.insert(leaves.end(), use.results.begin(), use.results.end());
  TensorList found(leaves.size());
  if (!outputs.empty()) {
    found = torch::autograd::grad(outputs, leaves, given, keep_graph, false, true);
  }
  auto next = found.begin() + static_cast<std::ptrdiff_t>(count);
  for (KeptRun::Apart& use : kept.apart) {
    use.gradients.assign(next, next + static_cast<std::ptrdiff_t>(use.results.size()));
    next += static_cast<std::ptrdiff_t>(use.results.size());
  }
  for (std::size_t k = 0; k < count; ++k) {
    const at::Tensor one = std::move(found[k]);  // let go before the next: it may be in another order in memory
    results[position[k]] =
        one.defined() ? plain(one) : at::zeros(leaves[k].sizes(), leaves[k].options().requires_grad(false));
  }
  return results;
}

}  // namespace planscope
