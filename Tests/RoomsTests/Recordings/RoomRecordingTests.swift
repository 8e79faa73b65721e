import AccessTokens
import Model
import Recording
import Testing

@testable import Engine
@testable import Rooms

@Suite("What a room has recorded, and who learns of it", .timeLimit(.minutes(1)))
struct RoomRecordingTests {
  private func start(_ run: StateRun, _ scope: RecordingScope = RecordingScope()) throws -> String {
    switch run.handle(.administration(.record(scope))) {
    case .recording(let id): return id.text
    case .administrationRefused(let error): throw error
    default: throw AdministrationError.unknownRoom
    }
  }

  /// Tracks that were to be recorded, as `id → recording`, and those that were over.
  private func added(_ run: StateRun) -> [String] {
    run.recorded.compactMap { if case .add(let track, let id) = $0 { "\(track.id) \(id)" } else { nil } }
  }
  private func ended(_ run: StateRun) -> [String] {
    run.recorded.compactMap { if case .end(let track, let id) = $0 { "\(track) \(id)" } else { nil } }
  }
  private func stopped(_ run: StateRun) -> [RecordingEndReason] {
    run.recorded.compactMap { if case .stop(_, let reason) = $0 { reason } else { nil } }
  }

  @Test func `everything that is there is recorded, and what comes later, each track once`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    try ada.offer([.audio, .video])
    let id = try start(run)
    guard case .begin(id, let room, _, nil) = try #require(run.recorded.first) else {
      Issue.record("something else was said")
      return
    }
    #expect(room == ("r", "RM_1"))
    #expect(added(run) == ada.tracks.map { "\($0.id.text) \(id)" })
    let bob = try run.join("bob")
    try bob.offer([.video])
    #expect(added(run).count == 3 && added(run).last == "\(bob.tracks[0].id.text) \(id)")
    guard case .add(let track, _) = try #require(run.recorded.last) else {
      Issue.record("something else was said")
      return
    }
    #expect(
      track.key == bob.transport()?.published.first?.key && track.kind == .video && track.encodings == 1)
    #expect(track.publisher == RecordingManifest.Participant(id: bob.id.text, identity: "bob", name: nil))
    // An offer that changes nothing adds nothing.
    try ada.offer(receivers: 1)
    #expect(added(run).count == 3)
  }

  @Test
  func `a track that is over, is no longer allowed or goes with its publisher is over in the recording`()
    throws
  {
    let run = StateRun()
    let (ada, bob, eve) = (try run.join("ada"), try run.join("bob"), try run.join("eve"))
    for client in [ada, bob, eve] { try client.offer([.audio]) }
    let tracks = [ada, bob, eve].map { $0.tracks[0].id.text }
    let id = try start(run)
    try ada.offer(stops: true)
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(false)
    run.handle(.administration(.changeParticipant("bob", patch)))
    run.handle(.administration(.remove("eve")))
    #expect(ended(run) == tracks.map { "\($0) \(id)" })
  }

  @Test func `of what it names nothing else is recorded, and nothing that comes later`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    try ada.offer([.audio, .video])
    let wanted = ada.tracks[1].id.text
    let id = try start(run, RecordingScope(tracks: [wanted]))
    try ada.offer([.video])
    #expect(added(run) == ["\(wanted) \(id)"])
    let cameras = try start(run, RecordingScope(sources: [.camera]))
    #expect(added(run).filter { $0.hasSuffix(cameras) }.count == 2)
    #expect(throws: AdministrationError.unknownTrack) {
      try start(run, RecordingScope(tracks: [wanted, "TR_none"]))
    }
  }

  @Test func `encrypted tracks are named as such, and those of hidden participants are not named`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    try ada.offer([.video], describing: [OfferedTrack(mid: "0", source: .camera, encrypted: true)])
    let ghost = try run.join("ghost") { $0.hidden = true }
    _ = try? ghost.offer([.audio])
    _ = try start(run)
    #expect(added(run).count == 1)
    guard case .add(let track, _) = try #require(run.recorded.last) else {
      Issue.record("something else was said")
      return
    }
    #expect(track.isEncrypted)
  }

  @Test func `one who was hidden is recorded from when others know of it`() throws {
    let run = StateRun()
    _ = try run.whep("ada") { $0.hidden = true }
    let id = try start(run)
    #expect(added(run).isEmpty)
    // Its page joins, and says who it is.
    let page = try run.join("ada")
    #expect(page.member?.grants.hidden == false)
    let native = try #require(page.member?.transports.first { $0.standalone == nil }?.id)
    _ = try page.offer([.audio], on: native)
    #expect(added(run) == run.tracks("ada").map { "\($0.id.text) \(id)" } && added(run).count == 1)
  }

  @Test func `what comes by WHIP is recorded like the rest, and is over with its transport`() throws {
    let run = StateRun()
    let first = try run.whip("cam")
    let before = try #require(run.transport(first)?.published.map(\.info.id.text))
    #expect(!before.isEmpty)
    let id = try start(run)
    #expect(added(run) == before.map { "\($0) \(id)" })
    let second = try run.whip("other")
    let later = try #require(run.transport(second)?.published.map(\.info.id.text))
    #expect(added(run) == (before + later).map { "\($0) \(id)" })
    _ = run.ask(first, .close)
    #expect(ended(run) == before.map { "\($0) \(id)" })
  }

  @Test func `everybody learns of each beginning and end, and who comes of the state`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    #expect(!run.state.info.isRecorded)
    let (first, second) = (try start(run), try start(run))
    #expect(run.state.info.isRecorded)
    run.handle(.administration(.stopRecording(first)))
    run.handle(.recordingEnded(RecordingID(known: second), .diskFull))
    let events = run.events.suffix(4)
    #expect(events.map(\.kind) == [.roomRecording, .roomRecording, .recordingEnded, .recordingEnded])
    #expect(events.map { $0.recording?.id.text } == [first, second, first, second])
    #expect(events.map { $0.recording?.isActive } == [true, true, true, false])
    #expect(events.map { $0.recording?.reason } == [nil, nil, .stopped, .diskFull])
    #expect(events.map(\.room.isRecorded) == [true, true, true, false])
    let heard = ada.notices.count { if case .event(let event) = $0 { event.recording != nil } else { false } }
    #expect(heard == 4)
    // What has ended by itself is not stopped, and doesn't end again.
    #expect(stopped(run) == [.stopped])
    run.handle(.recordingEnded(RecordingID(known: second), .diskFull))
    run.handle(.recordingEnded(RecordingID(known: "RC_none"), .diskFull))
    #expect(run.events.last?.recording?.id.text == second)
    guard case .administrationRefused(.unknownRecording) = run.handle(.administration(.stopRecording(first)))
    else {
      Issue.record("something else was said")
      return
    }
  }

  @Test func `a room has at most so many recordings at once, and a closed one none`() throws {
    let run = StateRun()
    _ = try run.join("ada")
    for _ in 0..<RoomRecording.limit { _ = try start(run) }
    #expect(throws: AdministrationError.full("recordings of the room: 4")) { try start(run) }
    run.handle(.close(.roomClosed))
    #expect(stopped(run) == Array(repeating: .roomFinished, count: 4))
    #expect(throws: AdministrationError.unknownRoom) { try start(run) }
    #expect(!run.state.info.isRecorded)
    // Nor has one that was over for lack of people.
    let empty = StateRun(settings: RoomSettings(departureTimeout: 0))
    try empty.handle(.request(empty.join("ada").id, .leave(.left)))
    empty.handle(.finish)
    #expect(throws: AdministrationError.unknownRoom) { try start(empty) }
    #expect(empty.recorded.isEmpty)
  }

  @Test func `recordings end before their room does, with the reason, and a server that ends says so`() throws
  {
    let run = StateRun(settings: RoomSettings(departureTimeout: 0))
    let ada = try run.join("ada")
    _ = try start(run)
    run.handle(.request(ada.id, .leave(.left)))
    #expect(run.kinds().suffix(2) == ["recording.ended", "room.finished"])
    #expect(stopped(run) == [.roomFinished])
    let other = StateRun()
    _ = try other.join("ada")
    _ = try start(other)
    other.handle(.close(.serverShutdown))
    #expect(stopped(other) == [.serverShutdown])
  }

  @Test func `a recording that an earlier process left open is over for those who read events`() throws {
    let run = StateRun()
    var kept = RoomRecovery.Room(name: "r", settings: RoomSettings())
    kept.lastEvent = 7
    run.handle(.comeBack(kept))
    run.handle(.recordingLeftOpen(RecordingID(known: "RC_before")))
    #expect(run.events.map(\.id) == [8])
    #expect(
      run.events.first?.recording
        == EventRecording(id: RecordingID(known: "RC_before"), isActive: false, reason: .serverFailed))
  }

  @Test func `a room that goes on from its bytes goes on recording`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    let id = try start(run, RecordingScope(sources: [.camera, .microphone], maxBytes: 5_000_000))
    try run.rebuild()
    #expect(run.state.info.isRecorded)
    #expect(run.state.recordings.map(\.id.text) == [id])
    #expect(run.state.recordings[0].scope.maxBytes == 5_000_000)
    #expect(run.state.recordings[0].scope.sources == [.camera, .microphone])
    try ada.offer([.audio])
    #expect(added(run) == ["\(ada.tracks[0].id.text) \(id)"])
  }

  @Test func `an event of a recording comes back from the journal as it was`() throws {
    let run = StateRun()
    _ = try run.join("ada")
    _ = try start(run)
    run.handle(.close(.roomClosed))
    for event in run.events where event.recording != nil {
      let read = try RecordBytes.event(
        RecordBytes.bytes(of: event), id: event.id, time: event.time, of: event.room.id)
      #expect(read.recording == event.recording && read.kind == event.kind)
    }
  }
}
