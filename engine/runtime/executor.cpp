#include "engine/runtime/executor.h"

#include <memory>
#include <utility>

#include "engine/runtime/attention.h"

namespace planscope {

Executor::Executor(const Site& site, Transport& transport, TensorSource& source, const ExecutorOptions& options)
    : site_(site),
      program_(site.program()),
      transport_(transport),
      source_(source),
      options_(options),
      pieces_(site, options.shards),
      moves_(site, transport),
      reuse_(program_),
      refilled_(program_.values.size(), false),
      backwards_(program_.pieces.size(), 0),
      free_(program_.axes.size(), -1) {
  const int mine = class_of(program_, site.device());
  if (mine >= 0) {
    slots_ = planscope::period(program_.classes[static_cast<std::size_t>(mine)]);
    last_ = last_indices(program_, program_.classes[static_cast<std::size_t>(mine)]);
  }
  most_ahead_ = most_ahead(program_);
  period_ = -most_ahead_;
  for (std::size_t v = 0; v < program_.values.size(); ++v) {
    const ProgramValue& value = program_.values[v];
    if (value.refills >= 0) refilled_[static_cast<std::size_t>(value.refills)] = true;
    if (value.role != Role::home || site.point(value.place, site.device(), free_).empty()) continue;
    const auto id = static_cast<ProgramValueId>(v);
    homes_[id] = source_.block(value.tensor, site.region(id, site.device(), free_));
    for (std::int64_t k = 0; k < value.lag; ++k) older_[id].push_back(homes_[id].clone());
  }
  hold_written();
  source_.release_pages();
  for (const Segment& segment : program_.segments) {
    for (const Instruction& i : segment.instructions) {
      if (i.code == Code::backward) ++backwards_[static_cast<std::size_t>(i.piece)];
      if (i.code != Code::update) continue;
      const auto home = homes_.find(i.in[0]);
      if (home == homes_.end()) continue;
      updates_[home->first] = 0;
      OptimizerState& state = optimizers_.try_emplace(home->first, options.optimizer, home->second).first->second;
      if (i.in.size() < 3) continue;
      home_of_[i.in[2]] = home->first;
      state.put_away();
    }
  }
}

// Buffers that steps change, whole, where this device loads them.
void Executor::hold_written() {
  const Model& model = *site_.graph().model;
  if (model.mutations.empty()) return;
  for (const Segment& segment : program_.segments)
    for (const Instruction& i : segment.instructions) {
      if (i.code != Code::load || site_.point(segment.place, site_.device(), free_).empty()) continue;
      const TensorId tensor = value(i.out[0]).tensor;
      if (is_changed_by_steps(model, tensor) && written_.count(tensor) == 0)
        written_[tensor][0] = source_.block(tensor, whole_region(site_.graph(), tensor));
    }
}

std::int64_t Executor::instructions() const {
  std::int64_t count = 0;
  for (const SlotRun& slot : slots_) {
    count += static_cast<std::int64_t>(program_.segments[static_cast<std::size_t>(slot.segment)].instructions.size());
  }
  return count;
}

std::string Executor::describe(const Instruction& i) const {
  std::string what = std::string(i.code == Code::issue ? to_string(i.move.kind) : to_string(i.code));
  if (i.piece >= 0) {
    const Piece& piece = program_.pieces[static_cast<std::size_t>(i.piece)];
    if (!piece.ops.empty()) what += " " + site_.graph().node(piece.ops.front().op).name();
    if (piece.ops.size() > 1) what += " … " + site_.graph().node(piece.ops.back().op).name();
    return what;
  }
  for (const auto* list : {&i.in, &i.out}) {
    for (const ProgramValueId id : *list) {
      if (id >= 0) return what + " " + site_.graph().tensor_name(value(id).tensor);
    }
  }
  return what;
}

void Executor::step(const ExecutionObserver& observer) {
  while (period_ < 0) period(observer);
  period(observer);
}

void Executor::period(const ExecutionObserver& observer) {
  number_ = 0;
  for (const SlotRun& slot : slots_) {
    step_ = period_ + slot.ahead;
    if (step_ >= 0 && (!options_.steps || step_ < *options_.steps)) {
      run_slot(slot, observer);
    } else {
      number_ +=
          static_cast<std::int64_t>(program_.segments[static_cast<std::size_t>(slot.segment)].instructions.size());
    }
  }
  if (period_ >= 0) end_step();
  ++period_;
}

void Executor::run_slot(const SlotRun& slot, const ExecutionObserver& observer) {
  const Segment& segment = program_.segments[static_cast<std::size_t>(slot.segment)];
  free_.assign(program_.axes.size(), -1);
  for (std::size_t k = 0; k < slot.index.size(); ++k)
    free_[static_cast<std::size_t>(segment.free_axes[k])] = slot.index[k];
  const bool last_run = slot.index == last_[static_cast<std::size_t>(slot.segment)];
  for (const Instruction& i : segment.instructions) {
    if (i.last && !last_run) {
      ++number_;
      continue;
    }
    const std::string what = describe(i);
    if (observer.begin) observer.begin(number_, segment, i, what);
    try {
      run(segment, i);
    } catch (const TransportError&) {
      throw;
    } catch (const c10::Error& e) {
      throw ExecutionError(number_, segment.name + ": " + what + ": " + e.what_without_backtrace());
    } catch (const std::exception& e) {
      throw ExecutionError(number_, segment.name + ": " + what + ": " + e.what());
    }
    if (observer.end) observer.end(number_, segment, i);
    ++number_;
  }
}

namespace {

// Keys end in an index, which begins with the training step.
template <class Map>
void erase_steps_to(std::int64_t last, Map& map) {
  std::erase_if(map, [last](const auto& entry) { return entry.first.second.front() <= last; });
}

}  // namespace

// All slots of the step have run.
void Executor::end_step() {
  step_ = period_;
  free_.assign(program_.axes.size(), -1);
  for (const auto& [step, wait] : sent_)
    if (step <= step_) wait();
  std::erase_if(sent_, [&](const auto& sent) { return sent.first <= step_; });
  std::vector<Key> due;
  for (const auto& [key, wait] : pending_)
    if (key.second.front() <= step_) due.push_back(key);
  for (const Key& key : due) finish(key);
  loss_.reset();
  if (program_.loss >= 0 && present(program_.loss)) loss_ = get(program_.loss).item<double>();
  erase_steps_to(step_, values_), erase_steps_to(step_, retired_), erase_steps_to(step_, merges_);
  erase_steps_to(step_, kept_), erase_steps_to(step_, to_self_);
  if (!overlaps()) away_.clear(), leaving_.clear();
  for (auto& [buffer, versions] : written_) versions.erase(versions.begin(), std::prev(versions.upper_bound(step_ + 1)));
}

void Executor::run(const Segment& segment, const Instruction& i) {
  switch (i.code) {
    case Code::load:
      return load(i);
    case Code::compute:
    case Code::replay:
      return compute(segment, i);
    case Code::backward:
      return backward(i);
    case Code::seed:
      return seed(i);
    case Code::add:
      return add(i);
    case Code::accumulate:
      return accumulate(segment, i);
    case Code::local:
      return local(i);
    case Code::issue:
      return issue(segment, i);
    case Code::wait:
      for (const ProgramValueId out : i.out) finish(key(out));
      return;
    case Code::send:
      return send(i);
    case Code::receive:
      return receive(i);
    case Code::update:
      return update(i);
    case Code::free:
      return release(segment, i);
    case Code::offload:
      return offload(i);
    case Code::restore:
      return restore(i);
    case Code::write:
      return write(i);
  }
}

namespace {

std::size_t number_in(const Segment& segment, const Instruction& i) {
  return static_cast<std::size_t>(&i - segment.instructions.data());
}

}  // namespace

Executor::Key Executor::key(ProgramValueId id) const {
  Key k{id, {step_}};
  for (const AxisId axis : value(id).indexed) {
    const std::int64_t index = free_[static_cast<std::size_t>(axis)];
    if (index < 0) throw std::logic_error("a value is read outside of the loop that makes it");
    k.second.push_back(index);
  }
  return k;
}

bool Executor::present(ProgramValueId id) const { return values_.count({id, {step_}}) > 0 || homes_.count(id) > 0; }

at::Tensor Executor::get(ProgramValueId id) {
  if (homes_.count(id) > 0) return version(id);
  const Key k = key(id);
  if (pending_.count(k) > 0) finish(k);
  const auto found = values_.find(k);
  if (found == values_.end())
    throw std::logic_error(site_.graph().tensor_name(value(id).tensor) + " is read before it is made");
  return found->second;
}

// The contents of a home after as many updates as its readers of this step are to see.
at::Tensor Executor::version(ProgramValueId home) const {
  const at::Tensor& newest = homes_.at(home);
  const auto updates = updates_.find(home);
  if (updates == updates_.end()) return newest;
  const auto older = older_.find(home);
  const std::int64_t kept = older == older_.end() ? 0 : static_cast<std::int64_t>(older->second.size());
  const std::int64_t back = updates->second - step_ + kept;  // before the newest
  if (back < 0 || back > kept)
    throw std::logic_error(site_.graph().tensor_name(value(home).tensor) + " is read where its version is not there");
  return back == 0 ? newest : older->second[static_cast<std::size_t>(kept - back)];
}

MoveRunner::Operand Executor::operand(const Instruction& i) {
  if (i.in.size() > 2) throw std::runtime_error("rows by several keys cannot be run yet");
  if (i.in.size() == 1) return {i.in[0], get(i.in[0]), -1, {}};
  return {i.in[0], get(i.in[0]), i.in[1], get(i.in[1])};
}

void Executor::put(ProgramValueId id, at::Tensor tensor) {
  const Key k = key(id);
  const ProgramValueId original = value(id).refills;
  if (refilled_[static_cast<std::size_t>(id)] && retired_.count(k) > 0)
    throw std::logic_error(site_.graph().tensor_name(value(id).tensor) + " is made twice, and made again for both");
  if (original >= 0) {
    const auto retired = retired_.find(key(original));
    if (retired == retired_.end() || retired->second.storage().nbytes() > 0)
      throw std::logic_error(site_.graph().tensor_name(value(id).tensor) + " is made again before it is freed");
    refill_storage(retired->second, std::move(tensor));
    tensor = retired->second;
  }
  values_[k] = std::move(tensor);
}

void Executor::finish(const Key& k) {
  const auto found = pending_.find(k);
  if (found == pending_.end()) return;
  std::function<at::Tensor()> wait = std::move(found->second);
  pending_.erase(found);
  at::Tensor tensor = wait();
  wait = {};  // it holds the message
  const Point before = free_;
  const std::int64_t now = std::exchange(step_, k.second.front());
  for (std::size_t n = 1; n < k.second.size(); ++n)
    free_[static_cast<std::size_t>(value(k.first).indexed[n - 1])] = k.second[n];
  put(k.first, std::move(tensor));
  free_ = before;
  step_ = now;
}

// Where a run stands: by axis, so that it does not depend on the order in which a segment names its axes.
Executor::Index Executor::free_index() const {
  Index index{step_};
  index.insert(index.end(), free_.begin(), free_.end());
  return index;
}

void Executor::load(const Instruction& i) {
  const ProgramValueId out = i.out[0];
  const TensorId tensor = value(out).tensor;
  const Region region = site_.region(out, site_.device(), free_);
  const auto written = written_.find(tensor);
  if (written == written_.end()) return put(out, source_.block(tensor, region));
  const at::Tensor& held = std::prev(written->second.upper_bound(step_))->second;
  const Region whole = whole_region(site_.graph(), tensor);
  put(out, region == whole ? held : cut(held, whole, region));
}

// Loads of this step go on reading what the buffer was before it. The value itself is kept, where its memory is its own and
// nothing else will change it.
void Executor::write(const Instruction& i) {
  const ProgramValueId id = i.in[0];
  at::Tensor now = get(id).detach();
  const bool changes = homes_.count(id) > 0 || refilled_[static_cast<std::size_t>(id)] || value(id).refills >= 0;
  if (changes || !now.is_contiguous() || now.storage().nbytes() != now.nbytes())
    now = now.clone(at::MemoryFormat::Contiguous);
  for (const Mutation& m : site_.graph().model->mutations)
    if (m.value == value(id).tensor)
      if (const auto held = written_.find(m.buffer); held != written_.end()) held->second[step_ + 1] = now;
}

void Executor::compute(const Segment& segment, const Instruction& i) {
  TensorList leaves;
  for (const ProgramValueId in : i.in) leaves.push_back(get(in));
  Kept kept;
  const bool keep = i.keep && program_.pieces[static_cast<std::size_t>(i.piece)].gradient;
  const Point at = site_.point(segment.place, site_.device(), free_);
  TensorList results = pieces_.run(i.piece, at, leaves, keep ? &kept.run : nullptr);
  for (std::size_t o = 0; o < results.size(); ++o) {
    if (i.out[o] < 0) continue;
    kept.outputs.push_back(key(i.out[o]));
    put(i.out[o], std::move(results[o]));
  }
  if (!keep) return;
  kept.backwards = backwards_[static_cast<std::size_t>(i.piece)];
  kept_[{i.piece, free_index()}] = std::move(kept);
}

// What the gradient of the combined value is multiplied by to be that of this one (piece_runner.h).
at::Tensor Executor::merged_share(Key k) const {
  at::Tensor share;
  for (auto merge = merges_.find(k); merge != merges_.end(); merge = merges_.find(merge->second.combined)) {
    share = share.defined() ? share * merge->second.share : merge->second.share;
  }
  if (share.defined()) return share;
  const ProgramValueId original = value(k.first).refills;
  return original < 0 ? share : merged_share({original, k.second});
}

void Executor::backward(const Instruction& i) {
  const auto found = kept_.find({i.piece, free_index()});
  if (found == kept_.end()) throw std::logic_error("backward of a piece that was not kept");
  Kept& kept = found->second;
  if (kept.given.empty()) kept.given = i.in;
  if (kept.given != i.in) throw std::logic_error("a second backward of one run reads other gradients than the first");
  const Piece& piece = program_.pieces[static_cast<std::size_t>(i.piece)];
  TensorList gradients;
  for (std::size_t o = 0; o < i.in.size(); ++o) {
    gradients.push_back(i.in[o] < 0 ? at::Tensor() : get(i.in[o]));
    if (o >= piece.outputs.size()) continue;
    const LayoutId layout = piece.slots[static_cast<std::size_t>(piece.outputs[o])].layout;
    bool merges = false;
    for (const Partial& p : program_.layouts[static_cast<std::size_t>(layout)].partials)
      merges = merges || p.kind == PartialKind::merge;
    if (!merges || !gradients.back().defined()) continue;
    const at::Tensor share = merged_share(kept.outputs[o]);
    if (!share.defined()) throw std::logic_error("a partial log-sum-exp was not combined before its backward");
    gradients.back() = gradients.back() * share;
  }
  std::vector<bool> wanted;
  for (const ProgramValueId out : i.out) wanted.push_back(out >= 0);
  const bool last = --kept.backwards <= 0;
  TensorList results = pieces_.backward(i.piece, kept.run, gradients, wanted, !last);
  for (std::size_t leaf = 0; leaf < wanted.size(); ++leaf) {
    if (wanted[leaf]) put(i.out[leaf], std::move(results[leaf]));
  }
  if (last) kept_.erase(found);
}

void Executor::seed(const Instruction& i) {
  const Value& loss = site_.graph().model->values[static_cast<std::size_t>(value(i.out[0]).tensor)];
  const auto shape = sizes(site_.region(i.out[0], site_.device(), free_));
  put(i.out[0], at::ones(shape, at::TensorOptions().dtype(scalar_type(loss.dtype, options_.shards.precision))));
}

namespace {

// Blocks of one region: tensors of other sizes would be stretched where they can.
void require_alike(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) throw std::logic_error("blocks of one layout have different sizes");
}

}  // namespace

