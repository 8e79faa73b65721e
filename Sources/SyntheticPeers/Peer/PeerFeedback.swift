internal import Model

/// What a far end's own reports and requests need.
struct PeerFeedback {
  /// Of the next packet of media.
  var transportSequence: UInt16
  /// The sender of reports and requests.
  let ssrc: UInt32
  var nextReports = Instant.never
  /// When each transport sequence number reached the server, for the check of arrival feedback.
  var log = TransportLog()

  init(_ random: inout RandomSource) {
    transportSequence = UInt16(truncatingIfNeeded: random.next())
    ssrc = UInt32(truncatingIfNeeded: random.next()) | 1
  }
}
