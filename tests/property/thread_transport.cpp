#include "tests/property/thread_transport.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>

namespace planscope::testing {

namespace {

at::Tensor reduced(const std::vector<Offer>& offers) {
  at::Tensor all = offers[0].in.clone();
  for (std::size_t m = 1; m < offers.size(); ++m) {
    const at::Tensor& x = offers[m].in;
    if (offers[0].reduction == Reduction::sum) all.add_(x);
    if (offers[0].reduction == Reduction::max) all = at::max(all, x);
    if (offers[0].reduction == Reduction::min) all = at::min(all, x);
  }
  return all;
}

std::int64_t rows_before(const std::vector<std::int64_t>& rows, std::size_t member) {
  return std::accumulate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(member), std::int64_t{0});
}

// Block `to` of what `from` gives is copied into block `from` of what `to` gets.
void exchange(const std::vector<Offer>& offers) {
  for (std::size_t from = 0; from < offers.size(); ++from) {
    for (std::size_t to = 0; to < offers.size(); ++to) {
      const Offer &a = offers[from], &b = offers[to];
      TORCH_CHECK(a.in_rows[to] == b.out_rows[from], "members disagree about the rows of an all_to_all");
      b.out.narrow(0, rows_before(b.out_rows, from), b.out_rows[from])
          .copy_(a.in.narrow(0, rows_before(a.in_rows, to), a.in_rows[to]));
    }
  }
}

void perform(std::vector<Offer>& offers) {
  const std::string& kind = offers[0].kind;
  for (const Offer& o : offers) TORCH_CHECK(o.kind == kind, "members disagree: ", kind, " and ", o.kind);
  const auto n = static_cast<std::int64_t>(offers.size());
  const c10::AutoGradMode no_gradients(false);
  if (kind == "all_reduce" || kind == "reduce_scatter") {
    const at::Tensor all = reduced(offers);
    for (std::int64_t m = 0; m < n; ++m) {
      const at::Tensor& out = offers[static_cast<std::size_t>(m)].out;
      out.copy_(kind == "all_reduce" ? all : all.narrow(0, m * out.size(0), out.size(0)));
    }
  } else if (kind == "all_gather") {
    for (const Offer& to : offers)
      for (std::int64_t m = 0; m < n; ++m) {
        const at::Tensor& in = offers[static_cast<std::size_t>(m)].in;
        to.out.narrow(0, m * in.size(0), in.size(0)).copy_(in);
      }
  } else if (kind == "all_to_all") {
    exchange(offers);
  } else if (kind == "broadcast") {
    const at::Tensor from = offers[static_cast<std::size_t>(offers[0].root)].in.clone();
    for (const Offer& o : offers) o.out.copy_(from);
  }
  for (Offer& o : offers) o = {};
}

class Operation : public Pending {
 public:
  Operation(ThreadHub& hub, std::string label, std::function<bool()> ready)
      : hub_(hub), label_(std::move(label)), ready_(std::move(ready)) {}
  void wait() override {
    if (ready_) hub_.wait(ready_, label_);
    ready_ = {};
  }
  const std::string& label() const override { return label_; }

 private:
  ThreadHub& hub_;
  std::string label_;
  std::function<bool()> ready_;
};

}  // namespace

void ThreadHub::give_up() const { throw TransportError(failure_, FailureOrigin::peer); }

void ThreadHub::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = why;
  changed_.notify_all();
}

std::shared_ptr<Meeting> ThreadHub::meet(const std::vector<int>& members, std::int64_t number, int member,
                                         Offer offer) {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) give_up();
  const auto key = std::make_pair(members, number);
  std::shared_ptr<Meeting>& slot = meetings_[key];
  if (!slot) {
    slot = std::make_shared<Meeting>();
    slot->offers.resize(members.size());
  }
  const std::shared_ptr<Meeting> meeting = slot;
  meeting->offers[static_cast<std::size_t>(member)] = std::move(offer);
  if (++meeting->arrived < static_cast<int>(members.size())) return meeting;
  meetings_.erase(key);
  try {
    perform(meeting->offers);
  } catch (const std::exception& e) {
    failure_ = e.what();
  }
  meeting->done = true;
  changed_.notify_all();
  return meeting;
}

void ThreadHub::post(int from, int to, std::uint32_t tag, at::Tensor tensor) {
  const std::lock_guard lock(mutex_);
  posted_[{from, to, tag}].push_back(tensor.detach().clone());
  changed_.notify_all();
}

bool ThreadHub::posted(int from, int to, std::uint32_t tag) const { return posted_.count({from, to, tag}) > 0; }

void ThreadHub::take(int from, int to, std::uint32_t tag, const at::Tensor& out) {
  const std::lock_guard lock(mutex_);
  const auto found = posted_.find({from, to, tag});
  const at::Tensor in = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) posted_.erase(found);
  if (in.sizes() != out.sizes() || in.scalar_type() != out.scalar_type())
    throw TransportError("what was sent differs in size or type from what is received", FailureOrigin::own);
  out.copy_(in);
}

