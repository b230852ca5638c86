// One rank of a transport test: does what its job says and reports every value that is not the computed one.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <signal.h>

#include <iostream>
#include <sstream>
#include <thread>

#include "engine/launch/processes.h"
#include "engine/runtime/gloo_transport.h"

using namespace planscope;

namespace {

// What rank r holds: small whole numbers, exact in every type, different for every rank and element.
at::Tensor values(int r, std::int64_t rows, at::ScalarType type, std::int64_t columns = 3) {
  return ((at::arange(rows * columns, at::kDouble) % 7) + 10 * r).reshape({rows, columns}).to(type);
}

class Checks {
 public:
  explicit Checks(ControlChannel& channel) : channel_(channel) {}
  void same(const at::Tensor& got, const at::Tensor& expected, const std::string& what) {
    ++count_;
    if (got.scalar_type() == expected.scalar_type() && at::equal(got, expected)) return;
    std::ostringstream text;
    text << what << ": got " << got << " expected " << expected;
    std::cerr << text.str() << "\n";
    ++wrong_;
  }
  void report() {
    channel_.report("{\"checks\":" + std::to_string(count_) + ",\"wrong\":" + std::to_string(wrong_) + "}");
  }

 private:
  ControlChannel& channel_;
  int count_ = 0;
  int wrong_ = 0;
};

// All collectives in one group, compared with what every member can compute by itself.
void check_collectives(Communicator& g, at::ScalarType type, Checks& checks) {
  const std::string where = " in " + std::string(c10::toString(type)) + " of " + std::to_string(g.size());
  const int n = g.size();
  const int me = g.rank();
  std::vector<at::Tensor> all;
  for (const int m : g.members()) all.push_back(values(m, 2 * n, type));
  at::Tensor sum = at::zeros_like(all[0]);
  for (const at::Tensor& t : all) sum = sum + t;
  const at::Tensor own = all[static_cast<std::size_t>(me)];

  at::Tensor t = own.clone();
  g.all_reduce(t, Reduction::sum, "all_reduce sum")->wait();
  checks.same(t, sum, "all_reduce sum" + where);
  t = own.clone();
  g.all_reduce(t, Reduction::max, "all_reduce max")->wait();
  checks.same(t, all.back(), "all_reduce max" + where);
  t = own.clone();
  g.all_reduce(t, Reduction::min, "all_reduce min")->wait();
  checks.same(t, all.front(), "all_reduce min" + where);

  at::Tensor gathered = at::empty({2 * n * n, 3}, own.options());
  g.all_gather(gathered, own, "all_gather")->wait();
  checks.same(gathered, at::cat(all), "all_gather" + where);

  at::Tensor block = at::empty({2, 3}, own.options());
  g.reduce_scatter(block, own, Reduction::sum, "reduce_scatter")->wait();
  checks.same(block, sum.narrow(0, 2 * me, 2), "reduce_scatter" + where);

  at::Tensor exchanged = at::empty_like(own);
  g.all_to_all(exchanged, own, "all_to_all")->wait();
  std::vector<at::Tensor> blocks;
  for (const at::Tensor& a : all) blocks.push_back(a.narrow(0, 2 * me, 2));
  checks.same(exchanged, at::cat(blocks), "all_to_all" + where);

  t = own.clone();
  g.broadcast(t, n - 1, "broadcast")->wait();
  checks.same(t, all.back(), "broadcast" + where);
  g.barrier("barrier");
}

// Member i sends i + j rows to member j; the first sends itself none.
void check_uneven(Communicator& g, Checks& checks) {
  const int n = g.size();
  const auto rows_to = [&](int from) {
    std::vector<std::int64_t> rows;
    for (int j = 0; j < n; ++j) rows.push_back(from + j);
    return rows;
  };
  const auto total = [](const std::vector<std::int64_t>& rows) {
    std::int64_t sum = 0;
    for (const std::int64_t r : rows) sum += r;
    return sum;
  };
  const std::vector<std::int64_t> rows = rows_to(g.rank());  // what j sends here is as much as goes there
  const at::Tensor in = values(g.rank(), total(rows), at::kLong);
  at::Tensor out = at::empty_like(in);
  g.all_to_all(out, in, rows, rows, "all_to_all uneven")->wait();
  std::vector<at::Tensor> expected;
  for (int from = 0; from < n; ++from) {
    const std::vector<std::int64_t> theirs = rows_to(from);
    std::int64_t begin = 0;
    for (int j = 0; j < g.rank(); ++j) begin += theirs[static_cast<std::size_t>(j)];
    expected.push_back(
        values(from, total(theirs), at::kLong).narrow(0, begin, theirs[static_cast<std::size_t>(g.rank())]));
  }
  checks.same(out, at::cat(expected), "all_to_all uneven");
}

// Everybody sends three tensors to the next rank and receives from the one before, in another order than sent.
void check_tags(Communicator& world, Checks& checks) {
  const int n = world.size();
  const int next = (world.rank() + 1) % n;
  const int before = (world.rank() + n - 1) % n;
  std::vector<PendingPtr> transfers;
  for (const std::uint32_t tag : {7u, 8u, 2000000000u}) {
    transfers.push_back(world.send(values(world.rank(), tag % 5 + 1, at::kDouble), next, tag, "send"));
  }
  for (const std::uint32_t tag : {2000000000u, 7u, 8u}) {
    at::Tensor t = at::empty({tag % 5 + 1, 3}, at::kDouble);
    world.receive(t, before, tag, "receive")->wait();
    checks.same(t, values(before, tag % 5 + 1, at::kDouble), "receive tag " + std::to_string(tag));
  }
  for (const PendingPtr& t : transfers) t->wait();
}

void check_odd_tensors(Communicator& world, Checks& checks) {
  at::Tensor scalar = at::full({}, world.rank() + 1, at::kDouble);
  world.all_reduce(scalar, Reduction::sum, "all_reduce of a scalar")->wait();
  checks.same(scalar, at::full({}, world.size() * (world.size() + 1) / 2, at::kDouble), "scalar");
  at::Tensor empty = at::empty({0, 3});
  world.all_reduce(empty, Reduction::sum, "all_reduce of nothing")->wait();
  at::Tensor flags = at::full({4}, world.rank() == 1, at::kBool);
  world.broadcast(flags, 1, "broadcast of flags")->wait();
  checks.same(flags, at::ones({4}, at::kBool), "flags");
  at::Tensor complex = at::full({2}, c10::complex<double>(world.rank(), 1), at::kComplexDouble);
  at::Tensor all = at::empty({2 * world.size()}, at::kComplexDouble);
  world.all_gather(all, complex, "all_gather of complex numbers")->wait();
  checks.same(all.narrow(0, 2, 2), at::full({2}, c10::complex<double>(1, 1), at::kComplexDouble), "complex");
}

void check_everything(Transport& transport, Checks& checks) {
  transport.prepare({{2, 3}, {0, 1}, {1, 3}, {0, 2}, {0, 1, 2}, {0, 1, 2, 3}, {3}});
  const int rank = transport.world().rank();
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    check_collectives(transport.world(), type, checks);
    check_collectives(transport.group(rank < 2 ? std::vector{0, 1} : std::vector{2, 3}), type, checks);
    check_collectives(transport.group(rank % 2 ? std::vector{1, 3} : std::vector{0, 2}), type, checks);
    if (rank < 3)
      check_collectives(transport.group({0, 1, 2}), type, checks);
    else
      check_collectives(transport.group({3}), type, checks);
  }
  check_uneven(transport.world(), checks);
  check_tags(transport.world(), checks);
  check_odd_tensors(transport.world(), checks);
}

