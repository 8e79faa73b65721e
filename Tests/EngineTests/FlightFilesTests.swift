import Foundation
import Logging
import Model
import Peer
import Synchronization
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
    FailedFlight(.none, .connectionLost, name: name, title: name)
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
    let name = "flight-2023-11-14T22-13-20.000Z-PA_abc-1-connectionLost.pcapng"
    #expect(names() == [name])
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

  @Test func `a name has nothing in it as a stranger said it`() {
    let name = FlightDirectory.name(
      at: WallTime(milliseconds: 0), "../../etc/pass wd\n\u{0}é" + String(repeating: "x", count: 500),
      reason: "a/b")
    #expect(name.hasPrefix("flight-1970-01-01T00-00-00.000Z-..-..-etc-pass-wd---"))
    #expect(name.hasSuffix("-a-b.pcapng") && name.utf8.count < 160 && !name.contains("/"))
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
