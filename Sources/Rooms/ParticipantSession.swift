public import AccessTokens
internal import Synchronization

/// One participant's session in a room, as a front door holds it.
public final class ParticipantSession: Sendable {
  /// So many notices waiting for a slow front door end the session.
  public static let noticeLimit = 1_024

  public let id: ParticipantID
  public let joined: JoinedState
  /// What the participant is told, in order; ends after `closed`.
  public let notices: AsyncStream<ParticipantNotice>
  private let continuation: AsyncStream<ParticipantNotice>.Continuation
  private let room: Room
  private let overflowed = Atomic<Bool>(false)
  /// Half of the places are taken.
  private let pressed = Atomic<Bool>(false)

  init(id: ParticipantID, room: Room, joined: JoinedState) {
    self.id = id
    self.room = room
    self.joined = joined
    // One place more, for `closed`.
    (notices, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.noticeLimit + 1))
  }

  /// Answers an offer. One at a time is the front door's duty.
  public func offer(_ sdp: String, tracks: [OfferedTrack]) async throws(OfferError) -> OfferAnswer {
    try await room.offer(sdp, tracks: tracks, from: id)
  }

  /// Has a track play, in a slot of choice or in any, before all that nobody asked for.
  public func subscribe(_ track: String, mid: String? = nil) async throws(RequestError) {
    try await room.subscribe(track, mid: mid, by: id)
  }

  /// Frees the track's slot; it comes back only if asked for.
  public func unsubscribe(_ track: String) async throws(RequestError) {
    try await room.unsubscribe(track, by: id)
  }

  /// Holds a track of one's own, or lets it go.
  public func mute(_ track: String, _ muted: Bool) async throws(RequestError) {
    try await room.mute(track, muted, by: id)
  }

  /// Changes what others see of this participant.
  public func update(_ change: ParticipantChange) async throws(RequestError) {
    try await room.update(change, by: id)
  }

  /// Sends a message to all others.
  /// - Parameter destinations: identities; nil: all. Who isn't there gets nothing.
  public func send(
    _ payload: String, topic: String? = nil, reliable: Bool = true, to destinations: [String]? = nil
  ) async throws(RequestError) {
    try await room.send(payload, topic: topic, reliable: reliable, to: destinations, from: id)
  }

  /// What the participant may do by now; nil: the session is over.
  public func grants() async -> Grants? { await room.grants(of: id) }

  /// Has all slots told once more, in their place among the notices.
  public func tellSlots() async { await room.tellSlots(of: id) }

  /// The front door has nobody to speak to: the session ends unless it is resumed within the grace.
  /// - Parameter socket: which one, numbered by the front door; the one that joined is 1.
  public func socketLost(_ socket: Int) async { await room.socketLost(socket, of: id) }

  /// There is somebody to speak to again: `resumed` comes among the notices, with what was missed.
  /// - Parameters:
  ///   - socket: a higher number than any before.
  ///   - after: the last event that the client has.
  /// - Throws: `.gone`: the session is over, or what was missed is no longer kept.
  public func resume(socket: Int, after: Int) async throws(RequestError) {
    try await room.resume(id, socket: socket, after: after)
  }

  /// Ends the session; one that has ended already stays as it is.
  public func leave(reason: LeaveReason = .left) async { await room.leave(id, reason: reason) }

  /// Whether the front door is so slow that what may be lost is better left out.
  var isSlow: Bool { pressed.load(ordering: .relaxed) }

  func notify(_ notice: ParticipantNotice) {
    guard !overflowed.load(ordering: .relaxed), case .enqueued(let remaining) = continuation.yield(notice)
    else { return }
    pressed.store(remaining < Self.noticeLimit / 2, ordering: .relaxed)
    guard remaining <= 1 else { return }
    // Who can't keep up would live in a wrong picture of the room: better joined anew.
    overflowed.store(true, ordering: .relaxed)
    Task { await room.leave(id, reason: .connectionLost) }
  }

  func finish(_ notice: ParticipantNotice) {
    continuation.yield(notice)
    continuation.finish()
  }
}
