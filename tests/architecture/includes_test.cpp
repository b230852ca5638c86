// Holds the direction of the arrows: which folder may include which headers. The tables are the text files beside.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path tables = "tests/architecture";

using Words = std::vector<std::string>;
using Table = std::vector<std::pair<std::string, Words>>;

Words lines_of(const fs::path& file) {
  std::ifstream in(file);
  Words lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Table read_table(const std::string& name) {
  Table table;
  for (const std::string& line : lines_of(tables / name)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(':');
    std::istringstream rest(colon == std::string::npos ? "" : line.substr(colon + 1));
    Words words;
    for (std::string word; rest >> word;) words.push_back(word);
    table.emplace_back(line.substr(0, colon), words);
  }
  return table;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 && path[folder.size()] == '/';
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool is_below_any(const std::string& path, const Words& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const auto& folder) { return is_below(path, folder); });
}

// The files of the given kinds in the project's folders, in order; never those of build folders.
Words files_below(const Words& folders, const Words& extensions) {
  Words files;
  for (const std::string& folder : folders) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const bool wanted = std::find(extensions.begin(), extensions.end(), entry.path().extension()) != extensions.end();
      if (entry.is_regular_file() && wanted) files.push_back(entry.path().generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Include {
  std::string file;
  int line;
  std::string header;
  bool quoted;
};

std::vector<Include> includes_in(const Words& folders) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const std::string& file : files_below(folders, {".h", ".cpp", ".cu", ".inc"})) {
    int number = 0;
    for (const std::string& line : lines_of(file)) {
      ++number;
      if (std::smatch match; std::regex_search(line, match, pattern))
        includes.push_back({file, number, match[2], match[1] == "\""});
    }
  }
  return includes;
}

const std::pair<std::string, Words>* row_of(const Table& table, const std::string& file) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const auto& r) { return is_below(file, r.first); });
  return row == table.end() ? nullptr : &*row;
}

std::string own_include_fault(const Table& table, const Include& include) {
  const auto* row = row_of(table, include.file);
  if (!row) return "its folder has no row in own_includes.txt";
  const bool named = std::find(row->second.begin(), row->second.end(), include.header) != row->second.end();
  if (named || is_below(include.header, row->first) || is_below_any(include.header, row->second)) return "";
  return row->first + " may not include it";
}

std::string foreign_include_fault(const Table& table, const Include& include) {
  for (const auto& [prefix, folders] : table) {
    const bool qt =
        prefix == "Q" && include.header.size() > 1 && std::isupper(static_cast<unsigned char>(include.header[1]));
    const bool named = prefix == "Q" ? qt && include.header[0] == 'Q' : starts_with(include.header, prefix);
    if (!named || is_below_any(include.file, folders)) continue;
    std::string fault = "only these may:";
    for (const std::string& folder : folders) fault += " " + folder;
    return fault;
  }
  return "";
}

// Whether the line calls materialize(), simulate() or verify(), and does not declare one or speak of it.
bool calls_directly(const std::string& line) {
  static const std::regex call(R"((^|[^\w.>])(materialize|simulate|verify)\()"), declares(R"(^\w[\w:<>]* \w+\()");
  const std::string code = line.substr(0, line.find("//"));
  return std::regex_search(code, call) && !std::regex_search(code, declares);
}

const Words own_folders = {"engine", "planner", "viz", "storage", "app"};

}  // namespace

TEST_CASE("each folder includes only what its row allows") {
  const Table table = read_table("own_includes.txt");
  REQUIRE(table.size() > 10);
  std::string faults;
  size_t seen = 0;
  for (const Include& include : includes_in(own_folders)) {
    if (!include.quoted) continue;
    ++seen;
    const std::string fault = own_include_fault(table, include);
    if (!fault.empty())
      faults += include.file + ":" + std::to_string(include.line) + ": " + include.header + ": " + fault + "\n";
  }
  CHECK(seen > 50);
  CHECK(faults == "");
}

TEST_CASE("headers of other projects stay in their folder") {
  const Table table = read_table("foreign_includes.txt");
  REQUIRE(table.size() > 10);
  std::string faults;
  for (const Include& include : includes_in(own_folders)) {
    if (include.quoted) continue;
    const std::string fault = foreign_include_fault(table, include);
    if (!fault.empty())
      faults += include.file + ":" + std::to_string(include.line) + ": <" + include.header + ">: " + fault + "\n";
  }
  CHECK(faults == "");
}

