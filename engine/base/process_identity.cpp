#include "engine/base/process_identity.h"

#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

namespace planscope {

namespace {

// From `stat`, "17 (a name) R …": the state is number 3, the start number 22. Nothing: there is no such process, or it has ended.
std::optional<std::int64_t> start_of(std::int64_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text, '\0');
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 3 && (field == "Z" || field == "X")) return std::nullopt;
    if (number == 22) return std::strtoll(field.c_str(), nullptr, 10);
  }
  return std::nullopt;
}

}  // namespace

std::string boot_of_this_machine() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(in, boot);
  return boot;
}

ProcessIdentity this_process() {
  const std::int64_t pid = ::getpid();
  return {boot_of_this_machine(), pid, start_of(pid).value_or(0)};
}

bool is_alive(const ProcessIdentity& p) {
  return p.pid > 0 && p.boot == boot_of_this_machine() && start_of(p.pid) == p.start;
}

}  // namespace planscope
