#pragma once
// What every transport checks before it moves a tensor, and how it names things: a request that makes no sense is this
// rank's own failure (TransportError, FailureOrigin::own), the same text whichever transport is used.
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "engine/runtime/transport.h"

namespace planscope {

std::string numbers(const std::vector<int>& values);  // "0,1,3"
std::string describe(const at::Tensor&);              // "Float [4, 5]"
const char* name(Reduction);

void require(bool holds, const std::string& label, const std::string& what);
void require_plain(const at::Tensor&, const std::string& label);  // contiguous, on the CPU
void require_peer(const Communicator&, int peer, const std::string& label);
void require_gather(const Communicator&, const at::Tensor& out, const at::Tensor& in, const std::string& label);
void require_scatter(const Communicator&, const at::Tensor& out, const at::Tensor& in, const std::string& label);

// Rows of each of n equal blocks; the tensor must have so many.
std::vector<std::int64_t> equal_rows(const at::Tensor&, int blocks, const std::string& label);

// Bytes of blocks of rows; the blocks must make up the tensor, one for each member.
std::vector<std::int64_t> bytes_of_blocks(const at::Tensor&, const std::vector<std::int64_t>& rows, int members,
                                          const std::string& label);

// This rank among the members, which must be ascending ranks of the trial.
int rank_among(const std::vector<int>& members, const ControlChannel&, const std::string& label);

}  // namespace planscope
