// A complex number that stands in the place of a tensor in the file.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "engine/graph/arguments.h"
#include "engine/graph/import.h"
#include "tests/engine/graph/import/zip_file.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

std::string tensor(const std::string& name, int type) {
  return "\"" + name + "\": {\"dtype\": " + std::to_string(type) +
         ", \"sizes\": [{\"as_int\": 4}], \"strides\": [{\"as_int\": 1}], \"requires_grad\": false}";
}

// z * (0.5 - 1.5i) of numbers of one of the file's types.
Result<Model> product(int type) {
  const std::string json =
      R"({"schema_version": {"major": 8, "minor": 20}, "graph_module": {"graph": {
      "inputs": [{"as_tensor": {"name": "z"}}], "outputs": [{"as_tensor": {"name": "y"}}],
      "nodes": [{"target": "torch.ops.aten.mul.Tensor", "metadata": {}, "outputs": [{"as_tensor": {"name": "y"}}],
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "z"}}},
                   {"name": "other", "arg": {"as_complex": {"real": 0.5, "imag": -1.5}}}]}],
      "tensor_values": {)" +
      tensor("z", type) + ", " + tensor("y", type) +
      R"(}}, "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "z"}}}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]}}})";
  const std::string path =
      write_file("complex_" + std::to_string(getpid()) + ".pt2",
                 zip_bytes({{"m/archive_format", "pt2"},
                            {"m/archive_version", "0"},
                            {"m/byteorder", "little"},
                            {"m/data/weights/model_weights_config.json", R"({"config": {}})"},
                            {"m/data/constants/model_constants_config.json", R"({"config": {}})"},
                            {"m/models/model.json", json}}));
  Result<Model> model = import_model(path);
  std::filesystem::remove(path);
  return model;
}

}  // namespace

TEST_CASE("a complex number becomes a tensor without dimensions, of the result's width") {
  for (const auto& [file_type, real, complex] :
       {std::tuple{10, DType::f32, DType::c64}, std::tuple{11, DType::f64, DType::c128}}) {
    const Result<Model> model = product(file_type);
    INFO(to_string(model.diagnostics));
    REQUIRE(model.ok());
    REQUIRE(model->nodes.size() == 4);
    const Node &first = model->nodes[0], &second = model->nodes[1], &made = model->nodes[2], &mul = model->nodes[3];
    CHECK(first.target == "aten::scalar_tensor");
    CHECK(number_argument(first, "s") == 0.5);
    CHECK(number_argument(second, "s") == -1.5);
    CHECK(dtype_argument(second, "dtype") == real);
    CHECK(made.target == "aten::complex");
    CHECK(tensor_argument(made, "real") == first.outputs[0]);
    CHECK(tensor_argument(made, "imag") == second.outputs[0]);
    CHECK(mul.target == "aten::mul.Tensor");
    CHECK(tensor_argument(mul, "other") == made.outputs[0]);
    const Value& number = model->values[static_cast<std::size_t>(made.outputs[0])];
    CHECK(number.dtype == complex);
    CHECK(number.sizes.empty());
  }
}
