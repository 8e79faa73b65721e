import Crypto
import KeyDirectory
import KeyLog
import Model
import Storage
import TestProofs
import Testing

@Suite("The directory of keys", .timeLimit(.minutes(2)))
struct KeyDirectoryTests {
  @Test(arguments: Place.allCases)
  func `a key is in the log before the answer, with what shows it`(place: Place) async throws {
    let log = try await TestLog(place)
    var client = log.client
    let empty = try await log.head()
    try client.take(empty, nil)
    #expect(empty.size == 0 && empty.root == .empty)
    let none = try await log.keys("ada", from: 0)
    #expect(none.keys.isEmpty && none.salt == nil && none.consistency == [])

    let key = try DeviceKey.random()
    let receipt = try await log.put("ada", "phone", key)
    #expect(receipt.isNew && receipt.head.size == 1 && receipt.proven.entry.leaf == 0)
    #expect(receipt.salt.count == 32 && receipt.proven.entry.key == key)
    try client.take(receipt.head, [])
    try client.check(receipt.proven, of: "ada", salt: receipt.salt, in: receipt.head)

    let answer = try await log.keys("ada", from: client.size)
    let keys = try client.take(answer, of: "ada")
    #expect(keys == ["phone": key])
    #expect(answer.keys == [receipt.proven] && answer.salt == receipt.salt)
    #expect(try await log.keys("ada").consistency == nil)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `every head follows each before it, and every key is proven, whatever was appended between`(
    place: Place
  ) async throws {
    let log = try await TestLog(place)
    let people = ["ada", "bob", "eve"]
    var (client, kept) = (log.client, [log.client])
    var expected: [String: [String: DeviceKey]] = [:]
    for number in 0..<36 {
      let (person, device) = (people[number % 3], "device \(number % 7)")
      if number % 5 == 4, expected[person]?[device] != nil {
        try await log.revoke(person, device)
        expected[person]?[device] = nil
      } else {
        let key = try DeviceKey.random()
        try await log.put(person, device, key)
        expected[person, default: [:]][device] = key
      }
      for person in people {
        let answer = try await log.keys(person, from: client.size)
        let keys = try client.take(answer, of: person)
        #expect(keys == expected[person, default: [:]])
      }
      kept.append(client)
    }
    let head = try await log.head()
    for then in kept {
      let path = try await log.directory.consistency(from: then.size, to: head.size).get()
      var late = then
      try late.take(head, path)
    }
    for (place, old) in kept.enumerated() {
      for new in kept[place...] {
        let path = try await log.directory.consistency(from: old.size, to: new.size).get()
        let follows = ProofVerifier.extends(
          old.root, oldSize: old.size, path: path, size: new.size, root: new.root)
        #expect(follows || old.size == 0)
      }
    }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `the same key once more is answered with the entry of then`(place: Place) async throws {
    let log = try await TestLog(place)
    let (key, other) = (try DeviceKey.random(), try DeviceKey.random())
    let first = try await log.put("ada", "phone", key)
    try await log.put("bob", "phone")
    let again = try await log.put("ada", "phone", key)
    #expect(!again.isNew && again.proven.entry == first.proven.entry && again.head.size == 2)
    try log.client.check(again.proven, of: "ada", salt: again.salt, in: again.head)
    // Another in its place, and then the first: that is news both times.
    let replaced = try await log.put("ada", "phone", other)
    let back = try await log.put("ada", "phone", key)
    #expect(replaced.isNew && back.isNew && back.proven.entry.leaf == 3)
    // Another algorithm's key isn't the same, nor is another device's.
    let tablet = try await log.put("ada", "tablet", key)
    #expect(tablet.isNew && tablet.salt == first.salt && tablet.proven.entry.id != back.proven.entry.id)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `a revoked key is current no more, and its revocation is an entry, once`(place: Place) async throws {
    let log = try await TestLog(place)
    var client = log.client
    let put = try await log.put("ada", "phone")
    try await log.put("ada", "tablet")
    let revoked = try await log.revoke("ada", "phone")
    #expect(revoked.isNew && revoked.proven.entry.leaf == 2 && revoked.proven.entry.key == nil)
    try client.take(revoked.head, nil)
    try client.check(revoked.proven, of: "ada", salt: put.salt, in: revoked.head)
    #expect(try await log.keys("ada").keys.map(\.entry.device) == ["tablet"])

    let again = try await log.revoke("ada", "phone")
    #expect(!again.isNew && again.proven.entry == revoked.proven.entry && again.head.size == 3)
    for (person, device) in [("ada", "watch"), ("bob", "phone"), ("", ""), ("ada", "")] {
      let refused = try await log.directory.revoke(device: device, of: person, at: TestLog.time)
      #expect(refused == .failure(.unknownDevice))
    }
    // A key that is put once more holds again.
    let back = try await log.put("ada", "phone", put.proven.entry.key)
    #expect(back.isNew && back.proven.entry.leaf == 3)
    #expect(try await log.keys("ada").keys.map(\.entry.device) == ["tablet", "phone"])
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `what was wrapped for a key that was replaced or revoked is stale`(place: Place) async throws {
    let log = try await TestLog(place)
    let directory = log.directory
    let old = try await log.put("ada", "phone").proven.entry.id
    #expect(try await directory.isCurrent(old, of: "ada", device: "phone"))
    #expect(try await !directory.isCurrent(old, of: "ada", device: "tablet"))
    #expect(try await !directory.isCurrent(old, of: "bob", device: "phone"))
    let tablet = try await log.put("ada", "tablet").proven.entry.id
    let new = try await log.put("ada", "phone").proven.entry.id
    #expect(try await !directory.isCurrent(old, of: "ada", device: "phone"))
    #expect(try await directory.isCurrent(new, of: "ada", device: "phone"))
    let ids = try await directory.currentKeyIDs(of: "ada")
    #expect(ids.map(\.device) == ["tablet", "phone"] && ids.map(\.id) == [tablet, new])
    #expect(try await log.keys("ada").keys.map(\.entry.id) == ids.map(\.id))
    try await log.revoke("ada", "phone")
    #expect(try await !directory.isCurrent(new, of: "ada", device: "phone"))
    #expect(try await directory.currentKeyIDs(of: "ada").map(\.id) == [tablet])
    #expect(try await directory.currentKeyIDs(of: "bob").isEmpty)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `all entries of a person come in pages, the newest first, each proven`(place: Place) async throws {
    let log = try await TestLog(place)
    #expect(try await log.directory.history(of: "ada", at: TestLog.time).entries.isEmpty)
    for number in 0..<11 {
      if number % 4 == 3 { try await log.revoke("ada", "phone") } else { try await log.put("ada", "phone") }
      try await log.put("bob", "phone")
    }
    var (found, before) = ([KeyEntry](), nil as Int?)
    repeat {
      let page = try await log.directory.history(of: "ada", before: before, limit: 4, at: TestLog.time)
      let client = log.client
      try client.check(page.head)
      for proven in page.entries {
        try client.check(proven, of: "ada", salt: try #require(page.salt), in: page.head)
      }
      #expect(page.entries.count == 4 || page.next == nil)
      found += page.entries.map(\.entry)
      before = page.next
    } while before != nil
    #expect(found.map(\.leaf) == (0..<11).map { $0 * 2 }.reversed())
    #expect(found.reversed().map { $0.key == nil } == (0..<11).map { $0 % 4 == 3 })
    // A limit that is none is held to what there may be.
    for (limit, count) in [(0, 1), (-5, 1), (Int.max, 11)] {
      let page = try await log.directory.history(of: "ada", limit: limit, at: TestLog.time)
      #expect(page.entries.count == count)
    }
    for before in [-1, 0, Int.min] {
      let page = try await log.directory.history(of: "ada", before: before, at: TestLog.time)
      #expect(page.entries.isEmpty && page.next == nil)
    }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `what the log never was is refused by name`(place: Place) async throws {
    let log = try await TestLog(place)
    for number in 0..<5 { try await log.put("ada", "device \(number)") }
    for head in [6, 99, Int.max, -1, Int.min] {
      let answer = try await log.directory.currentKeys(of: "ada", from: head, at: TestLog.time)
      #expect(answer == .failure(.noSuchHead(asked: head, size: 5)))
      let to = try await log.directory.consistency(from: 0, to: head)
      #expect(to == .failure(.noSuchHead(asked: head, size: 5)))
    }
    for (from, to) in [(4, 3), (-1, 5), (Int.max, 5), (Int.min, 0), (1, 0)] {
      let answer = try await log.directory.consistency(from: from, to: to)
      #expect(answer == .failure(.noSuchHead(asked: from, size: to)))
    }
    for (from, to) in [(0, 0), (0, 5), (5, 5), (3, 3)] {
      #expect(try await log.directory.consistency(from: from, to: to) == .success([]))
    }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `a person has keys for sixteen devices, and room again once one is revoked`(place: Place) async throws
  {
    let log = try await TestLog(place)
    for number in 0..<16 { try await log.put("ada", "device \(number)") }
    let key = try DeviceKey.random()
    let refused = try await log.directory.append(key, of: "ada", device: "one more", at: TestLog.time)
    #expect(refused == .failure(.tooManyDevices))
    #expect(try await log.head().size == 16)
    // Another key of one of them, and another person.
    try await log.put("ada", "device 3")
    try await log.put("bob", "one more")
    try await log.revoke("ada", "device 9")
    try await log.put("ada", "one more", key)
    var client = log.client
    let keys = try client.take(try await log.keys("ada"), of: "ada")
    #expect(keys.count == 16)
    #expect(try await log.directory.currentKeyIDs(of: "ada").count == 16)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `names are compared byte by byte, and bounded`(place: Place) async throws {
    let log = try await TestLog(place)
    let names = [
      "e\u{301}", "\u{E9}", "'; DROP TABLE key_log; --", "a\u{0}b", String(repeating: "x", count: 128),
    ]
    for (number, name) in names.enumerated() {
      let receipt = try await log.put(name, name)
      #expect(receipt.proven.entry.leaf == number)
      try log.client.check(receipt.proven, of: name, salt: receipt.salt, in: receipt.head)
    }
    for name in names { #expect(try await log.keys(name).keys.count == 1) }
    for name in ["\u{E9}", "e\u{301}"] { try await log.put("ada", name) }
    #expect(try await log.keys("ada").keys.count == 2)
    let key = try DeviceKey.random()
    for name in ["", String(repeating: "x", count: 129), String(repeating: "é", count: 65)] {
      for (person, device) in [(name, "phone"), ("ada", name)] {
        let refused = try await log.directory.append(key, of: person, device: device, at: TestLog.time)
        #expect(refused == .failure(.badName))
      }
    }
    #expect(try await log.head().size == names.count + 2)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `what stands in one transaction is done together or not at all`(place: Place) async throws {
    let log = try await TestLog(place)
    let directory = log.directory
    let (key, other) = (try DeviceKey.random(), try DeviceKey.random())
    await #expect(throws: StoreError.refused("no")) {
      try await log.store.write(bytes: 1) { transaction throws(StoreError) in
        _ = try directory.append(key, of: "ada", device: "phone", at: TestLog.time, in: transaction)
        throw .refused("no")
      }
    }
    #expect(try await log.head().size == 0)
    #expect(try await log.keys("ada").salt == nil)
    let sizes = try await log.store.write(bytes: 1) { transaction throws(StoreError) in
      let first = try directory.append(key, of: "ada", device: "phone", at: TestLog.time, in: transaction)
      let second = try directory.append(other, of: "ada", device: "phone", at: TestLog.time, in: transaction)
      let third = try directory.revoke(device: "phone", of: "ada", at: TestLog.time, in: transaction)
      return [first, second, third].map { (try? $0.get())?.head.size }
    }
    #expect(sizes == [1, 2, 3])
    #expect(try await log.keys("ada").keys.isEmpty)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `keys that come at the same time have a place each`(place: Place) async throws {
    let log = try await TestLog(place)
    var receipts: [KeyReceipt] = []
    try await withThrowingTaskGroup(of: KeyReceipt.self) { group in
      for number in 0..<60 { group.addTask { try await log.put("person \(number % 9)", "device \(number)") } }
      for try await receipt in group { receipts.append(receipt) }
    }
    #expect(receipts.map(\.proven.entry.leaf).sorted() == Array(0..<60))
    var client = log.client
    for receipt in receipts.sorted(by: { $0.head.size < $1.head.size }) {
      let path = try await log.directory.consistency(from: client.size, to: receipt.head.size).get()
      try client.take(receipt.head, path)
    }
    await log.close()
  }

  @Test func `what is no key of its algorithm is refused before it comes to the log`() throws {
    let point = Array(try SigningKey().publicKey.suffix(65))
    #expect(throws: KeyRefusal.badKey(.noPoint)) { try DeviceKey(.p256, Array(point.dropLast())) }
    #expect(throws: KeyRefusal.badKey(.noRSAKey)) { try DeviceKey(.rsaOAEP256, point) }
    #expect(throws: KeyRefusal.badKey(.noRSAKey)) { try DeviceKey(.rsaOAEP256, []) }
    #expect(throws: KeyRefusal.tooLarge(bytes: 4_097)) {
      try DeviceKey(.rsaOAEP256, [UInt8](repeating: 0x30, count: 4_097))
    }
    #expect(KeyAlgorithm(name: "p256") == .p256 && KeyAlgorithm(name: "rsa-oaep-256") == .rsaOAEP256)
    for name in ["", "P256", "rsa", "rsa-oaep-256 "] { #expect(KeyAlgorithm(name: name) == nil) }
  }

  @Test func `a head that another key has signed is refused`() async throws {
    let (log, other) = (try await TestLog(.memory), try await TestLog(.memory))
    try await log.put("ada", "phone")
    var client = other.client
    let head = try await log.head()
    #expect(throws: ClientMemory.Refusal.badSignature) { try client.take(head, nil) }
    await log.close()
    await other.close()
  }
}