void Executor::add(const Instruction& i) {
  at::Tensor sum = get(i.in[0]);
  for (std::size_t k = 1; k < i.in.size(); ++k) {
    const at::Tensor term = get(i.in[k]);
    require_alike(sum, term);
    sum = k == 1 ? sum.add(term) : sum.add_(term);
  }
  put(i.out[0], i.in.size() == 1 ? sum.clone() : sum);
}

void Executor::accumulate(const Segment& segment, const Instruction& i) {
  for (const Partial& p : program_.layouts[static_cast<std::size_t>(value(i.in[0]).layout)].partials) {
    const bool free_axis = program_.axes[static_cast<std::size_t>(p.digit.axis)].grid < 0;
    if (free_axis && p.kind == PartialKind::merge)
      throw std::runtime_error("a log-sum-exp over a free axis cannot be run yet");
  }
  if (i.out.size() == 2) return join(i);
  at::Tensor term = get(i.in[0]);
  const bool apart = !site_.is_one_region(i.out[0]);
  if (apart && site_.is_one_region(i.in[0])) return accumulate_apart(i, term);
  const auto held = [&](ProgramValueId v) { return apart ? Region{} : moves_.held(v, site_.device(), free_, term); };
  const Region block = held(i.in[0]), all = held(i.out[0]);
  const auto begun = values_.find(key(i.out[0]));
  if (i.in.size() > 1) {
    const bool first = begun == values_.end();
    const at::Tensor sum = moves_.add_rows(first ? at::Tensor() : begun->second, i.out[0], operand(i), free_);
    if (first) put(i.out[0], sum);
    return;
  }
  if (block == all) {
    if (begun != values_.end()) {
      require_alike(begun->second, term);
      begun->second.add_(term);
      return;
    }
    term.reset();
    if (value(i.in[0]).role == Role::gradient && is_last_reader(segment, number_in(segment, i), i.in[0]))
      term = take(i.in[0]);
    put(i.out[0], term.defined() ? std::move(term) : get(i.in[0]).clone(at::MemoryFormat::Contiguous));
    return;
  }
  const at::Tensor sum = begun == values_.end() ? at::zeros(sizes(all), term.options()) : begun->second;
  paste(sum, all, cut(sum, all, block).add_(term), block);
  if (begun == values_.end()) put(i.out[0], sum);
}

