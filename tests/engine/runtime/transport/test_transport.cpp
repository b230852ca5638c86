// One rank of a transport test: does what its job says (`TRANSPORT BEHAVIOUR [NUMBER]`) and reports every value that is
// not the computed one.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <thread>

#include "engine/launch/processes.h"
#include "engine/runtime/gloo_transport.h"
#include "engine/runtime/shm_transport.h"
#include "engine/runtime/transport_choice.h"
#include "random_traffic.h"

using namespace planscope;

namespace {

// What rank r holds: small whole numbers, exact in every type, different for every rank and element.
at::Tensor values(int r, std::int64_t rows, at::ScalarType type, std::int64_t columns = 3) {
  return ((at::arange(rows * columns, at::kDouble) % 7) + 10 * r).reshape({rows, columns}).to(type);
}

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
  const double n = world.size();
  for (const at::ScalarType type : {at::kComplexFloat, at::kComplexDouble}) {
    at::Tensor sum = complex.to(type);
    world.all_reduce(sum, Reduction::sum, "all_reduce of complex numbers")->wait();
    checks.same(sum, at::full({2}, c10::complex<double>(n * (n - 1) / 2, n), type), "sum of complex numbers");
    at::Tensor block = at::empty({1}, sum.options());
    world.reduce_scatter(block, sum.narrow(0, 0, 1).repeat({world.size()}), Reduction::sum,
                         "reduce_scatter of complex numbers")
        ->wait();
    checks.same(block, sum.narrow(0, 0, 1).mul(n), "block of a sum of complex numbers");
  }
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

// Two transfers under way at once, a large and a small one, waited for in the other order on odd ranks.
void check_overlap(Transport& transport, Checks& checks) {
  Communicator& world = transport.world();
  const at::Tensor pattern = at::arange(3000001, at::kFloat).remainder(1009);
  at::Tensor a = pattern + world.rank();
  at::Tensor b = at::full({10}, 1, at::kFloat);
  const PendingPtr first = world.all_reduce(a, Reduction::sum, "first");
  const PendingPtr second = world.all_reduce(b, Reduction::sum, "second");
  (world.rank() % 2 ? second : first)->wait();
  (world.rank() % 2 ? first : second)->wait();
  first->wait();  // a second wait does nothing
  checks.same(a, pattern * 4 + 6, "first");
  checks.same(b, at::full({10}, 4, at::kFloat), "second");
}

// More messages than an inbox has room for, and large ones, before anybody receives one.
void check_ahead(Transport& transport, Checks& checks) {
  Communicator& world = transport.world();
  const int n = world.size(), next = (world.rank() + 1) % n, before = (world.rank() + n - 1) % n;
  std::vector<PendingPtr> sent;
  for (int k = 0; k < 3000; ++k) sent.push_back(world.send(at::full({2}, world.rank() * 10000 + k), next, 1, "send"));
  for (int k = 0; k < 3; ++k) sent.push_back(world.send(at::full({3000000}, world.rank() + k), next, 2, "send"));
  bool right = true;
  for (int k = 0; k < 3000; ++k) {
    const at::Tensor t = at::zeros({2}, at::kLong);
    world.receive(t, before, 1, "receive")->wait();
    right = right && at::equal(t, at::full({2}, before * 10000 + k));
  }
  checks.same(at::full({}, right, at::kBool), at::full({}, true, at::kBool), "3000 messages in order");
  for (int k = 0; k < 3; ++k) {
    const at::Tensor t = at::zeros({3000000}, at::kLong);
    world.receive(t, before, 2, "receive")->wait();
    checks.same(t, at::full({3000000}, before + k), "a large message");
  }
  for (const PendingPtr& p : sent) p->wait();
}

// What a rank scatters is with the others when the issue is over: its memory may go.
void check_handed_over(Transport& transport, Checks& checks) {
  Communicator& world = transport.world();
  const at::Tensor pattern = at::arange(400000 * world.size(), at::kFloat).remainder(1009);
  at::Tensor own = pattern + world.rank();
  const at::Tensor out = at::empty({400000});
  const PendingPtr sum = world.reduce_scatter(out, own, Reduction::sum, "reduce_scatter");
  checks.same(at::full({}, static_cast<std::int64_t>(own.use_count())), at::ones({}, at::kLong), "nobody else has it");
  own.fill_(-1);
  sum->wait();
  const at::Tensor block = pattern.narrow(0, 400000 * world.rank(), 400000);
  checks.same(out, block * world.size() + world.size() * (world.size() - 1) / 2, "sum");
}

void check_not_a_number(Transport& transport, Checks& checks) {
  Communicator& world = transport.world();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const at::Tensor own = at::tensor({world.rank() == 1 ? nan : 1.0, -inf, world.rank() == 0 ? inf : 2.0});
  for (const Reduction r : {Reduction::max, Reduction::min}) {
    const at::Tensor t = own.clone();
    world.all_reduce(t, r, "all_reduce")->wait();
    checks.same(t.isnan(), at::tensor({1, 0, 0}).to(at::kBool), "NaN is kept");
    checks.same(t.narrow(0, 1, 2), at::tensor({-inf, r == Reduction::max ? inf : 2.0}), "infinity");
  }
}

// What a rank costs that waits for a second.
void check_idle(ControlChannel& channel, Transport& transport, Checks& checks) {
  transport.world().barrier("together");
  const auto used = [] {
    rusage u{};
    ::getrusage(RUSAGE_SELF, &u);
    return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
  };
  const double before = used();
  if (channel.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  transport.world().barrier("wait for rank 0");
  const double seconds = used() - before;
  if (seconds > 0.1) std::cerr << seconds << " s of a core for waiting a second\n";
  checks.same(at::full({}, seconds <= 0.1, at::kBool), at::full({}, true, at::kBool), "idle");
}

// Large transfers without an end; something happens to rank 2 in the middle.
[[noreturn]] void exchange_until(int signal, ControlChannel& channel, Transport& transport) {
  Communicator& world = transport.world();
  if (channel.rank() == 2) {
    std::thread([signal] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      raise(signal);
    }).detach();
  }
  const at::Tensor big = at::ones({1 << 20}), all = at::empty({world.size() << 20});
  for (;;) {
    const PendingPtr sum = world.all_reduce(big, Reduction::max, "all_reduce wte");
    world.all_gather(all, big, "all_gather wte")->wait();
    sum->wait();
  }
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
  if (job == "transfer" && channel.rank() == 2) world.send(at::ones({4, 2}), 0, 3, "send x")->wait();
  if (job == "transfer" && channel.rank() == 0) world.receive(at::ones({4, 3}), 2, 3, "receive x")->wait();
  if (job == "blocks") {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(world.size()), 2);
    if (channel.rank() == 2) rows[0] = 3;  // rank 0 does not expect it
    const at::Tensor in = at::ones({channel.rank() == 2 ? 9 : 8}), out = at::empty({8});
    world.all_to_all(out, in, std::vector<std::int64_t>(4, 2), rows, "all_to_all tokens")->wait();
  }
  if (job == "killed") {
    if (channel.rank() == 2) raise(SIGKILL);
    at::Tensor t = at::ones({4});
    world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
  if (job == "killed-in-the-middle") exchange_until(SIGKILL, channel, transport);
  if (job == "stopped-in-the-middle") exchange_until(SIGSTOP, channel, transport);
  if (job == "leaves") {
    if (channel.rank() == 2) throw TransportError("had enough", FailureOrigin::own);
    at::Tensor t = at::ones({4});
    world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
  if (job == "broken-pipe") raise(SIGPIPE);  // as the kernel does when Gloo writes to a connection just closed
  if (job == "deadlock") {
    at::Tensor t = at::ones({4});
    world.receive(t, (world.rank() + 1) % world.size(), 5, "receive x")->wait();  // nobody sends
  }
  if (job == "unheard") {  // nobody receives
    world.send(at::ones({4}), (world.rank() + 1) % world.size(), 5, "send x")->wait();
  }
  if (job == "own") {
    at::Tensor t = at::ones({4, 4}).t();
    if (channel.rank() == 0) world.all_reduce(t, Reduction::sum, "all_reduce wte")->wait();
  }
}

// Leaves room for everything but windows of shared memory.
void limit_address_space() {
  std::ifstream sizes("/proc/self/statm");
  std::uint64_t pages = 0;
  sizes >> pages;
  const std::uint64_t limit = pages * 4096 + (3ull << 30);
  const rlimit r{limit, limit};
  ::setrlimit(RLIMIT_AS, &r);
}

ChosenTransport transport_of(const std::string& kind, ControlChannel& channel) {
  if (kind == "gloo") return {make_gloo_transport(channel, {}), "Gloo"};
  if (kind == "shm") return {std::move(*make_shm_transport(channel, {})), "shared memory"};
  if (kind == "limited" && channel.rank() == 2) limit_address_space();
  return make_transport(channel, {});
}

void behave(const std::string& job, std::uint64_t number, ControlChannel& channel, Transport& transport,
            Checks& checks) {
  if (job == "values") return check_everything(transport, checks);
  if (job == "random") return check_random(transport, number, checks);
  if (job == "overlap") return check_overlap(transport, checks);
  if (job == "ahead") return check_ahead(transport, checks);
  if (job == "handed-over") return check_handed_over(transport, checks);
  if (job == "nan") return check_not_a_number(transport, checks);
  if (job == "idle") return check_idle(channel, transport, checks);
  misbehave(job, channel, transport);
}

}  // namespace

int main() {
  auto connected = ControlChannel::connect(control_fd_of_child);
  if (!connected.ok()) return 2;
  ControlChannel& channel = **connected;
  at::set_num_threads(1);
  std::istringstream words(channel.job());
  std::string kind, job;
  std::uint64_t number = 0;
  words >> kind >> job >> number;
  try {
    const ChosenTransport chosen = transport_of(kind, channel);
    Checks checks;
    behave(job, number, channel, *chosen.transport, checks);
    chosen.transport->world().barrier("end");
    channel.report("{\"transport\":\"" + chosen.name + "\",\"checks\":" + std::to_string(checks.count()) +
                   ",\"wrong\":" + std::to_string(checks.wrong()) + "}");
    channel.done();
    return 0;
  } catch (const TransportError& e) {
    channel.fail(channel.instruction(), e.what(), e.origin());
    return 1;
  }
}
