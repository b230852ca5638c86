#pragma once
// Work that takes long, away from the I/O thread.
//
//   const auto compare = [&] { return same_bytes(a, b); };
//   if (co_await on(pool, compare)) …
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <type_traits>

namespace planscope::server {

template <class F>
boost::asio::awaitable<std::invoke_result_t<F&>> called(F& f) {
  co_return f();
}

// Calls `f` on a thread of the pool, and goes on here with what it has returned. A variable, never a temporary: g++ 12
// destroys the temporary arguments of coroutines twice.
template <class F>
boost::asio::awaitable<std::invoke_result_t<F&>> on(boost::asio::thread_pool& pool, F& f) {
  co_return co_await boost::asio::co_spawn(pool.get_executor(), called(f), boost::asio::use_awaitable);
}

}  // namespace planscope::server