// A block to its own among those of every index.
void Executor::accumulate_apart(const Instruction& i, const at::Tensor& term) {
  const Region own = site_.region(i.in[0], site_.device(), free_);
  std::int64_t count = 0, begin = -1;
  for (const Region& block : site_.regions(i.out[0], site_.device(), free_)) {
    if (block == own) begin = count;
    count += elements(block);
  }
  if (begin < 0) throw std::logic_error("a block that is none of those to which it is added");
  const auto begun = values_.find(key(i.out[0]));
  const at::Tensor sum = begun == values_.end() ? at::zeros({count}, term.options()) : begun->second;
  sum.narrow(0, begin, term.numel()).add_(term.reshape({-1}));
  if (begun == values_.end()) put(i.out[0], sum);
}

// A running softmax: averages and the log-sum-exps that weigh them.
void Executor::join(const Instruction& i) {
  at::Tensor parts[2], joined[2];
  for (std::size_t k = 0; k < 2; ++k) {
    const Region block = site_.region(i.in[k], site_.device(), free_);
    if (block != site_.region(i.out[k], site_.device(), free_))
      throw std::logic_error("a running softmax over blocks of its results");
    parts[k] = get(i.in[k]);
    if (const auto begun = values_.find(key(i.out[k])); begun != values_.end()) joined[k] = begun->second;
  }
  if (!joined[0].defined()) {
    for (std::size_t k = 0; k < 2; ++k) put(i.out[k], parts[k].clone(at::MemoryFormat::Contiguous));
    return;
  }
  join_block(joined[0], joined[1], parts[0], parts[1]);
}

