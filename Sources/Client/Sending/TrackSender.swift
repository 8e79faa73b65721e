package import Crypto
internal import Media
package import Model
internal import Wire

/// Makes the packets of one track of encoded frames, and keeps them for a while, sealed as they left: who asks for one again gets
/// the same datagram.
package struct TrackSender {
  package struct Counts: Equatable, Sendable {
    package var frames = 0
    package var packets = 0
    package var bytes = 0
    package var sentAgain = 0
    package var keyFramesAsked = 0
    /// Frames that no packets can be made of.
    package var refused = 0
  }

  /// Packets that are kept: seconds of pictures.
  private static let kept = 1_024
  /// A packet of sound is never divided, and what is longer doesn't fit into a datagram.
  private static let largest = 1_400
  /// Packets that are sent again, a second.
  private static let again = 2_000.0

  package let ssrc: UInt32
  private let codec: NegotiatedCodec
  private var packetizer: Packetizer
  /// The number and the timestamp that the track begins with.
  private var next: UInt64
  private let base: UInt32
  private let began: Instant
  /// Each where its index says.
  private var sealed: [(index: UInt64, bytes: [UInt8])] = Array(repeating: (0, []), count: kept)
  private var repairs = RateLimit(rate: TrackSender.again, burst: TrackSender.again / 4)
  package var admitted = SealGuard()
  package var counts = Counts()

  /// - Returns: nil where the section has no such codec, or none can be made into packets.
  init?(_ codec: Codec, _ section: SendSection, began: Instant, random: inout RandomSource) {
    let fitting = section.codecs.filter { $0.codec == codec }
    // Large units of H.264 have to be divided.
    guard let agreed = fitting.first(where: { $0.format.h264?.mode != 0 }),
      let packetizer = Packetizer(codec, pictureID: UInt16(truncatingIfNeeded: random.next()))
    else { return nil }
    self.codec = agreed
    self.packetizer = packetizer
    self.began = began
    ssrc = section.ssrc
    // The lower half, so that no packet of the first turn is taken for one of a turn before.
    next = random.next() & 0x7FFF
    base = UInt32(truncatingIfNeeded: random.next())
  }

  package var kind: MediaKind { codec.codec.kind }

  mutating func payloads(of frame: [UInt8]) -> [Packetizer.Payload] {
    let payloads = packetizer.payloads(of: frame).filter { $0.bytes.count <= Self.largest }
    if payloads.isEmpty { counts.refused += 1 } else { counts.frames += 1 }
    return payloads
  }

  /// - Returns: how long the plain packet is, and its index under the key; nil where there is no room.
  mutating func write(
    _ payload: Packetizer.Payload, at moment: Instant, into room: UnsafeMutableRawBufferPointer
  ) -> (size: Int, index: UInt64)? {
    // Sound that begins says so (RFC 3551 §4.1).
    let marker = kind == .audio ? counts.packets == 0 : payload.marker
    guard
      let writer = RTPWriter(
        into: room, marker: marker, payloadType: codec.payloadType,
        sequence: UInt16(truncatingIfNeeded: next), timestamp: timestamp(at: moment), ssrc: ssrc)
    else { return nil }
    let head = writer.finish()
    guard room.count >= head + payload.bytes.count else { return nil }
    UnsafeMutableRawBufferPointer(rebasing: room[head...]).copyBytes(from: payload.bytes)
    counts.packets += 1
    counts.bytes += payload.bytes.count
    defer { next += 1 }
    return (head + payload.bytes.count, next)
  }

  private func timestamp(at moment: Instant) -> UInt32 {
    let (seconds, rest) = (moment.nanoseconds - began.nanoseconds).quotientAndRemainder(
      dividingBy: 1_000_000_000)
    let rate = Int64(codec.codec.clockRate)
    let units = seconds * rate + (rest * rate + (rest < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000
    return base &+ UInt32(truncatingIfNeeded: units)
  }

  mutating func keep(_ datagram: UnsafeRawBufferPointer, _ index: UInt64) {
    sealed[Self.place(of: index)] = (index, Array(datagram))
  }

  private static func place(of index: UInt64) -> Int { Int(index % UInt64(kept)) }

  /// - Returns: the datagram as it left; nil where it isn't kept any more, or too much is asked for.
  mutating func repetition(of sequence: UInt16, now: Instant) -> [UInt8]? {
    guard counts.packets > 0 else { return nil }
    let behind = UInt64(UInt16(truncatingIfNeeded: next - 1) &- sequence)
    guard behind < next else { return nil }
    let index = next - 1 - behind
    let found = sealed[Self.place(of: index)]
    guard found.index == index, !found.bytes.isEmpty, repairs.take(now: now) else { return nil }
    counts.sentAgain += 1
    return found.bytes
  }

  /// The last packets as they left, oldest first: behind the end of a track nothing shows that one of them is missing.
  var tail: [[UInt8]] {
    let count = UInt64(min(counts.packets, Self.tailed))
    return (next - count..<next).map { sealed[Self.place(of: $0)].bytes }
  }
  private static let tailed = 16

  func report(now: Instant, epoch: Epoch) -> SenderReport {
    SenderReport(
      ssrc: ssrc, ntp: epoch.ntp(at: now), rtpTimestamp: timestamp(at: now),
      packetCount: UInt32(truncatingIfNeeded: counts.packets),
      octetCount: UInt32(truncatingIfNeeded: counts.bytes))
  }
}
