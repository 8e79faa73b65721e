#pragma once
// SQLite's variadic configuration and the macro of its destructors, which Swift cannot import. No logic lives here.
#include <sqlite3.h>
#include <sys/file.h>

/// The value is copied before the call returns.
static inline int roost_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *value, sqlite3_uint64 size) {
  return sqlite3_bind_blob64(statement, index, value, size, SQLITE_TRANSIENT);
}
static inline int roost_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *value, sqlite3_uint64 size) {
  return sqlite3_bind_text64(statement, index, value, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}
