import Foundation
public import Storage
import Synchronization

/// Both kinds of store, each test of which runs on an empty database of its own.
public enum StoreKind: String, CaseIterable, Sendable, CustomStringConvertible {
  case sqlite = "SQLite"
  case postgreSQL = "PostgreSQL"

  public var description: String { rawValue }

  public func makeLocation() throws -> StoreLocation {
    switch self {
    case .sqlite: .directory(temporaryDirectory())
    case .postgreSQL: .postgreSQL(try PostgreSQLServer.shared().makeDatabase().text)
    }
  }
}

/// A path at which nothing is yet; what comes to be there goes with the process.
public func temporaryDirectory() -> String {
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