// The tensor of a value that ends here, if nobody else has its memory; else undefined, and the value stays.
at::Tensor Executor::take(ProgramValueId id) {
  const auto found = values_.find(key(id));
  if (found == values_.end() || found->second.use_count() > 1 || found->second.storage().use_count() > 1) return {};
  at::Tensor tensor = std::move(found->second);
  values_.erase(found);
  return tensor;
}

// Block 0 of a partial value is its operand. Where that will change or lose its memory, it gets its own.
void Executor::local(const Instruction& i) {
  const MoveRunner::Operand in = operand(i);
  at::Tensor out = moves_.local(i.move, in, i.out[0], free_);
  const bool changes =
      homes_.count(i.in[0]) > 0 || refilled_[static_cast<std::size_t>(i.in[0])] || value(i.in[0]).refills >= 0;
  if (changes && share_storage(out, in.tensor)) out = out.clone();
  put(i.out[0], std::move(out));
}

void Executor::issue(const Segment& segment, const Instruction& i) {
  const bool takes = reuse_.takes_operands(segment, number_in(segment, i));
  if (i.out.size() > 1) return issue_bucket(i, takes);
  MoveRunner::Operand in{i.in[0], {}, -1, {}, true};
  if (takes) {
    finish(key(i.in[0]));
    in.tensor = take(i.in[0]);
  }
  if (!in.tensor.defined()) in = operand(i);
  StartedMove started = moves_.start(i.move, in, i.out[0], free_, describe(i));
  if (started.share.defined()) merges_[key(i.in[0])] = {started.share, key(i.out[0])};
  pending_[key(i.out[0])] = std::move(started.finish);
}

