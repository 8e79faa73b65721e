import TestStores
import Testing

@testable import Storage

@Suite("Whether a store does what it is asked", .timeLimit(.minutes(1)))
struct StoreHealthTests {
  @Test func `a full disk stores nothing, whatever is read and however often nothing is changed`() {
    var health = StoreHealth()
    health.note(.diskFull("4 MB"), isWrite: true, changed: false)
    for isWrite in [false, true, false] {
      health.note(nil, isWrite: isWrite, changed: false)
      #expect(health.problem == .diskFull("4 MB"))
    }
    health.note(nil, isWrite: true, changed: true)
    #expect(health.problem == nil)
  }

  @Test func `a database that is reached again is well by what is done first`() {
    for error in [StoreError.unreachable("a"), .connectionLost("b")] {
      for isWrite in [false, true] {
        var health = StoreHealth()
        health.note(error, isWrite: isWrite, changed: false)
        #expect(health.problem == error)
        health.note(nil, isWrite: false, changed: false)
        #expect(health.problem == nil)
      }
    }
  }

  @Test func `what could not be read is forgotten with the next that can, and a write keeps its own`() {
    var health = StoreHealth()
    health.note(.failed("read"), isWrite: false, changed: false)
    health.note(.failed("write"), isWrite: true, changed: false)
    health.note(nil, isWrite: false, changed: false)
    #expect(health.problem == .failed("write"))
    health.note(nil, isWrite: true, changed: true)
    health.note(.failed("read"), isWrite: false, changed: false)
    health.note(nil, isWrite: false, changed: false)
    #expect(health.problem == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `the log says once that nothing can be stored, also while it can be read, and once that it goes again`(
    kind: StoreKind
  ) async throws {
    let lines = Lines()
    let store = try await Store.open(try kind.makeLocation(), log: lines.log)
    try await store.makeNumbers()
    for number in 0..<5 {
      await #expect(throws: StoreError.self) {
        try await store.write(bytes: 1) { transaction throws(StoreError) in
          try transaction.run("INSERT INTO nowhere (number) VALUES ($1)", [.integer(number)])
        }
      }
      #expect(try await store.numbers().isEmpty)
      #expect(!store.report.isUp)
    }
    try await store.add(1)
    #expect(store.report.isUp)
    #expect(lines.all.filter { $0.contains("nothing can be stored") }.count == 1)
    #expect(lines.all.filter { $0.contains("storing again") }.count == 1)
    await store.close()
  }

  @Test func `in SQLite a write that changes nothing says nothing`() async throws {
    let store = try await Store.open(StoreKind.sqlite.makeLocation())
    try await store.makeNumbers()
    await #expect(throws: StoreError.self) {
      try await store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("INSERT INTO nowhere (number) VALUES (1)")
      }
    }
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run("DELETE FROM numbers WHERE number = 7")
    }
    #expect(!store.report.isUp)
    try await store.add(7)
    #expect(store.report.isUp)
    await store.close()
  }
}
