import Containers
import Foundation
import Glibc
import Model
import Synchronization
import Testing

@testable import Recording

@Suite("A recording while it runs", .timeLimit(.minutes(1)))
struct RecordingSessionTests {
  private static let id = "RC_aaaaaaaaaaaa"

  /// A recording in a folder of its own, and the thread of its disk.
  private func inSession(
    thread: DiskThread? = nil, _ body: (inout RecordingSession, URL, DiskThread) throws -> Void
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let thread = try thread ?? DiskThread()
    defer { thread.stop() }
    var session = try Self.session(folder, thread)
    try body(&session, folder, thread)
  }

  private static func session(_ folder: URL, _ thread: DiskThread) throws -> RecordingSession {
    try RecordingSession(
      RecordingManifest(id: id, room: "r", roomId: "RM_1", startedAt: "2026-01-01T00:00:00.000Z"),
      folder: RecordingFolder(folder.path), thread: thread,
      terms: TrackRecorder.Terms(epoch: Source.epoch, zero: Source.epoch.ntpAtZero), most: .max, free: 0,
      now: Instant(nanoseconds: 0))
  }

  private func track(_ id: String, of identity: String = "ada", encrypted: Bool = false, name: String? = nil)
    -> RecordedTrack
  {
    var track = RecordingStudioTests.track(id, encrypted: encrypted)
    track.name = name
    track.publisher = RecordingManifest.Participant(
      id: "PA_\(identity.prefix(20))", identity: identity, name: nil)
    return track
  }

  /// Waits until the disk's thread has done what it was given.
  private func settle(_ thread: DiskThread) {
    let isDone = Mutexed(false)
    thread.perform { isDone.value.withLock { $0 = true } }
    while !isDone.value.withLock({ $0 }) { usleep(1_000) }
  }

  private final class Mutexed<Value: Sendable>: Sendable {
    let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Gives a source's pictures of a second, each in its turn of 40 ms.
  private func record(
    _ source: inout Source, _ supply: GivenSupply, second: Int64, _ session: inout RecordingSession
  ) {
    for turn in 0..<25 as Range<Int64> {
      let time = second * 1_000 + turn * 40
      supply.give(
        source.picture(at: time * 1_000_000, isKeyFrame: turn == 0), clock: source.clock(at: time * 1_000_000)
      )
      #expect(session.work(now: at(time)) == nil)
    }
  }

  private func written(_ folder: URL, _ name: String) -> [UInt8] {
    Array((try? Data(contentsOf: folder.appending(path: name))) ?? Data())
  }

  // MARK: - The disk