// Two transfers under way at once, waited for in the other order on odd ranks.
void check_overlap(Transport& transport, Checks& checks) {
  Communicator& world = transport.world();
  at::Tensor a = at::full({1000}, world.rank(), at::kFloat);
  at::Tensor b = at::full({10}, 1, at::kFloat);
  const PendingPtr first = world.all_reduce(a, Reduction::sum, "first");
  const PendingPtr second = world.all_reduce(b, Reduction::sum, "second");
  (world.rank() % 2 ? second : first)->wait();
  (world.rank() % 2 ? first : second)->wait();
  first->wait();  // a second wait does nothing
  checks.same(a, at::full({1000}, 6, at::kFloat), "first");
  checks.same(b, at::full({10}, 4, at::kFloat), "second");
}

void misbehave(const std::string& job, ControlChannel& channel, Transport& transport) {
  Communicator& world = transport.world();
  channel.working(41, "linear");
  if (job == "shape") {
    at::Tensor t = at::ones({channel.rank() == 2 ? 5 : 4});
    world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
  if (job == "kind") {
    at::Tensor t = at::ones({4});
    at::Tensor out = at::ones({1});
    if (channel.rank() == 2)
      world.reduce_scatter(out, t, Reduction::sum, "reduce_scatter wte")->wait();
    else
      world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
  if (job == "killed") {
    if (channel.rank() == 2) raise(SIGKILL);
    at::Tensor t = at::ones({4});
    world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
  if (job == "deadlock") {
    at::Tensor t = at::ones({4});
    world.receive(t, (world.rank() + 1) % world.size(), 5, "receive x")->wait();  // nobody sends
  }
  if (job == "own") {
    at::Tensor t = at::ones({4, 4}).t();
    if (channel.rank() == 0) world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
}

}  // namespace

int main() {
  auto connected = ControlChannel::connect(control_fd_of_child);
  if (!connected.ok()) return 2;
  ControlChannel& channel = **connected;
  at::set_num_threads(1);
  try {
    const std::unique_ptr<Transport> transport = make_gloo_transport(channel, {});
    Checks checks(channel);
    if (channel.job() == "values")
      check_everything(*transport, checks);
    else if (channel.job() == "overlap")
      check_overlap(*transport, checks);
    else
      misbehave(channel.job(), channel, *transport);
    transport->world().barrier("end");
    checks.report();
    channel.done();
    return 0;
  } catch (const TransportError& e) {
    channel.fail(channel.instruction(), e.what(), e.origin());
    return 1;
  }
}
