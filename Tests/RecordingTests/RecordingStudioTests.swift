import Engine
import Foundation
import Glibc
import Logging
import Model
import Synchronization
import TestScripts
import Testing

@testable import Recording

@Suite("Recordings and their folders", .timeLimit(.minutes(1)))
struct RecordingStudioTests {
  static let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_790_000_000_000_000_000))

  static func studio(
    _ folder: URL, limits: RecordingLimits = RecordingLimits(free: 0), log: Log = Log(level: .error) { _ in }
  ) throws -> RecordingStudio {
    let start = ContinuousClock.now
    // No worker: nothing comes of any track.
    let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    return try RecordingStudio(
      directory: folder.appending(path: "recordings").path, limits: limits, bridge: bridge,
      clock: { Instant(nanoseconds: (ContinuousClock.now - start).wholeNanoseconds) }, epoch: epoch, log: log)
  }

  static func track(_ id: String, encrypted: Bool = false, encodings: Int = 1) -> RecordedTrack {
    RecordedTrack(
      id: id, kind: .video, source: "camera", name: nil,
      key: TrackKey(peer: PeerKey(home: 0, serial: 1), index: 0),
      encodings: encodings, isEncrypted: encrypted,
      publisher: RecordingManifest.Participant(id: "PA_1", identity: "../ada", name: "Ada"))
  }

  private func until(_ holds: () async throws -> Bool) async throws {
    for _ in 0..<500 {
      if try await holds() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("it never came about")
  }

  private func begin(
    _ studio: RecordingStudio, _ id: String, room: String = "r", most: Int? = nil
  ) async throws {
    try await studio.reserve(room)
    studio.perform(.begin(id: id, room: (room, "RM_1"), at: Instant(nanoseconds: 0), most: most))
  }

  private func names(_ folder: URL) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
  }

  private func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test func `a recording has a folder and a manifest for the server's user alone, and both go with it`()
    async throws
  {
    try await inFolder { folder in
      let studio = try Self.studio(folder)
      try await begin(studio, "RC_aaaaaaaaaaaa")
      studio.perform(.add(Self.track("TR_1"), to: "RC_aaaaaaaaaaaa"))
      studio.perform(.add(Self.track("TR_2", encrypted: true), to: "RC_aaaaaaaaaaaa"))
      let place = folder.appending(path: "recordings/RC_aaaaaaaaaaaa")
      try await until { try await studio.recording("RC_aaaaaaaaaaaa", of: "r")?.tracks.count == 2 }
      let manager = FileManager.default
      for (path, mode) in [(place.path, 0o700), (place.path + "/manifest.json", 0o600)] {
        #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode, "\(path)")
      }
      studio.perform(.stop("RC_aaaaaaaaaaaa", .stopped))
      try await until { try await studio.recording("RC_aaaaaaaaaaaa", of: "r")?.state == .ended }
      let manifest = try #require(try await studio.recording("RC_aaaaaaaaaaaa", of: "r"))
      #expect(manifest.tracks.map(\.state) == [.ended, .skipped] && manifest.tracks[1].reason == .encrypted)
      let written = try Data(contentsOf: place.appending(path: "manifest.json"))
      #expect(RecordingManifest(json: Array(written)) == manifest)
      // A name that a participant chose is in no path.
      #expect(try names(place) == ["manifest.json"])
      #expect(try await studio.recording("RC_aaaaaaaaaaaa", of: "other") == nil)
      await #expect(throws: RecordingStudio.Refusal.unknown) {
        try await studio.erase("RC_aaaaaaaaaaaa", of: "other")
      }
      try await studio.erase("RC_aaaaaaaaaaaa", of: "r")
      #expect(!manager.fileExists(atPath: place.path))
      studio.stop()
    }
  }

  @Test func `one that runs isn't erased, and what somebody else has put beside its files stays`()
    async throws
  {
    try await inFolder { folder in
      let studio = try Self.studio(folder)
      try await begin(studio, "RC_aaaaaaaaaaaa")
      try await until { studio.counts.active == 1 }
      await #expect(throws: RecordingStudio.Refusal.isActive) {
        try await studio.erase("RC_aaaaaaaaaaaa", of: "r")
      }
      studio.perform(.stop("RC_aaaaaaaaaaaa", .stopped))
      try await until { try await studio.recording("RC_aaaaaaaaaaaa", of: "r")?.state == .ended }
      let place = folder.appending(path: "recordings/RC_aaaaaaaaaaaa")
      try Data("mine".utf8).write(to: place.appending(path: "notes.txt"))
      try await studio.erase("RC_aaaaaaaaaaaa", of: "r")
      #expect(try names(place) == ["notes.txt"])
      studio.stop()
    }
  }

  @Test func `a manifest that was left open is closed at the start, with files as long as they are`()
    async throws
  {
    try await inFolder { folder in
      let place = folder.appending(path: "recordings/RC_bbbbbbbbbbbb")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      var manifest = RecordingManifest(
        id: "RC_bbbbbbbbbbbb", room: "r", roomId: "RM_7", startedAt: "2026-01-01T00:00:00.000Z")
      var track = Self.track("TR_1").entry
      track.files = [
        RecordingManifest.File(name: "TR_1.1.webm", codec: "VP8", start: 0, bytes: 0),
        RecordingManifest.File(name: "TR_1.2.webm", codec: "VP8", start: 9, bytes: 5),
      ]
      manifest.tracks = [track]
      try Data(manifest.json).write(to: place.appending(path: "manifest.json"))
      try Data(count: 1_234).write(to: place.appending(path: "TR_1.1.webm"))
      // One that the manifest doesn't have yet, and what is nothing of ours.
      try Data(count: 77).write(to: place.appending(path: "TR_2.1.webm"))
      try Data(count: 9).write(to: place.appending(path: "notes.txt"))
      let studio = try Self.studio(folder)
      let found = try #require(try await studio.recording("RC_bbbbbbbbbbbb", of: "r"))
      #expect(found.state == .ended && found.reason == .serverFailed && found.bytes == 1_234 + 77)
      #expect(found.unlisted == ["TR_2.1.webm"])
      #expect(found.tracks[0].state == .ended && found.tracks[0].files.map(\.bytes) == [1_234, 0])
      #expect(studio.leftOpen(of: "RM_7") == ["RC_bbbbbbbbbbbb"] && studio.leftOpen(of: "RM_8").isEmpty)
      studio.stop()
      // Once: at the next start it is closed.
      let next = try Self.studio(folder)
      #expect(next.leftOpen(of: "RM_7").isEmpty)
      #expect(try await next.recording("RC_bbbbbbbbbbbb", of: "r") == found)
      next.stop()
    }
  }

  @Test(arguments: [
    "../../../x.webm", "/etc/passwd", "TR_1.1.sh", "TR_1.webm", "TR_1.1.webm/../x", "TR_ä.1.webm",
    "manifest.json", "",
  ])
  func `a manifest that names files of others is none`(name: String) async throws {
    try await inFolder { folder in
      let place = folder.appending(path: "recordings/RC_cccccccccccc")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      var manifest = RecordingManifest(id: "RC_cccccccccccc", room: "r", roomId: "RM_7", startedAt: "")
      var track = Self.track("TR_1").entry
      track.files = [RecordingManifest.File(name: name, codec: "VP8", start: 0, bytes: 0)]
      manifest.tracks = [track]
      try Data(manifest.json).write(to: place.appending(path: "manifest.json"))
      let lines = Mutex<[String]>([])
      let studio = try Self.studio(
        folder, log: Log(level: .warning) { line in lines.withLock { $0.append(line) } })
      #expect(try await studio.recordings(of: "r", after: nil, limit: 9).found.isEmpty)
      #expect(lines.withLock { $0 }.contains { $0.contains("no manifest that can be read") })
      studio.stop()
    }
  }

  @Test func `more than there may be don't begin, at once or in all, nor where too little is free`()
    async throws
  {
    try await inFolder { folder in
      let studio = try Self.studio(folder, limits: RecordingLimits(atOnce: 2, free: 0, kept: 3))
      try await begin(studio, "RC_aaaaaaaaaaaa")
      try await studio.reserve("r")
      await #expect(throws: RecordingStudio.Refusal.full(atOnce: 2)) { try await studio.reserve("r") }
      studio.giveBack("r")
      try await begin(studio, "RC_bbbbbbbbbbbb")
      for id in ["RC_aaaaaaaaaaaa", "RC_bbbbbbbbbbbb"] { studio.perform(.stop(id, .stopped)) }
      try await until { studio.counts.active == 0 }
      try await begin(studio, "RC_cccccccccccc")
      await #expect(throws: RecordingStudio.Refusal.tooMany(kept: 3)) { try await studio.reserve("r") }
      #expect(studio.counts.kept == 3 && studio.counts.ended == [.stopped: 2])
      studio.stop()
      let full = try Self.studio(folder, limits: RecordingLimits(free: .max))
      await #expect(throws: RecordingStudio.Refusal.noSpace) { try await full.reserve("r") }
      full.stop()
    }
  }

  @Test func `a recording that can't begin ends, and says why`() async throws {
    try await inFolder { folder in
      try Data().write(to: folder.appending(path: "recordings"))
      let studio = try Self.studio(folder)
      try await begin(studio, "RC_aaaaaaaaaaaa")
      var ends = studio.ended.makeAsyncIterator()
      let end = await ends.next()
      #expect(end == RecordingEnd(id: "RC_aaaaaaaaaaaa", room: "r", reason: .storageFailed))
      #expect(try await studio.recording("RC_aaaaaaaaaaaa", of: "r")?.reason == .storageFailed)
      #expect(studio.counts.active == 0)
      studio.stop()
    }
  }

  @Test func `a studio that stops ends what runs`() async throws {
    try await inFolder { folder in
      let studio = try Self.studio(folder)
      try await begin(studio, "RC_aaaaaaaaaaaa")
      studio.perform(.add(Self.track("TR_1"), to: "RC_aaaaaaaaaaaa"))
      studio.stop()
      let found = try #require(try await studio.recording("RC_aaaaaaaaaaaa", of: "r"))
      #expect(found.state == .ended && found.reason == .serverShutdown)
    }
  }

  // MARK: - Rooms beside each other

  @Test func `no room uses up what there is for all, running or kept`() async throws {
    try await inFolder { folder in
      let limits = RecordingLimits(atOnce: 16, free: 0, kept: 100, keptOfRoom: 6)
      let studio = try Self.studio(folder, limits: limits)
      let ids = (0..<7).map { "RC_aaaaaaaaaaa\($0)" }
      for id in ids.prefix(4) { try await begin(studio, id) }
      await #expect(throws: RecordingStudio.Refusal.roomFull(atOnce: 4)) { try await studio.reserve("r") }
      try await begin(studio, "RC_bbbbbbbbbbbb", room: "other")
      for id in ids.prefix(4) { studio.perform(.stop(id, .stopped)) }
      try await until { studio.counts.active == 1 }
      for id in ids[4...5] { try await begin(studio, id) }
      await #expect(throws: RecordingStudio.Refusal.tooManyOfRoom(kept: 6)) { try await studio.reserve("r") }
      try await begin(studio, "RC_cccccccccccc", room: "other")
      try await studio.erase(ids[0], of: "r")
      try await begin(studio, ids[6])
      studio.stop()
      // It goes by what is on the disk, too.
      let next = try Self.studio(folder, limits: limits)
      await #expect(throws: RecordingStudio.Refusal.tooManyOfRoom(kept: 6)) { try await next.reserve("r") }
      next.stop()
    }
  }

  // MARK: - Manifests on the disk

  @Test func `the manifest of a recording that has ended is read from the disk on request`() async throws {
    try await inFolder { folder in
      let studio = try Self.studio(folder)
      try await begin(studio, "RC_aaaaaaaaaaaa")
      #expect(studio.library.inMemory("RC_aaaaaaaaaaaa") != nil)
      studio.perform(.stop("RC_aaaaaaaaaaaa", .stopped))
      try await until { studio.counts.active == 0 }
      #expect(studio.library.inMemory("RC_aaaaaaaaaaaa") == nil)
      var manifest = try #require(try await studio.recording("RC_aaaaaaaaaaaa", of: "r"))
      manifest.bytes = 77
      let path = folder.appending(path: "recordings/RC_aaaaaaaaaaaa/manifest.json")
      try Data(manifest.json).write(to: path)
      #expect(try await studio.recording("RC_aaaaaaaaaaaa", of: "r")?.bytes == 77)
      #expect(try await studio.recordings(of: "r", after: nil, limit: 9).found == [manifest])
      studio.stop()
    }
  }

  @Test func `a page of recordings with much to say has fewer, and the next one goes on`() async throws {
    try await inFolder { folder in
      let ids = ["RC_aaaaaaaaaaaa", "RC_bbbbbbbbbbbb", "RC_cccccccccccc"]
      for id in ids {
        let place = folder.appending(path: "recordings/\(id)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        var manifest = RecordingManifest(
          id: id, room: "r", roomId: "RM_7", state: .ended, startedAt: "2026-01-01T00:00:00.000Z")
        var track = Self.track("TR_1").entry
        track.files = (1...5_000).map {
          RecordingManifest.File(name: "TR_1.\($0).webm", codec: "VP8", start: 0, bytes: 0)
        }
        manifest.tracks = [track]
        try Data(manifest.json).write(to: place.appending(path: "manifest.json"))
      }
      let studio = try Self.studio(folder)
      let first = try await studio.recordings(of: "r", after: nil, limit: 10)
      #expect(first.found.map(\.id) == Array(ids.prefix(2)))
      let next = try #require(first.next)
      let second = try await studio.recordings(of: "r", after: next, limit: 10)
      #expect(second.found.map(\.id) == [ids[2]] && second.next == nil)
      studio.stop()
    }
  }

  @Test func `a disk that hangs keeps no one waiting but those who ask of it`() async throws {
    try await inFolder { folder in
      let studio = try Self.studio(folder, limits: RecordingLimits(atOnce: 200, free: 0, kept: 1_000))
      let isHeld = Held()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let isAsked = Held()
        group.addTask {
          _ = await studio.questions.answer(of: "r") {
            isAsked.release()
            while isHeld.isTrue { usleep(1_000) }
          }
        }
        try await until { !isAsked.isTrue }
        // More than there are threads for tasks.
        for number in 0..<100 { group.addTask { try await studio.reserve("room \(number)") } }
        for _ in 0..<100 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(studio.counts.active == 0)
        isHeld.release()
        try await group.waitForAll()
      }
      #expect(studio.counts.active == 100)
      studio.stop()
    }
  }

  private final class Held: Sendable {
    private let state = Mutex(true)
    var isTrue: Bool { state.withLock { $0 } }
    func release() { state.withLock { $0 = false } }
  }
}
