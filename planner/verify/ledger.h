#pragma once
// Where obligations are counted and failures are written down in the user's words.
#include <string>
#include <vector>

#include "engine/base/stop.h"
#include "planner/verify/verify.h"

namespace planscope::verification {

// Where in a Program something is: failures take devices, statement and names from it.
struct Site {
  PlaceId place = -1;
  int statement = -1;
  std::string op;  // of the operator or instruction
};

class Ledger {
 public:
  Ledger(const Graph& g, const Program& p) : g_(g), p_(p) {}

  void obligation() {
    look_at_stop();
    ++report_.obligations;
  }

  // True if `good`; else a failure with free text.
  void fail(FailureKind, const Site&, TensorId, std::string expected, std::string got);
  // True if the layouts are equal; else a failure that shows both, the first device at which they differ, and the statement
  // behind the axes over which they do.
  bool equal(FailureKind, const Site&, TensorId, const Layout& expected, const Layout& got);

  std::string layout(const Layout& l, TensorId t) const { return describe(p_, g_, l, t); }
  std::string tensor(TensorId t) const { return t < 0 ? "" : g_.tensor_name(t); }
  std::string devices(PlaceId) const;

  bool clean() const { return report_.failure_count == 0; }
  VerifyReport finish();

 private:
  int cause(TensorId, const std::vector<AxisId>&) const;

  const Graph& g_;
  const Program& p_;
  VerifyReport report_;
  bool refuted_ = false;
};

std::string name(const Graph&, OpId);
std::string name(const Program&, const Segment&, const Instruction&);  // `all_reduce in b(S[0])`
std::string ranges(const std::vector<int>& devices);                   // `0-3, 8`

}  // namespace planscope::verification
