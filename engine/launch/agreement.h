#pragma once
// Ranks that take part in one communication must mean the same thing: kind, type, sizes. Each tells the launcher what
// it is about to do, without waiting for an answer; the launcher compares, and the first rank that differs from what
// was said before ends the trial with both statements. So a disagreement is an error message and not a hang or a crash.
//
//   relay.handle(0, {"all_reduce 0,1 #17", "float32 [4, 8]", 2, 93, "all_reduce wte"});   // nothing
//   relay.handle(1, {"all_reduce 0,1 #17", "float32 [4, 9]", 2, 93, "all_reduce wte"});
//   // {93, "all_reduce wte: this rank has float32 [4, 9], rank 0 has float32 [4, 8]"}
#include <map>
#include <optional>
#include <string>

#include "engine/launch/message.h"

namespace planscope {

class AgreementRelay {
 public:
  std::optional<FailureReport> handle(int rank, const Statement& statement);

 private:
  struct Said {
    int rank;
    std::string value;
    int missing;  // members that have not spoken; at 0 the entry is forgotten
  };
  std::map<std::string, Said> said_;
};

}  // namespace planscope