// Waits for all values of the bucket when one is asked for.
void Executor::issue_bucket(const Instruction& i, bool takes) {
  std::vector<MoveRunner::Operand> in;
  for (const ProgramValueId id : i.in) {
    in.push_back({id, get(id), -1, {}});
    if (takes) values_.erase(key(id));
  }
  struct Arrival {
    std::function<TensorList()> finish;
    TensorList results;
  };
  const auto arrival = std::make_shared<Arrival>();
  arrival->finish = moves_.start_bucket(i.move, std::move(in), i.out, free_, describe(i));
  for (std::size_t k = 0; k < i.out.size(); ++k) {
    pending_[key(i.out[k])] = [arrival, k] {
      if (arrival->results.empty()) arrival->results = arrival->finish();
      return std::move(arrival->results[k]);
    };
  }
}

void Executor::update(const Instruction& i) {
  at::Tensor home = homes_.at(i.in[0]);
  if (const auto old = older_.find(i.in[0]); old != older_.end()) {
    old->second.push_back(home);
    home = old->second.front().copy_(home);
    old->second.pop_front();
  }
  const at::Tensor gradient = get(i.in[1]);
  require_alike(home, gradient);
  if (options_.keep_gradients && step_ == 0) first_gradients_[i.in[0]] = gradient.clone();
  optimizers_.at(i.in[0]).step(options_.optimizer, home, gradient);
  homes_[i.out[0]] = home;
  ++updates_[i.out[0]];
}

