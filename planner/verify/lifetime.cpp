#include "planner/verify/lifetime.h"

namespace planscope::verification {

namespace {

Problem readable(const Life& x) {
  switch (x.status) {
    case Status::alive:
      return Problem::none;
    case Status::absent:
      return Problem::not_made;
    case Status::partial:
      return Problem::incomplete;
    case Status::under_way:
      return Problem::under_way;
    case Status::ended:
      return Problem::ended;
    case Status::updated:
      return Problem::after_update;
  }
  return Problem::not_made;
}

Problem start(Life& x, Status next) {
  const bool free = x.status == Status::absent || x.status == Status::ended;
  x.status = next;
  return free ? Problem::none : Problem::twice;
}

}  // namespace

Problem apply(Event e, Life& x, Terms& terms) {
  switch (e) {
    case Event::make:
      return start(x, Status::alive);
    case Event::begin:
      return start(x, Status::under_way);
    case Event::settle: {
      const Problem p = x.status == Status::under_way ? Problem::none : Problem::no_wait;
      x.status = Status::alive;
      return p;
    }
    case Event::read:
    case Event::read_any:
      return readable(x);
    case Event::read_some:  // which terms: order.cpp
      return x.status == Status::partial ? Problem::none : readable(x);
    case Event::alone:  // of another instance
      return x.status == Status::absent || x.status == Status::ended ? Problem::none : Problem::not_alone;
    case Event::hold: {
      if (x.holds < 255) ++x.holds;
      return readable(x);
    }
    case Event::release:
      if (x.holds > 0 && x.holds < 255) --x.holds;
      return Problem::none;
    case Event::end: {
      const Problem p = x.holds > 0 ? Problem::held : readable(x);
      x.status = Status::ended;
      return p;
    }
    case Event::accumulate: {
      const bool open = x.status == Status::absent || x.status == Status::partial;
      ++terms.had;
      x.status = terms.had >= terms.needs ? Status::alive : Status::partial;
      return open ? Problem::none : Problem::twice;
    }
    case Event::update: {
      const Problem p = x.status == Status::updated ? Problem::twice : x.holds > 0 ? Problem::held : readable(x);
      x.status = Status::updated;
      return p;
    }
  }
  return Problem::none;
}

std::string expected_text(Event e, Problem p) {
  switch (p) {
    case Problem::twice:
      return e == Event::update ? "one update a step" : "a value that is made once";
    case Problem::held:
      return "a communication that has ended with its operand";
    case Problem::no_wait:
      return "a wait after the communication has begun";
    case Problem::not_alone:
      return "a value that is made again after it was freed";
    default:
      return e == Event::end ? "a value that is there to be freed" : "a value that is there when it is read";
  }
}

std::string got_text(Problem p) {
  switch (p) {
    case Problem::not_made:
      return "it is made later or never";
    case Problem::ended:
      return "it was freed before";
    case Problem::under_way:
      return "the communication that makes it has not been waited for";
    case Problem::incomplete:
      return "not all indices have been added yet";
    case Problem::twice:
      return "it is there already";
    case Problem::held:
      return "one still reads it";
    case Problem::after_update:
      return "the parameter has been updated already";
    case Problem::before_update:
      return "the update of an earlier step that it should see comes later";
    case Problem::no_wait:
      return "none is under way";
    case Problem::not_alone:
      return "it, or what holds its contents again, is there still";
    case Problem::none:
      break;
  }
  return "";
}

}  // namespace planscope::verification
