#pragma once
// A link: one line of text that names what is on screen, so that it can be sent, kept, and opened again in any surface:
// the model, the kept version of the plan, the cluster, what is selected, and how it is looked at.
//
//   print(link_of(state))   // planscope://open?model=/models/gpt2.pt2&digest=…&plan=3&operators=L.mlp&colour=time
//   Result<Link> l = parse_link("planscope://open?model=…");
//   parse_link("http://host:8640/?session=2#model=…")   // a page's address: what is behind its # (else ?) is read
//
// Names that are not known are left out of account.
//
// Texts are percent-encoded (RFC 3986). Edits that are not kept are in it, as the whole text. Errors: it names no model,
// an encoding is broken.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

struct Link {
  std::string model;   // path
  std::string digest;  // of its content: found in a workspace where the path is another
  std::string plan;    // the number of a kept version, else the path of its file; empty: none
  std::string name;    // of the plan
  std::string text;    // of a draft that is not kept; empty: that of the plan
  std::string cluster;
  Selection selection;
  std::optional<TimeSelection> time;
  LaneLook lanes;
  std::string colour = "place", align = "time", overlay = "runs", search = {};
  std::vector<std::string> expanded;  // nodes of the graph, ascending; none: as it is first looked at
  TensorLook look;
  std::map<std::string, std::string> brush;  // arguments of the command `brush`
  std::map<std::string, std::string> views;  // by canvas: as Document::views
  std::string base;                  // what stands first in a comparison, in the draft's place; empty: the draft
  std::vector<std::string> compare;  // what it is compared with
  std::string view;                  // what a surface says of its own: kept as it is
  bool operator==(const Link&) const = default;
};

Link link_of(const State&);  // of a state with a document
inline constexpr const char* link_scheme = "planscope://";
std::string print(const Link&);
Result<Link> parse_link(std::string_view);

// What of a link may name a file: the model, the plan, the cluster, and what is compared.
std::vector<std::string> files_in(const Link&);

}  // namespace planscope::session
