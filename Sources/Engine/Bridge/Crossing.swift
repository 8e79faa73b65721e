internal import Media
internal import Model

/// The head of what crosses from worker to worker, or to a sink, through a ring.
///
/// Between threads of one process it is copied as it lies in memory, 12 ns there and back against 84 for a form with a version
/// and checks. Between nodes `PacketInfo` has such a form (`PacketInfo+Wire`), since there the other end may be another build.
struct Crossing: BitwiseCopyable {
  enum Kind: UInt8, BitwiseCopyable {
    /// A packet of a track in plain text.
    case packet = 0
    /// A datagram as it came from the socket.
    case datagram = 1
  }

  var kind: Kind
  var from: UInt8
  var track = TrackKey(peer: PeerKey(rawValue: 0), index: 0)
  var info = PacketInfo()
  var path = NetworkPath(
    remote: SocketAddress(high: 0, low: 0, port: 0), local: SocketAddress(high: 0, low: 0, port: 0))
  var arrival = Instant(nanoseconds: 0)
}
