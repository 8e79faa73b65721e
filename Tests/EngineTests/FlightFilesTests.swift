import Foundation
import Logging
import Model
import Peer
import Synchronization
import TestScripts
import Testing

@testable import Engine

@Suite("Files of sessions that failed", .timeLimit(.minutes(1)))
struct FlightFilesTests {
  private let place = FileManager.default.temporaryDirectory.appending(path: "flights-\(UUID().uuidString)")
  private static let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000))

  private func makePlace() throws {
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
  }

  private func names() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []).sorted()
  }

  private func files(
    _ bridge: Bridge, files: Int = 10, bytes: Int = 1_000_000, log: Log = Log(level: .error)
  ) throws -> FlightFiles {
    try FlightFiles(
      directory: place.path, files: files, bytes: bytes, bridge: bridge, epoch: Self.epoch, log: log)
  }

  private func bridge() -> Bridge { Bridge(workers: 1, wake: { _ in }, eventsReady: {}) }

  private func fail(_ name: String) -> FailedFlight {
    FailedFlight(.none, .connectionLost, room: "r", identity: "ada", name: name, title: name)
  }

  @Test func `a file is there with its whole contents, for its owner alone, and is counted`() throws {
    try makePlace()
    defer { try? FileManager.default.removeItem(at: place) }
    let bridge = bridge()
    #expect(!bridge.flights.take(), "before there is a place for them")
    let files = try files(bridge)
    #expect(bridge.flights.take())
    files.write(fail("PA_abc-1"))
    files.stop()
    let name = try #require(names().first)
    #expect(names().count == 1 && name.hasPrefix("flight-2023-11-14T22-13-20.000Z-"))
    #expect(name.hasSuffix("-PA_abc-1-connectionLost.pcapng"))
    let file = try Data(contentsOf: place.appending(path: name))
    #expect(CapturedPackets(Array(file)) != nil && file.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
    let mode = try FileManager.default.attributesOfItem(atPath: place.appending(path: name).path)[
      .posixPermissions]
    #expect(mode as? Int == 0o600)
    #expect(files.counts.written == 1 && files.counts.files == 1 && files.counts.bytes == file.count)
    #expect(bridge.flights.waiting == 0)
  }

  @Test func `the oldest make room, in number and in bytes, those of an earlier process too`() throws {
    try makePlace()
    defer { try? FileManager.default.removeItem(at: place) }
    for (name, size) in [
      ("flight-2000.pcapng", 10), ("flight-2001.pcapng", 20), ("other.pcapng", 30), ("flight-2002.txt", 5),
    ] {
      try Data(repeating: 0, count: size).write(to: place.appending(path: name))
    }
    let directory = FlightDirectory(place.path, files: 3, bytes: 1_000)
    #expect(directory.kept == (2, 30))
    for number in 1...2 { #expect(directory.write([1, 2, 3], as: "flight-3000-\(number).pcapng") == nil) }
    #expect(
      names() == [
        "flight-2001.pcapng", "flight-2002.txt", "flight-3000-1.pcapng", "flight-3000-2.pcapng",
        "other.pcapng",
      ])
    #expect(directory.write([UInt8](repeating: 1, count: 998), as: "flight-3001.pcapng") == nil)
    #expect(names() == ["flight-2002.txt", "flight-3001.pcapng", "other.pcapng"])
    #expect(directory.kept == (1, 998))
    #expect(directory.write([UInt8](repeating: 1, count: 1_001), as: "flight-3002.pcapng") != nil)
    #expect(directory.kept == (1, 998), "what can't be kept at all costs no other its place")
  }

  private func name(_ room: String, _ identity: String, at second: Int, _ name: String = "PA_1-1")
    -> FlightName
  {
    FlightName(
      at: WallTime(milliseconds: Int64(second) * 1_000), room: room, identity: identity, name,
      reason: "connectionLost")
  }

  @Test func `a name has nothing in it as a stranger said it`() {
    let strange = "../../etc/pass wd\n\u{0}é" + String(repeating: "x", count: 500)
    let name = FlightName(
      at: WallTime(milliseconds: 0), room: strange, identity: strange, strange, reason: "a/b"
    ).text
    #expect(name.hasPrefix("flight-1970-01-01T00-00-00.000Z-"))
    #expect(name.contains("-..-..-etc-pass-wd---"))
    #expect(name.hasSuffix("-a-b.pcapng") && name.utf8.count < 160 && !name.contains("/"))
    #expect(name.utf8.allSatisfy { $0 > 32 && $0 < 127 })
  }

  @Test func `whose a file is can be read from its name, and of one of another form it isn't known`() throws {
    let one = name("r", "ada", at: 1)
    let read = try #require(FlightName(file: one.text))
    #expect(read.text == one.text && read.room == one.room && read.identity == one.identity)
    #expect(one.room.utf8.count == 16 && one.room != one.identity)
    #expect(name("r", "bob", at: 1).room == one.room && name("r", "bob", at: 1).identity != one.identity)
    for other in [
      "flight-2000.pcapng", "flight-2023-11-14T22-13-20.000Z-PA_abc-1-connectionLost.pcapng",
      "flight-------.pcapng", "flight-.pcapng",
    ] {
      let old = try #require(FlightName(file: other))
      #expect(old.room.isEmpty && old.identity.isEmpty)
    }
    #expect(FlightName(file: "flight-1.txt") == nil && FlightName(file: ".flight-unfinished") == nil)
  }

  @Test func `who fails sessions on purpose costs the files of its own room and of its own identity alone`()
    throws
  {
    try makePlace()
    defer { try? FileManager.default.removeItem(at: place) }
    var directory = FlightDirectory(place.path, files: 6, bytes: 1_000)
    func write(_ room: String, _ identity: String, _ second: Int, bytes: Int = 1) throws {
      #expect(
        directory.write([UInt8](repeating: 0, count: bytes), as: name(room, identity, at: second).text) == nil
      )
    }
    func owners() -> [String: Int] {
      let known = ["a ada", "a bob", "b cid", "b eve"].map { owner in
        let parts = owner.split(separator: " ").map(String.init)
        return (owner, name(parts[0], parts[1], at: 0))
      }
      let found = names().compactMap { FlightName(file: $0) }.compactMap { file in
        known.first { $0.1.room == file.room && $0.1.identity == file.identity }?.0
      }
      return Dictionary(found.map { ($0, 1) }, uniquingKeysWith: +)
    }
    try write("a", "ada", 1)
    try write("a", "bob", 2)
    try write("b", "cid", 3)
    for second in 10..<40 { try write("b", "eve", second) }
    #expect(owners() == ["a ada": 1, "a bob": 1, "b cid": 1, "b eve": 3])
    // A later process knows as much.
    directory = FlightDirectory(place.path, files: 6, bytes: 1_000)
    for second in 40..<50 { try write("b", "eve", second) }
    #expect(owners() == ["a ada": 1, "a bob": 1, "b cid": 1, "b eve": 3])
    #expect(names().contains(name("b", "eve", at: 49).text), "its newest are there")
    // By bytes likewise: it is those who have the most bytes, however few files.
    try write("b", "eve", 50, bytes: 900)
    try write("a", "ada", 51, bytes: 100)
    #expect(owners()["a ada"] == 2 && owners()["a bob"] == 1 && owners()["b cid"] == 1)
    #expect(directory.kept.bytes <= 1_000)
  }

  @Test func `a directory that isn't there is said once, counted each time, and used once it is`() throws {
    let lines = Mutex<[String]>([])
    let log = Log(level: .warning) { line in lines.withLock { $0.append(line) } }
    let bridge = bridge()
    let files = try files(bridge, log: log)
    for _ in 0..<5 {
      #expect(bridge.flights.take())
      files.write(fail("a"))
    }
    while bridge.flights.waiting > 0 { Thread.sleep(forTimeInterval: 0.005) }
    #expect(files.counts.failed == 5 && files.counts.written == 0)
    #expect(lines.withLock { $0.count } == 1)
    try makePlace()
    defer { try? FileManager.default.removeItem(at: place) }
    #expect(bridge.flights.take())
    files.write(fail("b"))
    files.stop()
    #expect(files.counts.written == 1 && names().count == 1)
  }

  @Test func `a link in the place of the unfinished file is not followed`() throws {
    try makePlace()
    defer { try? FileManager.default.removeItem(at: place) }
    let victim = place.appending(path: "victim")
    try Data("kept".utf8).write(to: victim)
    try FileManager.default.createSymbolicLink(
      at: place.appending(path: ".flight-unfinished"), withDestinationURL: victim)
    #expect(FlightDirectory(place.path, files: 1, bytes: 100).write([1], as: "flight-1.pcapng") == nil)
    #expect(try Data(contentsOf: victim) == Data("kept".utf8))
  }

  @Test func `a disk that is full is a problem, and leaves nothing behind`() throws {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    #expect(FlightDirectory.writeAll([1, 2, 3], to: full) == ENOSPC)
    try makePlace()
    defer { try? FileManager.default.removeItem(at: place) }
    let directory = FlightDirectory(place.path, files: 1, bytes: 1_000_000)
    #expect(directory.write([1], as: "no/such/flight.pcapng") != nil)
    #expect(names().isEmpty && directory.kept == (0, 0))
  }
}
