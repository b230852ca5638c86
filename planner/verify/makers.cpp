#include "planner/verify/makers.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

}  // namespace

Makers find_makers(const Graph&, const Program& p, Ledger& ledger) {
  Makers m;
  m.of.resize(p.values.size());
  m.kept.resize(p.pieces.size());
  m.sender.resize(p.transfers.size());
  m.receiver.resize(p.transfers.size());
  const auto claim = [&](CodePoint& point, CodePoint now, const char* what, TensorId t) {
    if (point.segment >= 0) {
      const Segment& s = at(p.segments, now.segment);
      const Instruction& i = at(s.instructions, now.instruction);
      ledger.fail(FailureKind::order, {s.place, i.statement, name(p, s, i)}, t,
                  std::string(what) + " by one instruction", "by two");
    }
    point = now;
  };
  for (int s = 0; s < static_cast<int>(p.segments.size()); ++s)
    for (int k = 0; k < static_cast<int>(at(p.segments, s).instructions.size()); ++k) {
      const Instruction& i = at(at(p.segments, s).instructions, k);
      const CodePoint now{s, k};
      if (i.code != Code::wait)
        for (const ProgramValueId v : i.out)
          if (v >= 0) {
            const TensorId t = at(p.values, v).tensor;
            const bool home = at(p.values, v).role == Role::home;
            if (home != (i.code == Code::update)) {
              const Segment& segment = at(p.segments, s);
              ledger.fail(FailureKind::update, {segment.place, i.statement, name(p, segment, i)}, t,
                          "stored parameters changed by updates alone",
                          "another instruction writes one, or an update writes another value");
            }
            // Several instructions may add to one value of the forward pass: check_instructions() sees that they are all.
            CodePoint& maker = m.of[static_cast<std::size_t>(v)];
            const bool adds = i.code == Code::accumulate && at(p.values, v).role == Role::data;
            if (maker.segment < 0 || !adds ||
                at(at(p.segments, maker.segment).instructions, maker.instruction).code != Code::accumulate)
              claim(maker, now, home ? "updated" : "made", t);
          }
      if ((i.code == Code::compute || i.code == Code::replay) && i.keep)
        claim(m.kept[static_cast<std::size_t>(i.piece)], now, "a piece kept for backward", -1);
      if (i.code == Code::send)
        claim(m.sender[static_cast<std::size_t>(i.transfer)], now, "sent", at(p.values, i.in[0]).tensor);
      if (i.code == Code::receive)
        claim(m.receiver[static_cast<std::size_t>(i.transfer)], now, "received", at(p.values, i.out[0]).tensor);
    }
  return m;
}

}  // namespace planscope::verification
