/// Where a store keeps what it is given.
public enum StoreLocation: Equatable, Sendable {
  /// In SQLite's memory: it ends with the process.
  case memory
  /// In SQLite's file `roost.db` in a directory, which is made where it is missing.
  case directory(String)
  /// In a PostgreSQL database, by a connection string of libpq's: `postgresql://user@host/database` or `host=… dbname=…`.
  case postgreSQL(String)

  func makeDatabase() -> any Database {
    switch self {
    case .memory: SQLiteDatabase(directory: nil)
    case .directory(let path): SQLiteDatabase(directory: path)
    case .postgreSQL(let text): PostgreSQLDatabase(text)
    }
  }
}