TEST_CASE("the rules themselves refuse what they must") {
  const Table own = read_table("own_includes.txt");
  CHECK(own_include_fault(own, {"viz/timeline/a.cpp", 1, "engine/graph/graph.h", true}) == "viz may not include it");
  CHECK(own_include_fault(own, {"engine/graph/a.cpp", 1, "planner/cost/cost.h", true}) ==
        "engine/graph may not include it");
  CHECK(own_include_fault(own, {"engine/graph/a.cpp", 1, "engine/graph/pt2/zip.h", true}).empty());
  CHECK(own_include_fault(own, {"planner/verify/a.cpp", 1, "engine/program/program.h", true}).empty());
  CHECK(own_include_fault(own, {"planner/verify/a.cpp", 1, "engine/program/materialize.h", true}) ==
        "planner/verify may not include it");
  CHECK(own_include_fault(own, {"planner/verify/a.cpp", 1, "engine/program/build/work.h", true}) ==
        "planner/verify may not include it");
  CHECK(own_include_fault(own, {"engine/other/a.cpp", 1, "engine/base/text.h", true}) ==
        "its folder has no row in own_includes.txt");
  const Table foreign = read_table("foreign_includes.txt");
  CHECK(foreign_include_fault(foreign, {"app/cli/main.cpp", 1, "torch/script.h", false}) ==
        "only these may: engine/runtime");
  CHECK(foreign_include_fault(foreign, {"app/workbench/a.h", 1, "QString", false}) == "only these may: app/desktop");
  CHECK(foreign_include_fault(foreign, {"engine/runtime/a.cpp", 1, "ATen/ATen.h", false}).empty());
  CHECK(calls_directly("  Result<Materialized> m = materialize(graph, plan, cluster);"));
  CHECK(calls_directly("  answer(planscope::verify(*p->graph, p->program));"));
  CHECK_FALSE(calls_directly("VerifyReport verify(const Graph& g, const Program& p) {"));
  CHECK_FALSE(calls_directly("  look();  // as materialize() does"));
}

TEST_CASE("plans are looked at through planner/evaluate, but for the files that say why not") {
  const Table table = read_table("direct_calls.txt");
  const auto has_reason = [&](const std::string& file) {
    return std::any_of(table.begin(), table.end(), [&](const auto& r) { return r.first == file && !r.second.empty(); });
  };
  Words calling;
  std::string faults;
  for (const std::string& file : files_below(own_folders, {".h", ".cpp"})) {
    if (is_below(file, "planner/evaluate")) continue;
    const Words lines = lines_of(file);
    if (std::none_of(lines.begin(), lines.end(), calls_directly)) continue;
    calling.push_back(file);
    if (!has_reason(file)) faults += file + " calls it without a reason in direct_calls.txt\n";
  }
  for (const auto& [file, reason] : table)
    if (std::find(calling.begin(), calling.end(), file) == calling.end()) faults += file + " does not call it\n";
  CHECK(faults == "");
}

TEST_CASE("no file names a place of one machine") {
  const Table words = read_table("machine_words.txt");
  REQUIRE_FALSE(words.empty());
  std::string faults;
  Words files =
      files_below({"engine", "planner", "viz", "storage", "app", "tests", "cmake", "docs", "scripts", "sample_models"},
                  {".h", ".cpp", ".inc", ".txt", ".md", ".py", ".sh", ".cmake", ".plan", ".json", ".test", ""});
  for (const char* file : {"README.md", "CMakeLists.txt", "CMakePresets.json", "run", "test"}) files.push_back(file);
  for (const std::string& file : files) {
    if (file == "tests/architecture/machine_words.txt") continue;
    int number = 0;
    for (const std::string& line : lines_of(file)) {
      ++number;
      for (const auto& [word, unused] : words)
        if (line.find(word) != std::string::npos) faults += file + ":" + std::to_string(number) + ": " + word + "\n";
    }
  }
  CHECK(faults == "");
}

TEST_CASE("each folder says what it is for") {
  std::string missing;
  for (const auto& [folder, unused] : read_table("own_includes.txt"))
    if (fs::exists(fs::path(folder) / "CMakeLists.txt") && !fs::exists(fs::path(folder) / "README.md"))
      missing += folder + "\n";
  CHECK(missing == "");
}
