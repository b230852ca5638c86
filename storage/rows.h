#pragma once
// The rows of a workspace, as plain structs.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"
#include "engine/base/process_identity.h"

namespace planscope {

using RowId = std::int64_t;  // from 1; 0: not stored yet

struct ModelRow {
  RowId id = 0;
  std::string digest = {};  // of the file's content; the key
  std::string name = {};
  std::string path = {};  // where it was last seen
  std::string info = "{}";
  std::int64_t created_us = 0;  // wall time; set by the workspace, as in all rows
  bool operator==(const ModelRow&) const = default;
};

struct PlanRow {
  RowId id = 0;
  std::optional<RowId> model = {};
  std::optional<RowId> parent = {};  // the plan that this one was edited from
  std::string name = {};
  std::string text = {};
  std::int64_t created_us = 0;
  std::string path = {};  // of the file that it was kept of; empty: of none, or that is not known
  bool operator==(const PlanRow&) const = default;
};

struct ClusterRow {
  RowId id = 0;
  std::string digest = {};  // the key
  std::string name = {};
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const ClusterRow&) const = default;
};

struct PredictionRow {
  RowId id = 0;
  RowId plan = 0;
  RowId cluster = 0;
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const PredictionRow&) const = default;
};

struct VerificationRow {
  RowId id = 0;
  RowId plan = 0;
  std::string verdict = {};
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const VerificationRow&) const = default;
};

enum class RunStatus { running, done, failed, interrupted };
std::string_view to_string(RunStatus);

struct RunRow {
  RowId id = 0;
  RowId plan = 0;
  int ranks = 0;
  RunStatus status = RunStatus::running;
  ProcessIdentity process = {};  // that runs it
  std::int64_t started_us = 0;
  std::optional<std::int64_t> ended_us = {};
  std::string result = {};  // JSON; empty while running
  bool operator==(const RunRow&) const = default;
};

struct SpanRow {
  int rank = 0;
  int step = 0;
  std::int64_t instruction = 0;  // index in the rank's instruction list
  std::string kind = {};         // "compute", "all_reduce", "wait", …
  double start_us = 0;           // since the run began
  double dur_us = 0;
  bool operator==(const SpanRow&) const = default;
};

// What is being edited and not kept yet, written at every edit: what a program that ends in any way leaves behind.
struct DraftRow {
  RowId id = 0;
  std::string model = {};  // path
  std::string name = {};   // of the plan
  std::string path = {};   // of its file; empty: none
  std::string cluster = {};
  std::optional<RowId> version = {};  // the kept plan that it was edited from
  std::string text = {};
  ProcessIdentity process = {};  // that edits it
  std::int64_t written_us = 0;
  std::optional<std::string> saved = {};  // what its file held when it was opened or saved last
  bool operator==(const DraftRow&) const = default;
};

// A device with how many profiles of it there are; `id`: of the first of them.
struct ProfiledDevice {
  RowId id = 0;
  std::string device = {};
  std::int64_t profiles = 0;
  bool operator==(const ProfiledDevice&) const = default;
};

// What a person can name, note and delete. A plan is all versions of one name on one model that were edited from one another, and
// is meant by any of them; a profile is all that was measured on a device, and is meant by the first of its rows.
enum class EntryKind { model, plan, version, run, cluster, profile };
std::string_view to_string(EntryKind);
std::optional<EntryKind> entry_kind(std::string_view name);

// A name (of versions and runs) and a note, of one row.
struct LabelRow {
  EntryKind kind = EntryKind::version;  // not plan
  RowId id = 0;
  std::string name = {}, note = {};
  bool operator==(const LabelRow&) const = default;
};

// How much is deleted with a row.
struct RemovedRows {
  std::int64_t versions = 0, runs = 0, predictions = 0, profiles = 0;
  bool operator==(const RemovedRows&) const = default;
};

struct ProfileRow {
  RowId id = 0;
  std::string device = {};     // key, with the signature
  std::string signature = {};  // of the operator: target, shapes, types
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const ProfileRow&) const = default;
};

}  // namespace planscope
