internal import Foundation
package import Storage
internal import Synchronization
internal import Testing

/// Both kinds of store, each test of which runs on an empty database of its own.
package enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case sqlite = "SQLite"
  case postgreSQL = "PostgreSQL"

  package var testDescription: String { rawValue }

  package func makeLocation() throws -> StoreLocation {
    switch self {
    case .sqlite: .directory(temporaryDirectory())
    case .postgreSQL: .postgreSQL(try PostgreSQLServer.shared().makeDatabase().text)
    }
  }
}

/// A path at which nothing is yet; what comes to be there goes with the process.
package func temporaryDirectory() -> String {
  let path = FileManager.default.temporaryDirectory.path + "/roost-store-\(UUID().uuidString)"
  let isFirst = temporaryDirectories.withLock { all in
    all.append(path)
    return all.count == 1
  }
  if isFirst {
    atexit {
      for path in temporaryDirectories.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }
  }
  return path
}

private let temporaryDirectories = Mutex<[String]>([])