void ThreadHub::wait(const std::function<bool()>& ready, const std::string& what) {
  std::unique_lock lock(mutex_);
  const int number = waits_++;
  waiting_[number] = {ready, what};
  notice_deadlock();
  changed_.wait(lock, [&] { return !failure_.empty() || ready(); });
  waiting_.erase(number);
  if (!failure_.empty()) give_up();
}

void ThreadHub::leave() {
  const std::lock_guard lock(mutex_);
  --running_;
  notice_deadlock();
}

void ThreadHub::notice_deadlock() {
  if (static_cast<int>(waiting_.size()) < running_ || waiting_.empty() || !failure_.empty()) return;
  if (std::any_of(waiting_.begin(), waiting_.end(), [](const auto& w) { return w.second.ready(); })) return;
  failure_ = "deadlock:";
  for (const auto& [number, w] : waiting_) failure_ += " '" + w.what + "'";
  changed_.notify_all();
}

class ThreadTransport::Group : public Communicator {
 public:
  Group(ThreadHub& hub, int self, std::vector<int> members)
      : hub_(hub),
        self_(self),
        members_(std::move(members)),
        rank_(static_cast<int>(std::find(members_.begin(), members_.end(), self) - members_.begin())) {}

  const std::vector<int>& members() const override { return members_; }
  int rank() const override { return rank_; }
  PendingPtr all_reduce(at::Tensor in_out, Reduction reduction, std::string label) override {
    return meet({"all_reduce", in_out, in_out, {}, {}, reduction}, std::move(label));
  }
  PendingPtr all_gather(at::Tensor out, at::Tensor in, std::string label) override {
    return meet({"all_gather", out, in, {}, {}}, std::move(label));
  }
  PendingPtr reduce_scatter(at::Tensor out, at::Tensor in, Reduction reduction, std::string label) override {
    return meet({"reduce_scatter", out, in, {}, {}, reduction}, std::move(label));
  }
  PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::string label) override {
    const auto rows = [this](const at::Tensor& t) {
      return std::vector<std::int64_t>(members_.size(), t.size(0) / size());
    };
    return all_to_all(out, in, rows(out), rows(in), std::move(label));
  }
  PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::vector<std::int64_t> out_rows,
                        std::vector<std::int64_t> in_rows, std::string label) override {
    return meet({"all_to_all", out, in, std::move(out_rows), std::move(in_rows)}, std::move(label));
  }
  PendingPtr broadcast(at::Tensor in_out, int root, std::string label) override {
    return meet({"broadcast", in_out, in_out, {}, {}, Reduction::sum, root}, std::move(label));
  }
  PendingPtr send(at::Tensor tensor, int to, std::uint32_t tag, std::string label) override {
    hub_.post(self_, members_[static_cast<std::size_t>(to)], tag, std::move(tensor));
    return std::make_shared<Operation>(hub_, std::move(label), nullptr);
  }
  PendingPtr receive(at::Tensor tensor, int from, std::uint32_t tag, std::string label) override {
    const int sender = members_[static_cast<std::size_t>(from)];
    return std::make_shared<Receipt>(hub_, sender, self_, tag, std::move(tensor), std::move(label));
  }
  void barrier(std::string label) override { meet({"barrier", {}, {}, {}, {}}, std::move(label))->wait(); }

 private:
  class Receipt : public Pending {
   public:
    Receipt(ThreadHub& hub, int from, int to, std::uint32_t tag, at::Tensor into, std::string label)
        : hub_(hub), from_(from), to_(to), tag_(tag), into_(std::move(into)), label_(std::move(label)) {}
    void wait() override {
      if (!into_.defined()) return;
      hub_.wait([this] { return hub_.posted(from_, to_, tag_); }, label_);
      hub_.take(from_, to_, tag_, into_);
      into_ = at::Tensor();
    }
    const std::string& label() const override { return label_; }

   private:
    ThreadHub& hub_;
    int from_, to_;
    std::uint32_t tag_;
    at::Tensor into_;
    std::string label_;
  };

  PendingPtr meet(Offer offer, std::string label) {
    const std::shared_ptr<Meeting> meeting = hub_.meet(members_, next_++, rank_, std::move(offer));
    return std::make_shared<Operation>(hub_, std::move(label), [meeting] { return meeting->done; });
  }

  ThreadHub& hub_;
  int self_;
  std::vector<int> members_;
  int rank_;
  std::int64_t next_ = 0;
};

ThreadTransport::ThreadTransport(ThreadHub& hub, int rank)
    : hub_(hub), rank_(rank), everyone_(static_cast<std::size_t>(hub.ranks())) {
  std::iota(everyone_.begin(), everyone_.end(), 0);
}
ThreadTransport::~ThreadTransport() = default;

void ThreadTransport::prepare(std::vector<std::vector<int>> groups) {
  for (const std::vector<int>& members : groups)
    if (std::find(members.begin(), members.end(), rank_) != members.end()) group(members);
}

Communicator& ThreadTransport::group(const std::vector<int>& members) {
  std::unique_ptr<Group>& g = groups_[members];
  if (!g) g = std::make_unique<Group>(hub_, rank_, members);
  return *g;
}

}  // namespace planscope::testing
