#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "app/cli/command.h"
#include "engine/cluster/fields.h"
#ifdef PLANSCOPE_SERVER
#include "app/server/server.h"
#endif

extern char** environ;

namespace planscope::cli {

#ifndef PLANSCOPE_SERVER

Answer serve(const Options&) {
  return bad_input({error("this planscope was built without its server", "Boost, OpenSSL or zlib was not there",
                          "run scripts/setup and build again")});
}

#else

namespace {

namespace fs = std::filesystem;

std::string absolute(const std::string& path) {
  std::error_code ec;
  return path.empty() ? path : fs::absolute(path, ec).lexically_normal().string();
}

// The first of these folders that is there.
std::string folder_of(const std::vector<std::string>& all) {
  std::error_code ec;
  for (const std::string& f : all)
    if (fs::is_directory(f, ec)) return absolute(f);
  return all.back();
}

// A file as it is found from the served folder; what is no file is the name of a preset, or of the workspace.
std::string named(const std::string& path) {
  std::error_code ec;
  return fs::exists(path, ec) && !fs::is_directory(path, ec) ? absolute(path) : path;
}

std::string named_cluster(const std::string& name) {
  ChangedName cluster = changed_name(name);
  cluster.base = named(cluster.base);
  return print(cluster);
}

// With a link of one use: the arguments of a program can be read by everybody on the machine.
void open_browser(const std::string& link) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  std::string program = "xdg-open", url = link;
  char* argv[] = {program.data(), url.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, argv, environ) != 0) return;
  std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
}

server::ServerSettings settings_of(const Options& o) {
  server::ServerSettings s;
  const std::string cluster = named_cluster(o.session_cluster);
  s.session = {.workspace = absolute(o.workspace), .cluster = cluster, .programs = o.program_folder};
  s.address = o.bind;
  s.port = o.port;
  if (o.tls.size() == 2) s.certificate = absolute(o.tls[0]), s.key = absolute(o.tls[1]);
  s.insecure = o.insecure;
  s.roots.clear();
  for (const std::string& root : o.roots) s.roots.push_back(absolute(root));
  const std::string rules = o.model.empty() ? "" : fs::path(named(o.model)).replace_extension(".rules").string();
  for (const std::string& file : {named(o.model), rules, named(o.plan), cluster, changed_name(cluster).base})
    if (fs::path(file).is_absolute()) s.files.push_back(file);
  if (!s.session.workspace.empty()) s.uploads = fs::path(s.session.workspace).parent_path().string() + "/uploads";
  s.page = folder_of({o.program_folder + "/../web", o.program_folder + "/../share/planscope/web"});
  s.samples = folder_of({o.program_folder + "/../share/planscope/sample_models", PLANSCOPE_SAMPLES});
  s.session.samples = s.samples;
  s.version = PLANSCOPE_VERSION;
  return s;
}

}  // namespace

Answer serve(const Options& o) {
  std::error_code ec;
  for (const std::string& root : o.roots)
    if (!fs::is_directory(root, ec))
      return bad_input({error("'" + root + "' is no folder", "", "--root takes the folders whose files may be opened")});
  if (const std::vector<Diagnostic> wrong = wrong_session_cluster(o); !wrong.empty()) return bad_input(wrong);
  const std::string model = named(o.model), plan = named(o.plan);
  server::ServerSettings settings = settings_of(o);
  fs::current_path(settings.roots.front(), ec);  // names of files are as seen from there
  Result<std::unique_ptr<server::Server> > started = server::Server::start(std::move(settings));
  if (!started.ok()) return bad_input(started.diagnostics);
  server::Server& s = **started;
  if (!model.empty()) {
    session::Invocation open{"open", {{"model", model}}};
    if (!plan.empty()) open.arguments["plan"] = plan;
    if (const Result<Done> opened = s.run(open); !opened.ok()) return bad_input(opened.diagnostics);
  }
  if (const std::string missing = s.missing(); !missing.empty()) std::cerr << "planscope serve: " << missing << "\n";
  if (o.json)
    std::cout << dump({{"url", s.url()}, {"token", s.token()}}) << std::endl;
  else
    std::cout << s.url() << std::endl;
  if (!o.no_browser) open_browser(s.link());
  s.run_until_signal();
  Answer a;
  a.silent = true;
  return a;
}

#endif

}  // namespace planscope::cli
