#pragma once
// Panels as a page of HTML that needs nothing else: no script, no file, no network.
//
//   html_page("1f1b and gpipe", to_html(*make_panel("compare", state)) + svg)
#include <string>
#include <string_view>

#include "app/session/panel.h"

namespace planscope::session {

std::string html_text(std::string_view);  // with <, >, & and quotes as entities
std::string to_html(const Panel&);        // a section: title, facts, and the rows of a table or a tree
std::string html_page(const std::string& title, const std::string& body);

}  // namespace planscope::session
