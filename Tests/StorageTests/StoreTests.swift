import Foundation
import Logging
import TestStores
import Testing

@testable import Storage

@Suite("A store, of either kind", .timeLimit(.minutes(2)))
struct StoreTests {
  @Test(arguments: StoreKind.allCases)
  func `what is written is read again, byte for byte`(kind: StoreKind) async throws {
    let store = try await Store.open(kind.makeLocation())
    let rows: [[SQLValue]] = [
      [.integer(1), .text("ada"), .bytes([0, 255, 7]), .integer(Int64.max)],
      [.integer(2), .text(""), .bytes([]), .integer(Int64.min)],
      [
        .integer(3), .text("e\u{301} ≠ é \u{10FFFF} '\";--"), .bytes(Array(repeating: 9, count: 1_048_576)),
        .null,
      ],
      [.integer(4), .null, .null, .integer(-1)],
    ]
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run(
        kind == .sqlite
          ? "CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT, body BLOB, size BIGINT)"
          : "CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT, body BYTEA, size BIGINT)")
      try transaction.run("INSERT INTO things (id, name, body, size) VALUES ($1, $2, $3, $4)", each: rows)
    }
    let found = try await store.read { transaction throws(StoreError) in
      try transaction.run("SELECT id, name, body, size FROM things ORDER BY id").map(\.values)
    }
    #expect(found == rows)
    // Places are named by their numbers, not by where they stand.
    let turned = try await store.read { transaction throws(StoreError) in
      try transaction.run("SELECT id FROM things WHERE name = $2 AND id = $1", [.integer(1), .text("ada")])
    }
    #expect(turned.map(\.values) == [[.integer(1)]])
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `writes that wait at the same time are one transaction with one sync, in the order in which they came`(
    kind: StoreKind
  ) async throws {
    let store = try await Store.open(kind.makeLocation())
    try await store.write(bytes: 0) { transaction throws(StoreError) in
      try transaction.run(
        kind == .sqlite
          ? "CREATE TABLE list (place INTEGER PRIMARY KEY, number BIGINT)"
          : "CREATE TABLE list (place BIGSERIAL PRIMARY KEY, number BIGINT)")
    }
    let before = store.report
    let gate = Gate()
    let held = gate.hold(store)
    try await gate.reached()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<500 {
        // One after the other into the queue, and then all at once.
        group.addTask(priority: .high) {
          _ = try? await store.write(bytes: 8) { transaction throws(StoreError) in
            try transaction.run("INSERT INTO list (number) VALUES ($1)", [.integer(number)])
          }
        }
        while store.report.waiting < number + 2 { await Task.yield() }
      }
      gate.open()
    }
    try await held.value
    let after = store.report
    #expect(after.writes - before.writes == 501)
    #expect(after.syncs - before.syncs == 2, "the one that was held, and all others")
    let found = try await store.read { transaction throws(StoreError) in
      try transaction.run("SELECT number FROM list ORDER BY place").map(\.values)
    }
    #expect(found == (0..<500).map { [.integer($0)] })
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `a write that is refused undoes itself and no other of its group`(kind: StoreKind) async throws {
    let store = try await Store.open(kind.makeLocation())
    try await store.makeNumbers()
    try await store.add(7)
    let gate = Gate()
    let held = gate.hold(store)
    try await gate.reached()
    async let first: Void = store.add(1)
    let bad = Task {
      try await store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("INSERT INTO numbers (number) VALUES ($1)", [.integer(2)])
        try transaction.run(
          "INSERT INTO numbers (number) VALUES ($1)", each: [[.integer(3)], [.integer(7)], [.integer(4)]])
      }
    }
    async let last: Void = store.add(5)
    while store.report.waiting < 4 { await Task.yield() }
    gate.open()
    try await held.value
    try await first
    try await last
    let error = await #expect(throws: StoreError.self) { try await bad.value }
    #expect(error?.reason == "refused" && error?.mayBeDone == false)
    #expect(try await store.numbers() == [1, 5, 7])
    #expect(store.report.failures["refused"] == 1 && store.report.isUp)
    // Alone it undoes itself as well.
    await #expect(throws: StoreError.self) { try await store.add(7) }
    try await store.add(8)
    #expect(try await store.numbers() == [1, 5, 7, 8])
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `a write that finds what it can't read undoes itself and no other of its group`(kind: StoreKind)
    async throws
  {
    let store = try await Store.open(kind.makeLocation())
    try await store.makeNumbers()
    let gate = Gate()
    let held = gate.hold(store)
    try await gate.reached()
    async let first: Void = store.add(1)
    let bad = Task {
      try await store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("INSERT INTO numbers (number) VALUES ($1)", [.integer(2)])
        return try transaction.run("SELECT number FROM numbers").first?.text(0)
      }
    }
    async let last: Void = store.add(3)
    while store.report.waiting < 4 { await Task.yield() }
    gate.open()
    try await held.value
    try await first
    try await last
    let error = await #expect(throws: StoreError.self) { try await bad.value }
    #expect(error?.reason == "unreadable" && error?.mayBeDone == false)
    #expect(try await store.numbers() == [1, 3])
    #expect(store.report.failures["unreadable"] == 1 && store.report.isUp)
    // So does a read, and one that is alone.
    await #expect(throws: StoreError.self) {
      try await store.read { transaction throws(StoreError) in
        try transaction.run("SELECT number FROM numbers").first?.bytes(0)
      }
    }
    #expect(store.report.failures["unreadable"] == 2 && store.report.isUp)
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `what is refused is said without the values of its row`(kind: StoreKind) async throws {
    let store = try await Store.open(kind.makeLocation())
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run("CREATE TABLE words (word TEXT NOT NULL PRIMARY KEY)")
      try transaction.run("INSERT INTO words (word) VALUES ($1)", [.text("hush")])
    }
    let error = await #expect(throws: StoreError.self) {
      try await store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("INSERT INTO words (word) VALUES ($1)", [.text("hush")])
      }
    }
    let words = "\(error ?? .closed)"
    #expect(error?.reason == "refused" && !words.contains("hush"), "\(words)")
    // PostgreSQL's code and its first line, which names the constraint.
    if kind == .postgreSQL { #expect(words.contains("23505: ") && words.contains("words_pkey"), "\(words)") }
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `what fails in the database as a whole fails all of the group, and the next is done`(kind: StoreKind)
    async throws
  {
    let lines = Lines()
    let store = try await Store.open(try kind.makeLocation(), log: lines.log)
    try await store.makeNumbers()
    let gate = Gate()
    let held = gate.hold(store)
    try await gate.reached()
    let good = Task { try await store.add(1) }
    let bad = Task {
      try await store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("INSERT INTO nowhere (number) VALUES ($1)", [.integer(2)])
      }
    }
    while store.report.waiting < 3 { await Task.yield() }
    gate.open()
    try await held.value
    await #expect(throws: StoreError.self) { try await good.value }
    await #expect(throws: StoreError.self) { try await bad.value }
    #expect(!store.report.isUp)
    #expect(try await store.numbers().isEmpty)
    try await store.add(3)
    #expect(try await store.numbers() == [3] && store.report.isUp)
    #expect(lines.all.filter { $0.contains("nothing can be stored") }.count == 1)
    #expect(lines.all.filter { $0.contains("storing again") }.count == 1)
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `a second server is refused, and gets it once the first has gone`(kind: StoreKind) async throws {
    let location = try kind.makeLocation()
    let first = try await Store.open(location)
    try await first.makeNumbers()
    try await first.add(1)
    let refused = await #expect(throws: StoreError.self) { _ = try await Store.open(location) }
    let words = "\(refused ?? .closed)"
    #expect(refused?.reason == "inUse" && words.contains("stop the other"))
    // It is said who has it.
    let holder = kind == .sqlite ? "(process \(getpid()) on " : "(PostgreSQL's process "
    #expect(words.contains(holder) && words.contains("since 20"), "\(words)")
    if kind == .postgreSQL { #expect(words.contains(" of roost "), "\(words)") }
    // The first noticed nothing.
    try await first.add(2)
    await first.close()
    let second = try await Store.open(location)
    #expect(try await second.numbers() == [1, 2])
    await second.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `what waits is bounded in bytes, counted, and what is refused was not done`(kind: StoreKind)
    async throws
  {
    let store = try await Store.open(try kind.makeLocation(), queueBytes: 1_000, log: silent)
    try await store.makeNumbers()
    let gate = Gate()
    let held = gate.hold(store)
    try await gate.reached()
    async let fits: Void = store.add(1, bytes: 900)
    while store.report.waiting < 2 { await Task.yield() }
    await #expect(throws: StoreError.queueFull) { try await store.add(2, bytes: 100) }
    async let small: Void = store.add(3, bytes: 99)
    while store.report.waiting < 3 { await Task.yield() }
    #expect(store.report.waitingBytes == 1_000)
    gate.open()
    try await held.value
    try await fits
    try await small
    // One alone may be larger than all.
    try await store.add(4, bytes: 5_000)
    #expect(try await store.numbers() == [1, 3, 4])
    #expect(store.report.failures["queueFull"] == 1)
    #expect(store.report.waiting == 0 && store.report.waitingBytes == 0)
    await store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `what waits as it closes is done, and nothing is taken after`(kind: StoreKind) async throws {
    let location = try kind.makeLocation()
    let store = try await Store.open(location)
    try await store.makeNumbers()
    let gate = Gate()
    let held = gate.hold(store)
    try await gate.reached()
    async let waiting: Void = store.add(1)
    while store.report.waiting < 2 { await Task.yield() }
    async let closing: Void = store.close()
    gate.open()
    try await held.value
    try await waiting
    await closing
    await #expect(throws: StoreError.closed) { try await store.add(2) }
    let again = try await Store.open(location)
    #expect(try await again.numbers() == [1])
    await again.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `many rows go and come, whatever is on the way at once`(kind: StoreKind) async throws {
    let store = try await Store.open(kind.makeLocation())
    try await store.makeNumbers()
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run(
        "INSERT INTO numbers (number) VALUES ($1)", each: (0..<5_000).map { [.integer($0)] })
      try transaction.run("DELETE FROM numbers WHERE number = $1", each: (0..<4_000).map { [.integer($0)] })
      try transaction.run("DELETE FROM numbers WHERE number = $1", each: [])
    }
    #expect(try await store.numbers() == Array(4_000..<5_000))
    await store.close()
  }

  @Test func `memory ends with its store`() async throws {
    let store = try await Store.open(.memory)
    try await store.makeNumbers()
    try await store.add(1)
    await store.close()
    let other = try await Store.open(.memory)
    await #expect(throws: StoreError.self) { try await other.numbers() }
    await other.close()
  }
}
