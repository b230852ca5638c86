#pragma once
// The tables of a workspace file, as a list of migrations: version n is what migrations 1 to n make of an empty file.
// A migration is never changed once released; a change of the tables is a new one, with a new file in
// tests/storage/old. The file's version is SQLite's user_version; the table `migrations` says when each step was made.
#include <span>

#include "engine/base/clock.h"
#include "storage/database.h"

namespace planscope {

struct Migration {
  int version;
  const char* about;
  const char* sql;
};

std::span<const Migration> workspace_migrations();

// SQLite's application_id of our files ("PlSc"), by which other programs' files are told from ours.
constexpr std::int64_t workspace_application_id = 0x506c5363;

// Brings an empty or older file up to the last of `migrations`, in one transaction. Errors: a SQLite file of another
// program, a file of a newer version, a damaged or locked file; the file is then as it was.
Result<Done> migrate(Database&, std::span<const Migration> migrations, const Clock&);

// Of a file that may only be read: whether it is one of ours and of the last version. Errors: as above, or an older version.
Result<Done> check_version(Database&, std::span<const Migration> migrations);

}  // namespace planscope
