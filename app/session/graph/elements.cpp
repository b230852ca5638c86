#include "app/session/graph/elements.h"

#include <algorithm>
#include <numeric>

#include "engine/base/text.h"

namespace planscope::session {

namespace {

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

class Builder {
 public:
  explicit Builder(const Graph& g) : g_(g), out_(std::make_unique<Element>()), root_(*out_) {
    count_calls();
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) insert(o);
    settle(root_);
  }

  std::unique_ptr<const Element> take() { return std::move(out_); }

 private:
  // How often modules are called: as their own operators say, or as what is in them has in common.
  void count_calls() {
    const auto up = [](const std::string& path) {
      return path.substr(0, path.rfind('.') == std::string::npos ? 0 : path.rfind('.'));
    };
    std::map<std::string, int> inside;  // of modules without operators of their own
    for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o) {
      int& calls = calls_[g_.node(o).module];
      calls = std::max(calls, std::max(0, g_.node(o).call) + 1);
    }
    std::vector<std::pair<std::size_t, std::string>> deepest;
    std::set<std::string> known;
    for (const auto& [path, calls] : calls_)
      for (std::string at = path; known.insert(at).second && !at.empty();) at = up(at);
    for (const std::string& path : known) deepest.emplace_back(path.size(), path);
    std::sort(deepest.rbegin(), deepest.rend());
    for (const auto& [size, path] : deepest) {
      int& calls = calls_[path];
      if (calls == 0 && !g_.ops.empty()) calls = inside.contains(path) ? inside[path] : 1;
      if (path.empty()) continue;
      int& around = inside[up(path)];
      around = std::gcd(around, calls);
    }
  }

  void insert(OpId o) {
    const Node& n = g_.node(o);
    Element* at = &root_;
    if (!n.module.empty()) {
      const std::vector<std::string> parts = split(n.module, '.');
      const int all = calls_[n.module], call = std::max(0, n.call);
      std::string path;
      for (const std::string& part : parts) {
        path += (path.empty() ? "" : ".") + part;
        const int here = calls_[path];
        const int number = here > 1 && all % here == 0 ? call / (all / here) : -1;
        Element*& next = at->named[number < 0 ? part : part + "@" + std::to_string(number)];
        if (!next) {
          at->own.push_back(std::make_unique<Element>());
          next = at->own.back().get();
          next->call = number;
          next->calls = here;
          if (is_number(part) && part.size() < 9)
            next->number = std::stoi(part);
          else
            next->list = part;
        }
        at = next;
        at->one_call = at->one_call && (number < 0 || number == call);
      }
    }
    at->type = n.module_type;
    at->own.push_back(std::make_unique<Element>());
    at->own.back()->op = o;
  }

  static bool is_list(const Element& e) {
    return e.op < 0 && !e.own.empty() &&
           std::all_of(e.own.begin(), e.own.end(), [](const auto& c) { return c->number >= 0; });
  }

  int known(std::vector<int> key) {
    return signatures_.emplace(std::move(key), static_cast<int>(signatures_.size())).first->second;
  }
  int word(const std::string& s) { return words_.emplace(s, static_cast<int>(words_.size())).first->second; }

  std::string kind_and_factors(OpId o) const {
    std::string out = g_.node(o).kind;
    for (const Factor& f : g_.ops[static_cast<std::size_t>(o)].factors) {
      out += " " + f.name;
      for (const ClassId c : f.parts) out += ":" + std::to_string(g_.classes[static_cast<std::size_t>(c)].size);
    }
    return out;
  }

  // Children with lists of modules opened, and signatures, from the leaves up.
  void settle(Element& e) {
    if (e.op >= 0) {
      e.shape = e.signature = known({0, word(kind_and_factors(e.op))});
      return;
    }
    std::set<int> numbered;
    for (const auto& c : e.own) {
      settle(*c);
      if (c->number >= 0) numbered.insert(c->number);
    }
    std::vector<Element*> children;
    for (const auto& c : e.own) {
      c->siblings = numbered.size();
      if (!is_list(*c) || is_list(e)) {  // the list that a list is in is opened by what is around it
        children.push_back(c.get());
        continue;
      }
      const std::string name = c->list + (c->number >= 0 ? "[" + std::to_string(c->number) + "]" : "");
      for (const auto& m : c->own) {
        m->list = name;
        m->siblings = numbers_in(*c).size();
        children.push_back(m.get());
      }
    }
    std::vector<int> key = {1, word(e.type)};
    for (Element* c : children) {
      if (c->op < 0) c->signature = known({2, word(c->list), c->shape});
      key.push_back(c->signature);
      e.children.push_back(c);
    }
    e.shape = known(std::move(key));
  }

  const Graph& g_;
  std::unique_ptr<Element> out_;
  Element& root_;
  std::map<std::vector<int>, int> signatures_;
  std::map<std::string, int> words_;
  std::map<std::string, int> calls_;  // by path of a module
};

}  // namespace

std::set<int> numbers_in(const Element& list) {
  std::set<int> out;
  for (const auto& c : list.own) out.insert(c->number);
  return out;
}

std::unique_ptr<const Element> elements_of(const Graph& g) { return Builder(g).take(); }

}  // namespace planscope::session
