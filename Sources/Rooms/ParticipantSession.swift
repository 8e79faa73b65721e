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

  /// Ends the session; one that has ended already stays as it is.
  public func leave(reason: LeaveReason = .left) async { await room.leave(id, reason: reason) }

  func notify(_ notice: ParticipantNotice) {
    guard !overflowed.load(ordering: .relaxed),
      case .enqueued(let remaining) = continuation.yield(notice), remaining <= 1
    else { return }
    // Who can't keep up would live in a wrong picture of the room: better joined anew.
    overflowed.store(true, ordering: .relaxed)
    Task { await room.leave(id, reason: .connectionLost) }
  }

  func finish(_ notice: ParticipantNotice) {
    continuation.yield(notice)
    continuation.finish()
  }
}
