import Crypto
import KeyDirectory
import Logging
import Model
import Storage

/// A directory of keys on a store, asked in few words.
struct TestLog: Sendable {
  static let time = WallTime(milliseconds: 1_790_000_000_000)

  let store: Store
  let directory: KeyDirectory

  init(_ location: StoreLocation, signingKey: String? = nil) async throws {
    store = try await Store.open(location, log: Log(level: .error) { _ in })
    directory = try await KeyDirectory.open(in: store, signingKey: signingKey)
  }

  init(_ place: Place) async throws { try await self.init(place.makeLocation()) }

  func close() async { await store.close() }

  /// A client that has seen nothing yet.
  var client: ClientMemory { ClientMemory(logKey: directory.publicKey) }

  @discardableResult
  func put(_ person: String, _ device: String, _ key: DeviceKey? = nil) async throws -> KeyReceipt {
    try await directory.append(key ?? .random(), of: person, device: device, at: Self.time).get()
  }

  @discardableResult
  func revoke(_ person: String, _ device: String) async throws -> KeyReceipt {
    try await directory.revoke(device: device, of: person, at: Self.time).get()
  }

  func keys(_ person: String, from head: Int? = nil) async throws -> KeyAnswer {
    try await directory.currentKeys(of: person, from: head, at: Self.time).get()
  }

  func head() async throws -> SignedHead { try await directory.head(at: Self.time) }

  /// What somebody else does to the database.
  func run(_ statement: SQLStatement, _ values: [SQLValue] = []) async throws {
    try await store.write(bytes: 0) { transaction throws(StoreError) in
      _ = try transaction.run(statement, values)
    }
  }

  func rows(_ statement: SQLStatement, _ values: [SQLValue] = []) async throws -> [[SQLValue]] {
    try await store.read { transaction throws(StoreError) in
      try transaction.run(statement, values).map(\.values)
    }
  }
}

extension KeyDirectory {
  /// As those do it who erase people: at once what shows the person, and then the rest, some at a time.
  @discardableResult
  func erase(_ person: String, in transaction: borrowing Transaction) throws(StoreError) -> Bool {
    let isKnown = try beginErasing(person, in: transaction)
    while try eraseEntries(of: person, limit: 2, in: transaction) == 2 {}
    return isKnown
  }

  /// The same by itself.
  @discardableResult
  func erase(_ person: String) async throws(StoreError) -> Bool {
    try await store.write(bytes: 512) { transaction throws(StoreError) in
      try erase(person, in: transaction)
    }
  }
}

extension DeviceKey {
  /// A point that no other key is.
  static func random() throws -> DeviceKey { try DeviceKey(.p256, Array(SigningKey().publicKey.suffix(65))) }
}
