#pragma once
// Words and symbols of one line of a plan script. Blanks only separate, but whether one stands before a token is kept:
// `L.mlp *` is a path and a factor, `L.mlp*` is a glob.
//
// A name in quotes, `'block-a'` or `"block-a"`, is one word that names a module, whatever it holds.
//
// A comment begins at a `#` that does not stick to what is before it (`x:add#2` is an ordinal, `x  # two` a comment).
#include <string>
#include <string_view>
#include <vector>

namespace planscope::plan {

struct Token {
  enum class Kind { word, quoted, symbol, unknown, end };
  Kind kind = Kind::end;
  std::string_view text;  // into the line; letters, digits and `_` are one word, also `1f1b` and `80GiB`; with its quotes
  bool attached = false;  // nothing stands between it and the token before
};

struct Line {
  std::vector<Token> tokens;  // ends with one of kind `end`
  std::string_view comment;   // with its `#`
  std::string_view code;      // the line without comment and outer blanks
};
Line lex(std::string_view line);

}  // namespace planscope::plan
