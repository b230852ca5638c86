#include "app/server/file_rules.h"

#include <algorithm>

#include "app/session/link.h"
#include "engine/base/text.h"
#include "engine/cluster/fields.h"

namespace planscope::server {

namespace fs = std::filesystem;

namespace {

// Where a path leads, links followed; what is not there is taken as it is written.
fs::path canonical(const fs::path& p) {
  std::error_code ec;
  fs::path out = fs::weakly_canonical(fs::absolute(p, ec), ec);
  if (ec) return {};
  if (!out.has_filename()) out = out.parent_path();  // of `folder/`
  return out;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

// What of an argument may name a file: the whole, each of several, what a link names; of a cluster with changes, the cluster too.
// What may be something else is no file where a folder has its name.
std::vector<std::string> names_in(const session::ArgumentInfo& a, const std::string& value) {
  using Kind = session::ArgumentInfo::Kind;
  std::vector<std::string> out;
  if (a.kind == Kind::path || a.kind == Kind::source) out = {value};
  if (a.kind == Kind::sources) out = split(value, '\n');
  const auto folder = [](const std::string& name) {
    std::error_code ec;
    return name.find('/') == std::string::npos && fs::is_directory(name, ec);
  };
  if (a.kind != Kind::path) std::erase_if(out, folder);
  if (std::string_view(a.name) == "link")
    if (const Result<session::Link> link = session::parse_link(value); link.value) out = session::files_in(*link.value);
  for (std::size_t k = 0, count = out.size(); k < count; ++k)
    if (const ChangedName changed = changed_name(out[k]); !changed.changes.empty()) out.push_back(changed.base);
  return out;
}

// Whether a command makes the file that an argument names.
bool writes(std::string_view command, std::string_view argument) {
  return argument == "join" || (argument == "path" && (command == "save" || command == "export"));
}

}  // namespace

FileRules::FileRules(const std::vector<std::string>& folders, const std::vector<std::string>& files,
                     const std::vector<std::string>& to_read) {
  for (const std::string& f : folders)
    if (!f.empty()) folders_.push_back(canonical(f));
  for (const std::string& f : files) files_.push_back(canonical(f));
  for (const std::string& f : to_read)
    if (!f.empty()) to_read_.push_back(canonical(f));
}

Result<Done> FileRules::check(const std::string& path, Use use) const {
  if (path.find('\0') != std::string::npos) return error("'" + printable(path) + "' is the name of no file");
  std::error_code ec;
  // Opening NAME.pt2 reads NAME.rules from the same folder too.
  if (fs::path(path).extension() == ".pt2")
    if (const fs::path rules = fs::path(path).replace_extension(".rules"); fs::exists(fs::symlink_status(rules, ec)))
      if (const Result<Done> fine = check(rules.string(), Use::reads); !fine.ok()) return fine;
  const fs::file_status status = fs::status(path, ec);
  const bool there = fs::exists(status);
  if (!there && path.find('/') == std::string::npos) return Done{};
  const fs::path real = canonical(path);
  std::vector<fs::path> served = folders_;
  if (use == Use::reads) served.insert(served.end(), to_read_.begin(), to_read_.end());
  const bool below = std::any_of(served.begin(), served.end(), [&](const fs::path& f) { return is_below(real, f); });
  if (real.empty() || (!below && std::find(files_.begin(), files_.end(), real) == files_.end())) {
    std::vector<std::string> names;
    for (const fs::path& f : served) names.push_back(f.string());
    return error("'" + printable(path) + "' is not below a folder that is served", "these are: " + join(names, ", "),
                 "start the server with --root FOLDER, or upload the file");
  }
  if (there && !fs::is_regular_file(status)) return error("'" + printable(path) + "' is not a plain file");
  return Done{};
}

Result<Done> FileRules::check(const session::Invocation& i) const {
  const session::CommandInfo* info = session::find_command(i.id);
  if (!info) return Done{};
  for (const session::ArgumentInfo& a : info->arguments)
    if (i.has(a.name))
      for (const std::string& name : names_in(a, i.get(a.name)))
        if (const Result<Done> fine = check(name, writes(i.id, a.name) ? Use::writes : Use::reads); !fine.ok()) return fine;
  return Done{};
}

Result<Done> FileRules::check(const session::Invocation& i, const session::State& s, int document) const {
  std::vector<std::string> meant;
  if (i.id == "save" && !i.has("path"))
    for (const session::Document& d : s.documents)
      if ((document > 0 ? d.id == document : &d == s.document()) && !d.path.empty())
        if (const Result<Done> fine = check(d.path, Use::writes); !fine.ok()) return fine;
  if (i.id == "open" && i.has("plan") && !i.has("model") && !s.document())
    if (const session::Recent* r = session::find_recent(s.recent, i.get("plan"))) meant.push_back(r->model);
  if (i.id == "restore")
    for (const session::LostDraft& l : s.lost)
      if (std::to_string(l.id) == i.get("draft"))
        for (const std::string& file : {l.model, l.path, l.cluster})
          if (!file.empty()) meant.push_back(file);
  for (const std::string& file : meant)
    if (const Result<Done> fine = check(file); !fine.ok()) return fine;
  return check(i);
}

Result<Done> check_upload_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 128 && name[0] != '.' && printable(name) == name &&
                     name.find_first_of("/\\") == std::string::npos;
  if (!plain) return error("'" + printable(shortened(name, 128)) + "' is no plain file name");
  const std::string ending = fs::path(name).extension().string();
  if (ending != ".pt2" && ending != ".plan" && ending != ".json")
    return error("files of this kind are not taken", "'" + name + "' ends in '" + ending + "'",
                 "models end in .pt2, plans in .plan, clusters in .json");
  return Done{};
}

}  // namespace planscope::server