  @Test func `a disk that takes long over a manifest holds up no picture`() throws {
    let thread = try DiskThread()
    let isHeld = Mutexed(true)
    try inSession(thread: thread) { session, folder, _ in
      thread.perform { while isHeld.value.withLock({ $0 }) { usleep(1_000) } }
      var source = Source(.vp8)
      let supply = GivenSupply()
      session.add(track("TR_1"), from: supply, now: at(0))
      for second in 0..<4 as Range<Int64> { record(&source, supply, second: second, &session) }
      // Its pictures are there, and the manifest is still as it was in the beginning.
      #expect(written(folder, "TR_1.1.webm").count > 1_000)
      #expect(RecordingManifest(json: written(folder, "manifest.json"))?.tracks.isEmpty == true)
      isHeld.value.withLock { $0 = false }
      settle(thread)
      #expect(RecordingManifest(json: written(folder, "manifest.json"))?.tracks.count == 1)
      session.finish(.stopped, at: at(4_000), now: at(4_000)) { #expect($0.isWritten && $0.problem == nil) }
      settle(thread)
      let last = try #require(RecordingManifest(json: written(folder, "manifest.json")))
      #expect(last == session.manifest && last.files.map(\.bytes) == [written(folder, "TR_1.1.webm").count])
    }
  }

  @Test func `a manifest is written once a second at most, whatever changes in it`() throws {
    try inSession { session, folder, thread in
      var files: Set<Int> = []
      // Four seconds, in each turn of which a track begins.
      for turn in 0..<80 as Range<Int64> {
        session.add(track("TR_\(turn)"), from: GivenSupply(), now: at(turn * 50))
        #expect(session.work(now: at(turn * 50)) == nil)
        settle(thread)
        let path = folder.appending(path: "manifest.json").path
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        // Each writing has a length of its own.
        files.insert(attributes[.size] as? Int ?? 0)
      }
      #expect((3...5).contains(files.count))
    }
  }

  @Test func `what of a track's end can't be written is written once there is room`() throws {
    let (whole, _) = try ended()
    let (found, manifest) = try ended(onFullDisk: true)
    #expect(found == whole)
    let entry = try #require(manifest?.tracks.first)
    #expect(entry.state == .ended && entry.files.map(\.bytes) == [whole.count])
    let file = try #require(entry.files.first)
    #expect(file.frames == 75)
    let seconds = try #require(file.duration)
    #expect(seconds > 2.9)
    var reader = MatroskaReader()
    reader.append(found)
    var frames = 0
    while try reader.next() != nil { frames += 1 }
    #expect(frames == 75)
  }

  /// A file of three seconds and its manifest.
  /// - Parameter onFullDisk: nothing can be written when the track ends, and there is room again when the recording does.
  private func ended(onFullDisk: Bool = false) throws -> ([UInt8], RecordingManifest?) {
    var result: ([UInt8], RecordingManifest?) = ([], nil)
    try inSession { session, folder, thread in
      var source = Source(.vp8)
      let supply = GivenSupply()
      session.add(track("TR_1"), from: supply, now: at(0))
      for second in 0..<3 as Range<Int64> { record(&source, supply, second: second, &session) }
      let file = try #require(try Self.descriptor(of: "TR_1.1.webm", in: folder))
      let (kept, full) = (dup(file), open("/dev/full", O_WRONLY | O_CLOEXEC))
      defer {
        close(kept)
        close(full)
      }
      if onFullDisk {
        dup2(full, file)
        #expect(throws: FileProblem(ENOSPC)) { try session.end("TR_1", now: at(3_000)) }
        dup2(kept, file)
      } else {
        try session.end("TR_1", now: at(3_000))
      }
      session.finish(.diskFull, at: at(3_000), now: at(3_000)) { #expect($0.isWritten && $0.problem == nil) }
      settle(thread)
      result = (written(folder, "TR_1.1.webm"), RecordingManifest(json: written(folder, "manifest.json")))
    }
    return result
  }

  private static func descriptor(of name: String, in folder: URL) throws -> Int32? {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target?.hasPrefix(folder.path) == true && target?.hasSuffix("/" + name) == true
    }.flatMap { Int32($0) }
  }

  @Test func `of one that can't begin nothing is left`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data().write(to: folder.appending(path: ".reserve"))
    let thread = try DiskThread()
    defer { thread.stop() }
    #expect(throws: FileProblem(EEXIST)) { try Self.session(folder, thread) }
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  // MARK: - Shares

  @Test
  func `who has had a thousand tracks of which nothing came keeps no other track out, nor one of its own`()
    throws
  {
    try inSession { session, _, _ in
      for number in 0..<1_100 {
        session.add(track("TR_\(number)"), from: GivenSupply(), now: at(0))
        try session.end("TR_\(number)", now: at(0))
      }
      let supplies = [GivenSupply(), GivenSupply()]
      session.add(track("TR_mine"), from: supplies[0], now: at(0))
      session.add(track("TR_theirs", of: "bob"), from: supplies[1], now: at(0))
      #expect(session.manifest.tracks.suffix(2).map(\.state) == [.recording, .recording])
      #expect(session.manifest.tracks.count == RecordingLimits.notesOfOne + 2)
      #expect(session.manifest.participants.map(\.identity) == ["ada", "bob"])
    }
  }

  @Test func `tracks beyond a participant's share are noted once, and those of others are written`() throws {
    try inSession { session, _, _ in
      for number in 0..<RecordingLimits.tracksOfOne + 5 {
        session.add(track("TR_\(number)"), from: GivenSupply(), now: at(0))
      }
      #expect(session.manifest.tracks.map(\.reason).suffix(2) == [nil, .limit])
      #expect(session.manifest.tracks.count == RecordingLimits.tracksOfOne + 1)
      session.add(track("TR_theirs", of: "bob"), from: GivenSupply(), now: at(0))
      #expect(session.manifest.tracks.last?.reason == nil)
      // One of which nothing came makes room.
      try session.end("TR_7", now: at(0))
      session.add(track("TR_again"), from: GivenSupply(), now: at(0))
      #expect(
        session.manifest.tracks.last?.track == "TR_again" && session.manifest.tracks.last?.reason == nil)
    }
  }

  @Test func `encrypted tracks take no place of others, and not all of them are noted`() throws {
    try inSession { session, _, _ in
      for number in 0..<1_500 {
        session.add(track("TR_\(number)", encrypted: true), from: GivenSupply(), now: at(0))
      }
      #expect(
        session.manifest.tracks.map(\.reason)
          == Array(repeating: .encrypted, count: RecordingLimits.notesOfOne))
      session.add(track("TR_open"), from: GivenSupply(), now: at(0))
      session.add(track("TR_theirs", of: "bob", encrypted: true), from: GivenSupply(), now: at(0))
      #expect(session.manifest.tracks.suffix(2).map(\.state) == [.recording, .skipped])
    }
  }

