#pragma once
// Reading a node's arguments by name. A name that the node lacks, or an argument of another type, is "not there": files
// are user input, so nothing here throws.
//
//   if (auto dim = int_argument(node, "dim")) …
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/graph/model.h"

namespace planscope {

const Argument* find_argument(const Node&, std::string_view name);
Argument* find_argument(Node&, std::string_view name);

bool is_none(const Node&, std::string_view name);             // None, or not there
ValueId tensor_argument(const Node&, std::string_view name);  // -1: none or not there
std::optional<std::int64_t> int_argument(const Node&, std::string_view name);
std::optional<bool> bool_argument(const Node&, std::string_view name);
std::optional<double> number_argument(const Node&, std::string_view name);  // an integer counts
std::optional<DType> dtype_argument(const Node&, std::string_view name);
std::optional<std::string> string_argument(const Node&, std::string_view name);
const std::vector<std::int64_t>* ints_argument(const Node&, std::string_view name);
const std::vector<Tensor>* tensors_argument(const Node&, std::string_view name);

// Every tensor that the node reads, in argument order (a list's elements in theirs; -1 left out).
void for_each_tensor(const Node&, const std::function<void(ValueId)>&);
void map_tensors(Node&, const std::function<ValueId(ValueId)>&);

// Number of elements; the importer has checked that it fits.
std::int64_t element_count(const std::vector<std::int64_t>& sizes);

}  // namespace planscope
