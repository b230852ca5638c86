#pragma once
// The files of the page, read once: requests are looked up by their path in a list, never in the file system.
//
//   PageFiles page("build/release/web");
//   page.find("/index.html")   // null: there is none
#include <map>
#include <string>

#include "app/server/body.h"

namespace planscope::server {

class PageFiles {
 public:
  explicit PageFiles(const std::string& folder);

  BodyPtr find(const std::string& path) const;  // "/" is the page itself
  bool built() const { return find("/") != nullptr; }
  // The file's name changes with what is in it, so that browsers may keep it for ever.
  static bool is_named_by_content(const std::string& path) { return path.starts_with("/assets/"); }

 private:
  std::map<std::string, BodyPtr> files_;
};

std::string type_of(const std::string& name);  // of a file, as Content-Type says it

// What is missing, where the page or its canvases have not been built; empty: nothing is.
std::string what_is_missing(const PageFiles&);

}  // namespace planscope::server
