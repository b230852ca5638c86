#include "app/cli/command.h"

namespace planscope::cli {

Answer later(const std::string& verb) {
  return bad_input(
      {error("'planscope " + verb + "' is not there yet", "this version plans, verifies, simulates and runs",
             "'planscope --help' lists what there is")});
}

}  // namespace planscope::cli
