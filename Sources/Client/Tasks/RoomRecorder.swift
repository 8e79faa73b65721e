internal import AccessTokens
internal import Crypto
internal import Engine
internal import Glibc
internal import Media
package import Model
package import Negotiation
package import Recording
package import Signalling
internal import Synchronization

/// Records the tracks of a room as one who is in it gets them, into the files and the manifest that the server's own recordings have.
package final class RoomRecorder: ClientTask {
  package struct Options: Sendable {
    /// Whose tracks are recorded, by identity or id; nil: everybody's.
    package var participant: String?
    package var form = RecordingForm.simple
    /// From the beginning of the recording; nil: until it is ended.
    package var duration: Duration?
    /// The folder; nil: one of the recording's id, in the present one.
    package var folder: String?

    package init() {}
  }

  /// Bytes that stay free on the disk.
  private static let free = 16 << 20
  /// How long frames are kept while their time isn't known: the server reports nothing of a stream's clock before its publisher has
  /// reported it, which takes some clients ten seconds, and then twice.
  private static let patience = Duration.seconds(16)
  /// How often files are written.
  private static let turn = Duration.milliseconds(50)
  /// How long what is missing of a track that has ended may still come.
  private static let linger = Duration.seconds(1)
  /// Of slots that are still empty, of each kind; and all of a kind.
  private static let spare = 2
  private static let mostSlots = 60

  package private(set) var folder = ""
  /// Called once media can come.
  package var onBegin: () -> Void = {}
  private let options: Options
  private var recording: RecordingSession?
  private var disk: DiskThread?
  private let ended = Ended()
  private var supplies: [String: SlotSupply] = [:]
  private var routes = SlotRoutes()
  /// Of a kind, the tracks that are to have a slot.
  private var wanted: [String: MediaKind] = [:]
  private var slots = (audio: RoomRecorder.spare, video: RoomRecorder.spare)
  private var ending: [(track: String, at: Instant)] = []
  private var began = Instant.never
  private var hasBegun = false
  private var nextTurn = Instant.never
  /// Why it ended by itself.
  package private(set) var reason: RecordingEndReason?

  package init(_ options: Options) { self.options = options }

  package var manifest: RecordingManifest? { ended.value.withLock { $0 } ?? recording?.manifest }
  package var plan: OfferPlan { OfferPlan(audioReceivers: slots.audio, videoReceivers: slots.video) }
  package var codecs: [Codec] { [.vp8, .vp9, .h264, .h265, .av1] }
  package var isReceiver: Bool { true }

  // MARK: - The room

  package func take(
    _ message: ServerMessage.Content, _ session: ClientSession, now: Instant
  ) throws(ClientError) {
    switch message {
    case .joined(let joined):
      guard joined.participant.permissions?.canSubscribe ?? true else { throw .maySubscribeToNothing }
      try begin(joined.room, session, now: now)
      for case .value(let participant) in joined.participants { try note(participant, session, now: now) }
    case .event(let event): try take(event, session, now: now)
    case .answer(let answer):
      session.media?.onPacket = { [unowned self, unowned session] in take($0, $1, $2, session) }
      show(answer.slots, session, now: now)
    case .slots(let slots): show(slots, session, now: now)
    case .offerWanted(let wanted) where wanted.reason == .slots:
      slots.audio = min(slots.audio + wanted.audio, Self.mostSlots)
      slots.video = min(slots.video + wanted.video, Self.mostSlots)
      session.change(plan)
    default: break
    }
  }

  private func begin(_ room: RoomBody, _ session: ClientSession, now: Instant) throws(ClientError) {
    let epoch = session.clock.epoch
    let id = "RC_" + String((0..<12).map { _ in Self.letters[Int(Random.integer(UInt32.self) % 62)] })
    folder = options.folder ?? id
    began = now
    nextTurn = now
    guard RecordingFolder(folder).size(of: RecordingFolder.manifest) == nil else {
      throw .folder(folder, FileProblem(EEXIST))
    }
    do throws(FileProblem) {
      let thread = try DiskThread()
      disk = thread
      recording = try RecordingSession(
        RecordingManifest(
          id: id, room: room.name, roomId: room.id, startedAt: WallTime(epoch.ntp(at: now)).text),
        folder: RecordingFolder(folder), thread: thread,
        terms: TrackRecorder.Terms(
          epoch: epoch, zero: epoch.ntp(at: now), form: options.form, patience: Self.patience),
        most: .max, free: Self.free, now: now)
    } catch { throw .folder(folder, error) }
  }
  private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

  private func take(_ event: EventBody, _ session: ClientSession, now: Instant) throws(ClientError) {
    switch event.type {
    case .participantJoined:
      if case .whole(let participant)? = event.participant { try note(participant, session, now: now) }
    case .trackPublished:
      guard let track = event.track, let publisher = event.participant else { return }
      let name: String? =
        switch publisher {
        case .whole(let participant): participant.name
        case .named(let participant): participant.name
        }
      try note(
        track, of: RecordingManifest.Participant(id: publisher.id, identity: publisher.identity, name: name),
        session, now: now)
    case .trackUnpublished: if let track = event.track { over(track.id, now: now) }
    case .participantLeft:
      guard case .whole(let participant)? = event.participant else { return }
      for track in participant.tracks { over(track.id, now: now) }
    default: break
    }
  }

  private func note(
    _ participant: ParticipantBody, _ session: ClientSession, now: Instant
  ) throws(ClientError) {
    let publisher = RecordingManifest.Participant(
      id: participant.id, identity: participant.identity, name: participant.name)
    for track in participant.tracks { try note(track, of: publisher, session, now: now) }
  }

  private func note(
    _ track: TrackBody, of publisher: RecordingManifest.Participant, _ session: ClientSession, now: Instant
  ) throws(ClientError) {
    // Files are named by ids: what is no id names no file.
    guard RecordingManifest.isTrackID(track.id), supplies[track.id] == nil else { return }
    let isMeant = options.participant.map { $0 == publisher.identity || $0 == publisher.id } ?? true
    guard isMeant, !track.encrypted else {
      session.send(.unsubscribe(.init(track: track.id)))
      guard isMeant else { return }
      return try add(track, of: publisher, SlotSupply(track.kind), now: now)
    }
    let supply = SlotSupply(track.kind)
    supply.onKeyFrameWanted = { [unowned self, unowned session] in
      if let section = routes.section(of: track.id) { session.media?.requestKeyFrame(of: section) }
    }
    try add(track, of: publisher, supply, now: now)
    wanted[track.id] = track.kind
    makeRoom(session)
  }

  private func add(
    _ track: TrackBody, of publisher: RecordingManifest.Participant, _ supply: SlotSupply, now: Instant
  ) throws(ClientError) {
    supplies[track.id] = supply
    let recorded = RecordedTrack(
      id: track.id, kind: track.kind, source: track.source.rawValue, name: track.name, key: nil,
      encodings: 1, isEncrypted: track.encrypted, publisher: publisher)
    recording?.add(recorded, from: supply, now: now)
  }

  /// A few slots more than there are tracks: who comes is in at once.
  private func makeRoom(_ session: ClientSession) {
    let sound = wanted.values.count { $0 == .audio }
    slots.audio = max(slots.audio, min(sound + Self.spare, Self.mostSlots))
    slots.video = max(slots.video, min(wanted.count - sound + Self.spare, Self.mostSlots))
    if session.media != nil { session.change(plan) }
  }

  private func over(_ track: String, now: Instant) {
    guard wanted.removeValue(forKey: track) != nil else { return }
    ending.append((track, now + Self.linger))
  }

  private func show(_ slots: [Slot], _ session: ClientSession, now: Instant) {
    guard let media = session.media else { return }
    for slot in slots {
      guard let section = media.agreed.receive.first(where: { $0.mid == slot.mid }) else { continue }
      let index = Int(section.index)
      if routes.set(index, track: slot.track, slot.track.flatMap { supplies[$0] }, now: now) {
        media.forgetClock(of: index)
      }
    }
  }

  private func take(
    _ section: Int, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, _ session: ClientSession
  ) {
    let clock = session.media?.clock(of: section)
    guard let route = routes.supply(of: section, info, clock: clock, epoch: session.clock.epoch) else {
      return
    }
    route.supply.add(packet, info, clock: route.clock)
  }

  // MARK: - Time

  package var deadline: Instant { nextTurn }

  package func poll(_ session: ClientSession, now: Instant) throws(ClientError) -> Bool {
    if !hasBegun, session.media?.isConnected ?? false {
      hasBegun = true
      onBegin()
    }
    guard nextTurn <= now, recording != nil else { return false }
    nextTurn = now + Self.turn
    while let first = ending.first, first.at <= now {
      ending.removeFirst()
      do throws(FileProblem) { try recording?.end(first.track, now: now) } catch {
        throw .folder(folder, error)
      }
      supplies[first.track] = nil
    }
    reason = recording?.work(now: now)
    if reason != nil { return true }
    return options.duration.map { now - began >= $0 } ?? false
  }

  /// Makes the files and the manifest whole, whatever ended the session, and waits for the disk, for a minute at most.
  /// - Returns: what could not be written; nil: all is.
  package func finish(_ reason: RecordingEndReason, now: Instant) -> String? {
    recording?.finish(reason, at: now, now: now) { [ended] end in
      ended.value.withLock { $0 = end.manifest }
    }
    guard disk?.stop() ?? true else { return "the disk doesn't answer" }
    return recording?.problem?.text
  }

  /// As it was written in the end, on the disk's thread.
  private final class Ended: Sendable {
    let value = Mutex<RecordingManifest?>(nil)
  }
}
