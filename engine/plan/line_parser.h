#pragma once
// The grammar of one line, by recursive descent without backtracking over more than a `let`. Used by parser.cpp alone.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/lexer.h"
#include "engine/plan/parser.h"
#include "engine/plan/plan.h"

namespace planscope::plan {

class LineParser {
 public:
  explicit LineParser(const Line& line) : tokens_(line.tokens) {}

  StatementBody statement();       // without `auto`, `where`
  std::vector<Condition> where();  // [ "where" cond {"," cond} ]
  Expression expression() { return sum(std::nullopt); }
  void expect_end();

  bool accept_word(std::string_view word);
  std::string_view peek() const { return tokens_[at_].text; }
  bool at_end() const { return tokens_[at_].kind == Token::Kind::end; }

  struct Keyword {
    Word word;
    StatementBody (LineParser::*read)();  // what is behind it; null: it begins no statement of one line
  };
  static const std::vector<Keyword>& keywords();

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  struct Depth;  // counts nesting

  // line_parser.cpp: statements
  StatementBody devices();
  StatementBody grid();
  StatementBody model();
  StatementBody axis();
  StatementBody let();
  StatementBody trans();
  StatementBody assign();
  StatementBody order();
  StatementBody require() { return RequireStatement{condition()}; }
  StatementBody forbid();
  StatementBody relax();
  StatementBody use();
  StatementBody template_head();
  std::vector<AxisSub> axis_sizes(bool alternatives);
  Choice choice();
  Sub sub();
  Place place();

  // expression_parser.cpp: expressions, selections, conditions
  Expression sum(std::optional<Expression> first);
  Expression product(std::optional<Expression> first);
  Expression unary();
  Expression primary();
  Expression number();
  Expression open();
  Expression bars();
  Expression call(std::string name);
  Expression argument();
  std::vector<Expression> arguments();  // "(" … ")"
  Index index();
  std::vector<Index> indices(std::string_view close);
  Units units();
  Group group();
  Path path();
  std::string glob(bool any_word = false);  // else not a word that the language needs itself
  std::string braces();
  std::vector<TaskIndex> task_index();
  Condition condition();
  Condition conjunction();
  Condition negation();
  Expression term();
  Condition comparison();
  Expression member();
  bool parenthesized_condition() const;
  bool group_ahead() const;

  // tokens
  const Token& token(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view text, std::size_t ahead = 0) const {
    return token(ahead).text == text && token(ahead).kind != Token::Kind::end;
  }
  bool is_attached(std::string_view text, std::size_t ahead = 0) const {
    return is(text, ahead) && token(ahead).attached;
  }
  bool is_word(std::size_t ahead = 0) const { return token(ahead).kind == Token::Kind::word; }
  bool is_quoted(std::size_t ahead = 0) const { return token(ahead).kind == Token::Kind::quoted; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string word(std::string_view what);  // any word
  std::string name(std::string_view what);  // a word that begins with a letter and is not reserved
  void advance() {
    if (!at_end()) ++at_;
  }
  void fail(std::string message);
  void count_operation();
  void fail_expected(std::string_view what);

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int operations_ = 0;
  std::string error_;
  std::size_t failed_at_ = 0;  // the token at which the error arose
};

}  // namespace planscope::plan
