// Files that are damaged, foreign, too new, locked or old, and processes that are killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "scratch.h"
#include "storage/schema.h"
#include "storage/workspace.h"

using namespace planscope;
namespace fs = std::filesystem;

namespace {

const SystemClock clock_of_host;

std::string open_error(const std::string& path, std::chrono::milliseconds patience = std::chrono::milliseconds(50)) {
  const Result<Workspace> r = Workspace::open(path, clock_of_host, {.patience = patience});
  CHECK_FALSE(r.ok());
  return r.diagnostics.empty() ? "" : to_string(r.diagnostics.front());
}

Workspace opened(const std::string& path) {
  Result<Workspace> r = Workspace::open(path, clock_of_host);
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
  return std::move(*r);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void sql(const std::string& path, const std::string& script) {
  Result<Database> db = Database::open(path, std::chrono::milliseconds(50));
  REQUIRE(db.ok());
  const Result<Done> r = db->execute_script(script);
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
}

void fill(Workspace& w) {
  const auto model = w.put_model({.digest = "d", .name = "tiny", .path = "tiny.pt2", .info = "{\"operators\":12}"});
  const auto plan = w.add_plan({.model = *model, .name = "data", .text = "devices 4 as data=4\n"});
  const auto edited = w.add_plan({.model = *model, .parent = *plan, .name = "data", .text = "devices 2 as data=2\n"});
  const auto cluster = w.put_cluster({.digest = "c", .name = "local", .json = "{}"});
  w.add_prediction({.plan = *edited, .cluster = *cluster, .json = "{\"step_us\":10}"});
  w.add_verification({.plan = *edited, .verdict = "equivalent", .json = "{}"});
  w.put_profile({.device = "cpu", .signature = "add", .json = "{\"us\":3}"});
  const auto run = w.start_run(*edited, 2, {"boot", 1, 1});
  w.add_spans(*run, {{0, 0, 0, "compute", 0, 5}, {1, 0, 0, "compute", 1, 5}});
  REQUIRE(w.end_run(*run, RunStatus::done, "{}").ok());
}

}  // namespace

TEST_CASE("a file that is not SQLite is refused and left as it is", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("notes.txt");
  const std::string text(5000, 'x');
  write(path, text);
  CHECK(open_error(path) ==
        path + ": the workspace cannot be used; it is not a workspace file, or its beginning is damaged");
  CHECK(bytes_of(path) == text);
}

TEST_CASE("another program's SQLite file is refused and left as it is", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("foreign.db");
  sql(path, "CREATE TABLE plans(id INTEGER); INSERT INTO plans VALUES (1)");
  const std::string before = bytes_of(path);
  CHECK(open_error(path) ==
        path + ": the workspace cannot be used; it is a SQLite file of another program; choose another file name");
  CHECK(bytes_of(path) == before);
}

TEST_CASE("a file of a newer version is refused", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("new.planscope");
  {
    opened(path);
  }
  const int next = workspace_migrations().back().version + 1;
  sql(path, "PRAGMA user_version = " + std::to_string(next));
  CHECK(open_error(path) == path + ": the workspace cannot be used; it has version " + std::to_string(next) +
                                ", this program knows up to " + std::to_string(next - 1) + "; use a newer planscope");
}

TEST_CASE("damage is told, wherever it is", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("w.planscope");
  {
    Workspace w = opened(path);
    fill(w);
  }
  const std::string whole = bytes_of(path);
  const auto tells = [&](const std::string& bytes) {
    const std::string damaged = scratch.file("damaged.planscope");
    write(damaged, bytes);
    const Result<Workspace> r = Workspace::open(damaged, clock_of_host);
    const bool told = !r.ok() || !r->check().ok();
    fs::remove(damaged);
    return told;
  };
  CHECK_FALSE(tells(whole));
  CHECK(tells(whole.substr(0, whole.size() / 2)));
  CHECK(tells(whole.substr(0, 100)));
  std::string holes = whole;
  for (std::size_t at = 4096; at + 64 < holes.size(); at += 4096) holes.replace(at, 64, 64, '\xff');
  CHECK(tells(holes));
}

TEST_CASE("a locked file is told after the patience", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("w.planscope");
  Workspace w = opened(path);
  Result<Database> locker = Database::open(path, std::chrono::milliseconds(50));
  REQUIRE(locker->execute("BEGIN EXCLUSIVE").ok());
  Workspace other = opened(path);  // can be read meanwhile
  const Result<RowId> refused = other.add_plan({.name = "q", .text = ""});
  REQUIRE_FALSE(refused.ok());
  CHECK(to_string(refused.diagnostics.front()) ==
        path + ": the workspace cannot be used; another program has locked it; close the other program and try again");
  REQUIRE(locker->execute("ROLLBACK").ok());
  REQUIRE(w.add_plan({.name = "p", .text = ""}).ok());
}

TEST_CASE("a folder that is not there is told", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("no/w.planscope");
  CHECK(open_error(path) == path +
                                ": the workspace cannot be used; the file cannot be opened; does its folder exist, "
                                "and may it be written?");
}

TEST_CASE("a full disk is told as that, with the file", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("full.db");
  Result<Database> db = Database::open(path, std::chrono::milliseconds(50));
  REQUIRE(db.ok());
  REQUIRE(db->execute_script("CREATE TABLE t(text TEXT); PRAGMA max_page_count = 3").ok());
  const Result<Done> r = db->execute("INSERT INTO t VALUES (?)", {std::string(1 << 20, 'x')});
  CHECK(to_string(r.diagnostics) == path + ": the workspace cannot be used; No space left on device\n");
}

TEST_CASE("kill -9 loses nothing that was recorded", "[storage]") {
  const Scratch scratch;
  const std::string path = scratch.file("w.planscope");
  RowId plan = 0;
  {
    Workspace w = opened(path);
    plan = *w.add_plan({.name = "p", .text = "devices 1\n"});
  }
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t child = fork();
  if (child == 0) {
    Result<Workspace> w = Workspace::open(path, clock_of_host);
    const Result<RowId> run = w->start_run(plan, 2, this_process());
    for (int batch = 0;; ++batch) {
      const std::vector<SpanRow> spans(100, {0, batch, 0, "compute", 1.0 * batch, 1});
      const bool stored = w->add_spans(*run, spans).ok();
      if (!stored || ::write(channel[1], "x", 1) != 1) _exit(1);  // one byte per batch that is on disk
    }
  }
  close(channel[1]);
  char told[20];
  std::size_t batches = 0;
  while (batches < sizeof told) {
    const ssize_t n = ::read(channel[0], told, sizeof told - batches);
    REQUIRE(n > 0);
    batches += static_cast<std::size_t>(n);
  }
  kill(child, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  close(channel[0]);

  Workspace w = opened(path);
  CHECK(w.check().ok());
  const auto runs = w.runs(plan);
  REQUIRE(runs->size() == 1);
  CHECK(runs->front().status == RunStatus::running);
  const auto spans = w.spans(runs->front().id);
  CHECK(spans->size() >= 100 * batches);
  CHECK(spans->size() % 100 == 0);  // whole batches only
  CHECK(*w.close_abandoned_runs(is_alive) == 1);
}

TEST_CASE("migrations are applied once and in order, and all or none", "[storage]") {
  const Scratch scratch;
  const FakeClock clock(42);
  const Migration one[] = {{1, "first", "CREATE TABLE a(x INTEGER); INSERT INTO a VALUES (7)"}};
  const Migration two[] = {one[0], {2, "second", "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 5"}};
  const Migration broken[] = {
      one[0], two[1], {3, "third", "CREATE TABLE b(z INTEGER); INSERT INTO nowhere VALUES (1)"}};
  Database db = std::move(*Database::open(scratch.file("m.planscope"), std::chrono::milliseconds(50)));
  const auto number = [&](const std::string& text) {
    return db.select<std::int64_t>(text, {}, [](const Row& r) { return r.integer(0); })->at(0);
  };
  REQUIRE(migrate(db, one, clock).ok());
  CHECK(number("PRAGMA user_version") == 1);
  REQUIRE(migrate(db, two, clock).ok());
  REQUIRE(migrate(db, two, clock).ok());
  CHECK(number("PRAGMA user_version") == 2);
  CHECK(number("SELECT x + y FROM a") == 12);
  CHECK(number("SELECT count(*) FROM migrations WHERE applied_us = 42") == 2);
  CHECK_FALSE(migrate(db, broken, clock).ok());
  CHECK(number("PRAGMA user_version") == 2);
  CHECK(number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'") == 0);
}

TEST_CASE("files of every schema version open", "[storage]") {
  const Scratch scratch;
  for (const Migration& m : workspace_migrations()) {
    const std::string name = "version-" + std::to_string(m.version) + ".planscope";
    INFO(name);
    REQUIRE(fs::exists("tests/storage/old/" + name));
    fs::copy_file("tests/storage/old/" + name, scratch.file(name));
    Workspace w = opened(scratch.file(name));
    CHECK(w.check().ok());
    const auto plan = w.find_plan("data");
    REQUIRE(plan.ok());
    REQUIRE(plan->has_value());
    CHECK((**plan).text == "devices 2 as data=2\n");
    CHECK(w.history((**plan).id)->size() == 2);
    CHECK(w.model(*(**plan).model)->name == "tiny");
    const auto runs = w.runs((**plan).id);
    REQUIRE(runs->size() == 1);
    CHECK(w.spans(runs->front().id)->size() == 2);
    CHECK(w.predictions((**plan).id)->size() == 1);
    CHECK(w.verifications((**plan).id)->size() == 1);
    CHECK(w.find_profile("cpu", "add")->has_value());
  }
}

TEST_CASE("write the file of this schema version", "[.][make-old]") {
  const std::string path =
      "tests/storage/old/version-" + std::to_string(workspace_migrations().back().version) + ".planscope";
  REQUIRE_FALSE(fs::exists(path));
  Workspace w = opened(path);
  fill(w);
}
