#pragma once
// A Python script that runs to its end, or to `stop`; its output comes when it has ended.
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace planscope {

struct PythonEnd {
  std::string how, out, err;  // how: "exited with status 1"
  bool well() const;          // status 0
};

// `on_output`: standard output as it comes.
PythonEnd run_python(const std::string& python, std::vector<std::string> arguments, const std::atomic<bool>& stop,
                     const std::function<void(std::string_view)>& on_output = {});

std::string last_line(const std::string& text);

}  // namespace planscope
