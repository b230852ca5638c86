#pragma once
// Selections of operators: paths over the module tree. Names and indices only; lets and expressions are the caller's.
//
// A path is matched from any module of its first name, or from anywhere inside given units. Braces mean each: every
// combination is matched (and has to match something) by itself. `:kind` keeps, of each unit, the operators of that kind
// that belong to the unit's own module, or, if it has none, those of the modules inside; kinds in braces stay in one
// unit. `*` alone is the whole model as one unit, marked as a wildcard.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::plan {

// `*` is any letters, `{a,b}` each of them; behind a backslash they are themselves, as from quotes.
bool glob_matches(std::string_view pattern, std::string_view text);
std::string literal_glob(std::string_view name);                         // that matches this alone
std::string written_glob(std::string_view glob, bool any_word = false);  // as a script writes it; words of the language in quotes, or not
// `a{b,c}d` -> abd acd; a pattern without braces is itself.
std::vector<std::string> expand_braces(const std::string& pattern);

// The modules of a model, from the paths of its operators. `layers.3` is the child `3` of `layers`.
struct ModuleTree {
  struct Node {
    std::string name;
    std::string path;  // `model.layers[3].mlp`; `*` of the root
    int parent = -1;
    int number = -1;             // of a member of a list (`3`), else -1
    std::vector<int> children;   // in program order
    std::vector<int> operators;  // in the whole subtree, ascending
    std::int64_t members = 0;    // of a list: largest number + 1
  };
  std::vector<Node> nodes;     // nodes[0] is the root
  std::vector<int> module_of;  // operator -> node
  std::unordered_map<std::string, std::vector<int>> named;

  bool inside(int node, int ancestor) const;  // also itself
};
ModuleTree module_tree(const ModelInfo&);

// What binding derives of a model, whatever the plan is.
struct ModelIndex {
  ModuleTree tree;
  std::vector<int> alike;  // operator -> the first one with equal factors
};
ModelIndex model_index(const ModelInfo&);

// One matched unit. `module` is -1 if its operators are not those of one module (parts of a cut, several modules).
struct Unit {
  std::string name;
  int module = -1;
  bool wildcard = false;
  std::vector<int> operators;  // ascending
};

// An index of a path with numbers in place of expressions; `all` if none of the fields is set.
struct IndexValue {
  std::optional<std::int64_t> one, begin, end, step;
  bool range = false;
  std::optional<std::int64_t> written_to = {};  // the last index that a number of the plan names, if one does
  bool selects(std::int64_t i) const;
};

struct PathValue {
  struct Step {
    std::string glob;
    std::vector<std::vector<IndexValue>> brackets;
  };
  std::vector<Step> steps;
  std::optional<std::int64_t> call;
  std::string kind;
  std::optional<std::int64_t> ordinal;
  std::string text;  // as the plan writes it
};

// What one combination of braces matched.
struct Match {
  std::string text;
  std::vector<Unit> units;  // in program order
  std::string problem;      // nothing matched: a whole sentence that says why and what was near
  std::string beyond;       // some was: a sentence about indices that the plan names and that do not exist
};

// `bases`: where the path starts; nothing: anywhere in the model. With bases, no steps means the bases themselves.
// `suggest`: a problem names what was near, which takes time.
std::vector<Match> match_path(const ModuleTree&, const ModelInfo&, const PathValue&, const std::vector<Unit>* bases,
                              bool suggest = true);

// The sentence about indices beyond the end of a list.
std::string only_so_many(const std::string& selection, const std::string& list, std::int64_t members);

// By their first operators; equal ones as they came.
void sort_units(std::vector<Unit>&);
// Of sorted units, each once: a list is a set (`h[*], h[0]`).
void drop_repeated(std::vector<Unit>&);

}  // namespace planscope::plan