void Executor::release(const Segment& segment, const Instruction& i) {
  std::vector<const c10::StorageImpl*> freed;
  for (const ProgramValueId id : i.in) {
    if (homes_.count(id) > 0) continue;
    const Key k = key(id);
    finish(k);
    const auto found = values_.find(k);
    if (found == values_.end()) continue;
    const ProgramValueId original = value(id).refills;
    const bool again = refilled_[static_cast<std::size_t>(id)] && value(id).role == Role::data;
    const bool refill = original >= 0 && retired_.count(key(original)) > 0;
    if (again) retired_[k] = found->second;
    if (again || refill) release_storage(found->second);
    freed.push_back(found->second.storage().unsafeGetStorageImpl());
    values_.erase(found);
  }
  if (segment.phase == Phase::forward) move_out_freed(freed);
}

std::vector<ParameterBlock> Executor::parameters() const {
  std::vector<ParameterBlock> out;
  for (const auto& [id, tensor] : homes_) {
    const std::vector<Value>& values = site_.graph().model->values;
    if (values[static_cast<std::size_t>(value(id).tensor)].kind != ValueKind::parameter) continue;
    const auto gradient = first_gradients_.find(id);
    out.push_back({value(id).tensor, site_.region(id, site_.device(), Point(program_.axes.size(), -1)), tensor,
                   gradient == first_gradients_.end() ? at::Tensor() : gradient->second});
  }
  return out;
}

}  // namespace planscope
