#pragma once
// Transport through memory that the ranks share: for ranks of one host, which is every local trial. A message costs a
// few microseconds where Gloo's costs a millisecond, so that the times of a local trial say something.
//
//   Result<std::unique_ptr<Transport>> t = make_shm_transport(channel, {});
//   if (!t.ok()) …the reason is in t.diagnostics, the same decision on every rank: use Gloo (transport_choice.h)
//
// How it differs from Gloo (gloo_transport.h):
// - Results are the same bits on all ranks and in every run: reductions are made in the order of the ranks. bfloat16
//   and float16 are added in float32 and rounded once; bool may be reduced too.
// - Issuing copies what the others need and never waits for them. A `send` is complete when the receiver has taken the
//   data. Every copy is made by the rank's own thread, when it issues or waits; there is no thread in the background.
//   A rank that is busy elsewhere keeps nobody waiting for what it has issued; of an all_reduce that is so for the
//   first 4 MiB, the rest flows when all members wait.
// - Ranks that disagree on kind, type or sizes find out from each other, without the launcher; the message is the same.
//   So do the sizes of uneven blocks.
// - Making a group costs nothing and needs nobody else.
// - A rank that waits polls for 50 µs (with more ranks than cores it yields in between) and then sleeps.
//
// Memory: one copy of what is under way, for each rank what it has issued and others have not read yet, in an anonymous
// file (shm_memory.h): no name, nothing to clean up, /dev/shm is not needed. It is kept for the next operations and not
// counted as the rank's tensors. Costs: one copy in, one copy out; an all_reduce above 32 KiB is divided among its
// members, one below is reduced by each by itself.
//
// Errors: TransportError, as transport.h says. The origin is `peer` when a rank that is waited for has ended (noticed
// within 50 ms) or does not answer within the limit; `own` when ranks disagree, a request makes no sense, or memory is
// short. A rank that hangs is the launcher's business. Use a transport from one thread at a time; it must outlive its
// Pendings.
#include "engine/base/diagnostic.h"
#include "engine/runtime/transport.h"

namespace planscope {

// Blocks until all ranks have tried, once per trial. Error: one of the ranks cannot share memory with the others (other
// host or user, no memfd, limits); all ranks get the same one. Throws TransportError if a rank does not answer.
Result<std::unique_ptr<Transport>> make_shm_transport(ControlChannel& channel, const TransportSettings& settings);

}  // namespace planscope