  @Test func `a track for which a worker has no room says so until there is some`() throws {
    try inSession { session, _, _ in
      let supply = GivenSupply()
      supply.isRefused = true
      session.add(track("TR_1"), from: supply, now: at(0))
      _ = session.work(now: at(50))
      #expect(session.manifest.tracks[0].state == .recording && session.manifest.tracks[0].reason == .busy)
      supply.isRefused = false
      _ = session.work(now: at(100))
      #expect(session.manifest.tracks[0].reason == nil)
      supply.isRefused = true
      try session.end("TR_1", now: at(150))
      #expect(session.manifest.tracks[0].state == .ended && session.manifest.tracks[0].reason == nil)
    }
  }

  @Test
  func `files of a source that changes its codec for ever take none of what others need, and it says so`()
    throws
  {
    var shares = FileShares(of: RecordingManifest(id: Self.id, room: "r", roomId: "RM_1", startedAt: ""))
    var taken = 0
    for number in 0..<250 {
      for file in 0..<200 where shares.take("TR_\(number).\(file).webm", of: "ada", already: file) {
        taken += 1
      }
    }
    #expect(taken == 250 + RecordingLimits.furtherFilesOfOne)
    let theirs = (0...1).map { shares.take("TR_theirs.\($0).webm", of: "bob", already: $0) }
    #expect(theirs == [true, true])
    try inSession { session, folder, _ in
      var source = Source(.vp8)
      let supply = GivenSupply()
      session.add(track("TR_1"), from: supply, now: at(0))
      for second in 0..<130 as Range<Int64> {
        record(&source, supply, second: second, &session)
        source.startOver(at: (second + 1) * 1_000_000_000)
      }
      #expect(session.manifest.tracks[0].files.count == RecordingLimits.filesOfTrack)
      #expect(session.manifest.tracks[0].reason == .limit)
      try session.end("TR_1", now: at(130_000))
      #expect(session.manifest.tracks[0].reason == .limit && session.manifest.tracks[0].state == .ended)
    }
  }

  // MARK: - The manifest's bound

  @Test func `a manifest is never longer than what is read, whatever people are called`() throws {
    try inSession { session, folder, thread in
      // Each byte of it stands as six.
      let name = String(repeating: "\u{1}", count: 20_000)
      for number in 0..<400 {
        let identity = "\(number)" + name
        session.add(track("TR_\(number)", of: identity, name: name), from: GivenSupply(), now: at(0))
      }
      #expect(session.manifest.tracks.count > 50 && session.manifest.tracks.count < 400)
      session.finish(.stopped, at: at(100), now: at(100)) { #expect($0.isWritten && $0.problem == nil) }
      settle(thread)
      let bytes = written(folder, "manifest.json")
      #expect(bytes.count > RecordingManifest.mostBytes / 2 && bytes.count <= RecordingManifest.mostBytes)
      let read = RecordingFolder(folder.path).readManifest(most: RecordingManifest.mostBytes)
      #expect(read.flatMap { RecordingManifest(json: $0) } == session.manifest)
    }
  }

  @Test func `an entry of a manifest never takes more than was counted for it`() throws {
    let name = String(repeating: "\u{1}\"\\", count: 50)
    var manifest = RecordingManifest(
      id: Self.id, room: name, roomId: "RM_1", startedAt: "2026-01-01T00:00:00.000Z")
    manifest.reason = .serverShutdown
    manifest.endedAt = manifest.startedAt
    manifest.bytes = .max
    let empty = ManifestBudget(of: manifest, most: 1 << 20)
    #expect(manifest.json.count <= 1 << 20 - empty.left)
    var budget = empty
    let person = RecordingManifest.Participant(id: "PA_" + name, identity: name, name: name)
    var entry = track("TR_1", name: name).entry
    (entry.participant, entry.reason, entry.source) = (person.id, .encrypted, "screen_share_audio")
    (entry.packetsLost, entry.framesLost, entry.switches) = (.max, .max, .max)
    let file = RecordingManifest.File(
      name: "TR_1.100.webm", codec: "telephone-event", start: -1.234_567_890_123_456_7e-300,
      duration: -1.234_567_890_123_456_7e-300, bytes: .max, frames: .max, width: .max, height: .max,
      filled: -1.234_567_890_123_456_7e-300,
      clock: RecordingManifest.ClockPoint(
        timestamp: .max, time: "2026-01-01T00:00:00.000Z", rate: .max, measuredRate: .max, reported: false))
    entry.files = Array(repeating: file, count: 20)
    (manifest.participants, manifest.tracks) = ([person, person], [entry, entry])
    var isTaken = true
    for _ in 0..<2 {
      isTaken =
        isTaken && budget.take(ManifestBudget.cost(of: person)) && budget.take(ManifestBudget.cost(of: entry))
      for file in entry.files { isTaken = isTaken && budget.take(ManifestBudget.cost(ofFile: file.name)) }
    }
    #expect(isTaken && manifest.json.count <= 1 << 20 - budget.left)
  }
}
