import Storage
import TestStores

/// Where the store of a test is: each on an empty one of its own.
enum Place: String, CaseIterable, Sendable, CustomStringConvertible {
  case memory = "memory"
  case directory = "SQLite"
  case postgreSQL = "PostgreSQL"

  var description: String { rawValue }

  func makeLocation() throws -> StoreLocation {
    switch self {
    case .memory: .memory
    case .directory: try StoreKind.sqlite.makeLocation()
    case .postgreSQL: try StoreKind.postgreSQL.makeLocation()
    }
  }
}
