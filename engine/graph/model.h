#pragma once
// What a model file says, made pure: the input of everything else in engine/graph.
//
// A Model is a list of nodes in program order over a list of values. It is functional (no node writes into its operand;
// in-place operators and writes through views have become new values), flat (`no_grad`, autocast and checkpointed
// regions are inlined; the branches and loops that stay are Models of their own, see Node::bodies) and closed (every
// argument of the operator's schema is there, defaults filled in; every result has a value). It has no rules, no part
// classes and no backward: graph.h adds those.
//
//   Result<Model> m = import_model("sample_models/gpt2_tiny.pt2");
//   for (const Node& n : m->nodes) std::cout << n.name() << " " << n.target << "\n";
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace planscope {

enum class DType : std::uint8_t { u8, i8, i16, i32, i64, f16, f32, f64, c32, c64, c128, boolean, bf16, other };
std::int64_t byte_size(DType);      // of one element
std::string_view to_string(DType);  // "float32", "int64", "bool", "bfloat16", …
bool is_floating(DType);

using ValueId = int;  // index into Model::values; -1: none

// One argument of a node. A tensor argument is a ValueId in `Tensor`; a list of optional tensors has -1 for none.
struct Tensor {
  ValueId id = -1;
  bool operator==(const Tensor&) const = default;
};
struct Device {
  bool operator==(const Device&) const = default;  // which one is the plan's to say
};
struct None {
  bool operator==(const None&) const = default;
};
struct MemoryFormat {
  std::int64_t code = 0;
  bool operator==(const MemoryFormat&) const = default;
};
using Argument = std::variant<None, bool, std::int64_t, double, std::string, DType, Device, MemoryFormat, Tensor,
                              std::vector<Tensor>, std::vector<std::int64_t>, std::vector<double>, std::vector<bool>>;

struct NamedArgument {
  std::string name;  // as in the operator's schema, in the schema's order
  Argument value;
  bool operator==(const NamedArgument&) const = default;
};

enum class ValueKind : std::uint8_t { input, parameter, buffer, constant, computed };

struct Value {
  std::string name;  // inputs: the argument's name; parameters and buffers: the dotted name (`lm_head.weight`)
  ValueKind kind = ValueKind::computed;
  DType dtype = DType::f32;
  std::vector<std::int64_t> sizes;
  std::vector<int> bounded;          // dimensions whose size is an upper bound: the true one depends on data
  bool requires_grad = false;        // parameters that are trained
  bool persistent = true;            // buffers
  std::vector<std::string> aliases;  // other names of the same parameter (tied weights), sorted
  bool operator==(const Value&) const = default;
};

struct Model;

struct Node {
  std::string module;       // path of the module instance, `layers.3.mlp.up_proj`; empty: the root
  int call = -1;            // number of the call where a module is called several times, else -1
  std::string module_type;  // `LlamaMLP`
  std::string kind;         // short name of the operator, `linear`, `scaled_dot_product_attention`, `add`
  int ordinal = 0;          // among the nodes of equal module, call and kind
  std::string source;       // `modeling_llama.py:181`; may be empty
  std::string target;       // `aten::linear` or `aten::add.Tensor`; operators of our own: `planscope::pick`
  std::vector<NamedArgument> arguments;
  std::vector<ValueId> outputs;  // one for each result; of an absent one (None, a number) a value without elements
  std::vector<std::shared_ptr<const Model>> bodies;  // sub-graphs of planscope::cond, while_loop, scan, …
  bool no_grad = false;  // no gradient flows through it
  bool random = false;   // draws random numbers
  ValueId like = -1;     // >= 0: its result has sizes of this value, whose elements it does not read

  std::string name() const;  // `layers.3.mlp.up_proj@1:linear#0`; `:kind` always, `#ordinal` always
  bool operator==(const Node&) const = default;
};

// Where the bytes of a parameter, buffer or constant are: a range of the file and how the storage is strided.
struct Weight {
  ValueId value = -1;
  std::uint64_t offset = 0;           // of the payload in the file, bytes
  std::uint64_t bytes = 0;            // of the payload; 0: the file has no weights (exported without)
  std::vector<std::int64_t> strides;  // elements
  std::int64_t storage_offset = 0;    // elements
  bool operator==(const Weight&) const = default;
};

// A buffer that the forward pass changes: after a step, `buffer` has the contents of `value`.
struct Mutation {
  ValueId buffer = -1;
  ValueId value = -1;
  bool operator==(const Mutation&) const = default;
};

struct Model {
  std::string name;  // of the file, without its ending
  std::string path;
  std::string torch_version;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;   // user inputs in the order of forward's arguments
  std::vector<ValueId> outputs;  // user outputs
  std::vector<std::string> output_names;  // parallel: keys of a dictionary, else as the file calls them
  ValueId loss = -1;                      // the scalar output that is trained; -1: none
  std::vector<Mutation> mutations;
  std::vector<Weight> weights;
  // Operators with a number among their arguments that depends on data: an upper bound stands there, they cannot be run.
  std::vector<std::string> data_numbers;
  std::vector<std::string> unused_parameters;  // dotted names that nothing of the outputs reads, with their element counts below
  std::vector<std::int64_t> unused_parameter_elements;
  std::uint64_t digest = 0;  // of the graph part of the file
};

// Positions among the outputs of those that can be the loss: scalars of a floating type. The first one is, if the file does
// not say which.
std::vector<std::size_t> scalar_outputs(const Model&);
std::string output_name(const Model&, std::size_t position);

bool is_changed_by_steps(const Model&, ValueId buffer);

}  // namespace planscope
