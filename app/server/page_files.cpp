#include "app/server/page_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "viz/canvas/theme.h"

namespace planscope::server {

namespace fs = std::filesystem;

std::string type_of(const std::string& name) {
  static const std::map<std::string, const char*> types = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".wasm", "application/wasm"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".ttf", "font/ttf"},
      {".woff2", "font/woff2"},
      {".png", "image/png"},
      {".txt", "text/plain; charset=utf-8"},
      {".csv", "text/csv; charset=utf-8"},
      {".dot", "text/vnd.graphviz; charset=utf-8"},
  };
  const auto found = types.find(fs::path(name).extension().string());
  return found == types.end() ? "application/octet-stream" : found->second;
}

PageFiles::PageFiles(const std::string& folder) {
  std::error_code ec;
  for (fs::recursive_directory_iterator i(folder, ec), end; !ec && i != end; i.increment(ec)) {
    if (!i->is_regular_file(ec)) continue;
    std::ostringstream bytes;
    bytes << std::ifstream(i->path(), std::ios::binary).rdbuf();
    files_["/" + fs::relative(i->path(), folder, ec).generic_string()] =
        std::make_shared<const Body>(type_of(i->path().string()), bytes.str());
  }
  if (built()) files_["/theme.css"] = std::make_shared<const Body>(type_of("theme.css"), viz::theme_css());
}

BodyPtr PageFiles::find(const std::string& path) const {
  const auto found = files_.find(path == "/" ? "/index.html" : path);
  return found == files_.end() ? nullptr : found->second;
}

std::string what_is_missing(const PageFiles& page) {
  if (!page.built())
    return "the page is not built: it needs node and npm (scripts/setup web installs them), then scripts/build release "
           "planscope_web";
  if (!page.find("/wasm/canvas.wasm"))
    return "the canvases of the page are not built: they need emscripten (scripts/setup web installs it), then "
           "scripts/build release planscope_web";
  return "";
}

}  // namespace planscope::server
