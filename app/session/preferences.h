#pragma once
// What a person has chosen once, for every document: colours, the scale of the window, the cluster of new documents.
// They are kept in a file beside the workspace, a line each, as `theme = dark`; names that this version does not know
// stay in it. Without a workspace they end with the session.
//
//   Preferences p = read_preferences("w.planscope", diagnostics);
//   p.get("theme") == "system"
//   check_preference("theme", "drak")   // Errors: not one of its values (with the nearest), no such name
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/workbench/workbench.h"

namespace planscope::session {

struct PreferenceInfo {
  const char* name;
  const char* title;
  const char* otherwise;             // the value where nothing has been chosen
  std::vector<const char*> choices;  // empty: any that check_preference() takes
  const char* about;
};
std::span<const PreferenceInfo> preferences();
const PreferenceInfo* find_preference(std::string_view name);

struct Preferences {
  std::map<std::string, std::string> chosen;  // by name

  std::string get(const std::string& name) const;
  bool operator==(const Preferences&) const = default;
};

Result<Done> check_preference(const std::string& name, const std::string& value);

std::string preferences_file(const std::string& workspace);  // empty: there is none
// A file that is not there has none; lines that cannot be used are told as warnings, and are left out.
Preferences read_preferences(const std::string& workspace, std::vector<Diagnostic>& told);
// Errors: the file cannot be written.
Result<Done> write_preferences(const std::string& workspace, const Preferences&);

}  // namespace planscope::session
