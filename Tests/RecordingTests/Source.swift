import Media
import Model
import Recording

/// A publisher's track, whose every frame says when it was taken: packets on a path with jitter and losses, and a clock that is not
/// quite what it says.
struct Source {
  static let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_790_000_000_000_000_000))

  var format: CodecFormat
  /// How much faster than it says the clock runs, as a fraction.
  var drift = 0.0
  var ssrc: UInt32 = 1
  /// Nanoseconds on the server's clock at which the source began.
  var began: Int64 = 0
  var firstTimestamp: UInt32 = 4_294_900_000
  private(set) var sequence: Int64 = 65_530
  var restart: UInt8 = 0

  init(_ format: CodecFormat) { self.format = format }

  /// Nanoseconds of a packet of Opus of 960 units of the clock.
  var packetTime: Int64 { Int64(20_000_000 / (1 + drift)) }

  var rate: Double { Double(format.codec.clockRate) }

  func timestamp(at time: Int64) -> UInt32 {
    firstTimestamp
      &+ UInt32(truncatingIfNeeded: Int64((Double(time - began) / 1e9 * rate * (1 + drift)).rounded()))
  }

  /// As sender reports make it known.
  func clock(at time: Int64, isReported: Bool = true) -> ClockMapping {
    ClockMapping(
      timestamp: timestamp(at: time), ntp: Self.epoch.ntp(at: Instant(nanoseconds: time)),
      rate: format.codec.clockRate, measured: UInt32((rate * (1 + drift)).rounded()), isReported: isReported)
  }

  /// A packet of Opus of 20 ms, of one frame, with the moment of its first sample in it.
  mutating func sound(at time: Int64) -> FramePacket {
    packet([0xF8] + Self.stamp(time), at: time, marker: false)
  }

  /// A picture of VP8 in two packets; of a key frame the head is right, so that its size is read.
  mutating func picture(at time: Int64, isKeyFrame: Bool, width: UInt16 = 64) -> [FramePacket] {
    var frame: [UInt8] = [isKeyFrame ? 0x10 : 0x11, 2, 0]
    if isKeyFrame { frame += [0x9D, 0x01, 0x2A, UInt8(width & 0xFF), UInt8(width >> 8), 48, 0] }
    frame += Self.stamp(time)
    return [
      packet([0x10] + frame, at: time, marker: false), packet([0x00, 1, 2, 3], at: time, marker: true),
    ]
  }

  /// Packets of padding, as probes have them.
  mutating func probes(_ count: Int, at time: Int64) -> [FramePacket] {
    (0..<count).map { _ in packet([], at: time, marker: false) }
  }

  /// Packets in the middle of a picture.
  mutating func middle(_ count: Int, size: Int, at time: Int64) -> [FramePacket] {
    (0..<count).map { _ in
      packet([0x00] + [UInt8](repeating: 7, count: size), at: time, marker: false)
    }
  }

  mutating func renumber(after last: Int64) { sequence = last + 1 }

  private mutating func packet(_ payload: [UInt8], at time: Int64, marker: Bool) -> FramePacket {
    defer { sequence += 1 }
    return FramePacket(
      sequence: sequence, timestamp: timestamp(at: time), marker: marker, format: format, restart: restart,
      ssrc: ssrc, arrival: Instant(nanoseconds: time), payload: payload)
  }

  /// The source begins again, as another stream.
  mutating func startOver(at time: Int64) {
    ssrc += 1
    restart &+= 1
    sequence += 1 << 20
    began = time
    firstTimestamp = 77
  }

  /// Numbers go on, and time too.
  mutating func skip(_ count: Int64) {
    sequence += count
    restart &+= 1
  }

  static func stamp(_ time: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
  }

  /// When a frame was taken; nil of one that stands in for what is missing.
  static func time(of frame: [UInt8]) -> Int64? {
    let start = frame[0] == 0xF8 ? 1 : frame[0] & 1 == 0 ? 10 : 3
    guard frame.count >= start + 8 else { return nil }
    return frame[start..<start + 8].reduce(0) { $0 << 8 | Int64($1) }
  }
}

/// A path: each packet takes its time, and some don't come at all or come again later.
struct Path {
  private var random: RandomSource
  var loss = 0.0
  /// Nanoseconds.
  var delay: Int64 = 40_000_000
  var jitter: Int64 = 60_000_000
  /// Of those that are lost, how many come again, and how much later.
  var recovered = 0.0

  init(seed: UInt64) { random = .seeded(state: seed) }

  mutating func carry(_ packet: FramePacket) -> FramePacket? {
    var packet = packet
    var late = delay + Int64.random(in: 0...max(0, jitter), using: &random)
    if Double.random(in: 0..<1, using: &random) < loss {
      guard Double.random(in: 0..<1, using: &random) < recovered else { return nil }
      late += Int64.random(in: 100_000_000...800_000_000, using: &random)
    }
    packet.arrival = packet.arrival.advanced(byNanoseconds: late)
    return packet
  }
}
