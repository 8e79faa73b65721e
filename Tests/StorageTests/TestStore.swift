import Foundation
import Logging
import Synchronization

@testable import Storage

let silent = Log(level: .error) { _ in }

/// The log's lines.
final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  var log: Log { Log(level: .info) { [self] line in lines.withLock { $0.append(line) } } }
}

extension Store {
  static func open(_ location: StoreLocation) async throws(StoreError) -> Store {
    try await open(location, log: silent)
  }

  /// A table of numbers, in which each is once.
  func makeNumbers() async throws {
    try await write(bytes: 0) { transaction throws(StoreError) in
      try transaction.run("CREATE TABLE numbers (number BIGINT NOT NULL PRIMARY KEY)")
    }
  }

  func add(_ number: Int, bytes: Int = 8) async throws(StoreError) {
    try await write(bytes: bytes) { transaction throws(StoreError) in
      try transaction.run("INSERT INTO numbers (number) VALUES ($1)", [.integer(number)])
    }
  }

  func numbers() async throws -> [Int] {
    try await read { transaction throws(StoreError) in
      try transaction.run("SELECT number FROM numbers ORDER BY number").map { row throws(StoreError) in
        Int(try row.integer(0))
      }
    }
  }
}

/// Has a store's thread wait until it is let go on.
final class Gate: Sendable {
  private let isOpen = Atomic<Bool>(false)
  private let isReached = Atomic<Bool>(false)

  func hold(_ store: Store) -> Task<Void, any Error> {
    let task = Task { [self] in
      try await store.write(bytes: 1) { [self] _ throws(StoreError) in
        self.isReached.store(true, ordering: .releasing)
        for _ in 0..<30_000 where !self.isOpen.load(ordering: .acquiring) { usleep(1_000) }
      }
    }
    return task
  }

  func reached() async throws {
    while !isReached.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
  }

  func open() { isOpen.store(true, ordering: .releasing) }
}
