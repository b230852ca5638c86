#pragma once
// Programs as torch.export writes them, made in code: the part of the JSON that the reader reads.
//
//   ProgramText p;
//   p.input("x", f32, "4,16");
//   p.node("torch.ops.aten.relu.default", {{"self", p.tensor("x")}}, {p.result("y", f32, "4,16")});
//   Result<RawModel> raw = read_program(p.program({"y"}), "x.pt2");
#include <string>
#include <utility>
#include <vector>

namespace planscope::testing {

constexpr int f32 = 7, bf16 = 13, f64 = 8, i64 = 5, boolean = 12;  // as the file numbers them

class GraphText {
 public:
  using Inputs = std::vector<std::pair<std::string, std::string>>;

  void input(const std::string& name, int type, const std::string& sizes, const std::string& device = "cpu");
  static std::string tensor(const std::string& name);                   // as an argument or a result
  static std::string tensors(const std::vector<std::string>& names);    // a list of them
  static std::string graph(const std::string& name, const std::string& text);
  // `sizes` are numbers, or symbols as they are written in the file: "4,u0".
  std::string result(const std::string& name, int type, const std::string& sizes, const std::string& device = "cpu");
  void node(const std::string& target, const Inputs& inputs, const std::vector<std::string>& results);
  std::string text(const std::vector<std::string>& results) const;  // of a sub-graph

 protected:
  std::string inputs_, nodes_, values_;
  std::vector<std::string> names_;
};

class ProgramText : public GraphText {
 public:
  void range(const std::string& symbol, const std::string& most);
  std::string program(const std::vector<std::string>& results) const;

 private:
  std::string ranges_;
};

}  // namespace planscope::testing
