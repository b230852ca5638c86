#pragma once
// The program in Python that `check` runs with PyTorch: the files of app/workbench/pytorch, as this program was built with them.
// `check.py` is the one that is started, from a folder that holds them all.
#include <vector>

namespace planscope {

struct PythonFile {
  const char* name;
  const char* text;
};
const std::vector<PythonFile>& pytorch_files();

}  // namespace planscope
