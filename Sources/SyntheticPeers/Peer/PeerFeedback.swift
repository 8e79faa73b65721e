internal import Congestion
internal import Model

/// What a far end's own reports and requests need.
struct PeerFeedback: ~Copyable {
  /// Of the next packet of media.
  var transportSequence: UInt16
  /// The sender of reports and requests.
  let ssrc: UInt32
  var nextReports = Instant.never
  /// When each transport sequence number reached the server, for the check of arrival feedback.
  var log = TransportLog()
  /// What the server last said was lost of each of our streams, in 256ths.
  var reportedLoss: [UInt32: UInt8] = [:]
  /// Packets that were lost in all.
  var reportedLost: [UInt32: Int32] = [:]
  /// When packets of the server arrived.
  var arrivals = ArrivalFeedback()

  init(_ random: inout RandomSource) {
    transportSequence = UInt16(truncatingIfNeeded: random.next())
    ssrc = UInt32(truncatingIfNeeded: random.next()) | 1
  }
}
