package import Model
internal import Wire

/// Puts pictures of VP8 together again from the packets of one slot, in order and whole.
///
/// A packet that is missing is waited for, as it may be reordered or asked for again; where that takes longer than `patience`, what
/// follows can't be decoded, and nothing comes out until the next key frame.
///
///     awaiting a key frame ──a whole one──▶ in order ──missing for `patience`, or out of form──▶ awaiting a key frame
package struct PictureAssembler {
  package struct Picture: Equatable {
    package var bytes: [UInt8]
    package var isKeyFrame: Bool
    package var timestamp: UInt32
    /// When its last packet came.
    package var at: Instant
  }

  private struct Packet {
    var timestamp: UInt32
    var marker: Bool
    var startsFrame: Bool
    var isKeyFrame: Bool
    var data: ArraySlice<UInt8>
    var at: Instant
  }

  /// How long a missing packet is waited for.
  package static let patience: Int64 = 1_000_000_000
  /// Between two requests for a key frame.
  package static let requestInterval: Int64 = 500_000_000
  /// Packets that wait, at most; and bytes of a picture.
  package static let packetLimit = 2_048
  package static let byteLimit = 1 << 20

  private var waiting: [Int64: Packet] = [:]
  /// Those of `waiting` that begin a key frame, in the order in which they came.
  private var keyStarts: [Int64] = []
  /// Of the next picture's first packet; nothing before it is of use.
  private var next = Int64.min
  private var awaitsKeyFrame = true
  private var gapSince = Instant.never
  private var requestedAt = Instant.never
  /// How often something was missing for too long, or was out of form.
  package private(set) var breaks = 0

  package init() {}

  /// - Parameter payload: of VP8.
  /// - Returns: the pictures that are whole now.
  package mutating func take(_ payload: EncodedPayload, now: Instant) -> [Picture] {
    let read: Packet? = payload.bytes.withUnsafeBytes { bytes in
      guard let descriptor = try? VP8Descriptor(bytes), descriptor.size <= bytes.count else { return nil }
      return Packet(
        timestamp: payload.timestamp, marker: payload.marker, startsFrame: descriptor.startsFrame,
        isKeyFrame: descriptor.startsKeyFrame(bytes), data: payload.bytes[descriptor.size...], at: payload.at)
    }
    guard let packet = read, payload.sequence >= next else { return [] }
    if waiting.count >= Self.packetLimit {
      (waiting, keyStarts) = ([:], [])
      startOver()
    }
    if packet.isKeyFrame, waiting[payload.sequence] == nil { keyStarts.append(payload.sequence) }
    waiting[payload.sequence] = packet
    var pictures: [Picture] = []
    while let picture = takeNext() { pictures.append(picture) }
    if !pictures.isEmpty { gapSince = .never }
    noteGap(now: now)
    return pictures
  }

  /// - Returns: whether a key frame is to be asked for now.
  package mutating func wantsKeyFrame(now: Instant) -> Bool {
    if gapSince != .never, now.nanoseconds - gapSince.nanoseconds >= Self.patience { startOver() }
    guard awaitsKeyFrame, next != .min || !waiting.isEmpty else { return false }
    guard requestedAt == .never || now.nanoseconds - requestedAt.nanoseconds >= Self.requestInterval else {
      return false
    }
    requestedAt = now
    return true
  }

  /// What came out last can't be decoded, or was left out: what follows neither, up to a key frame.
  package mutating func startOver() {
    if !awaitsKeyFrame { breaks += 1 }
    awaitsKeyFrame = true
    gapSince = .never
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.gapIgnored), let first = waiting.filter({ $0.value.startsFrame }).keys.min() {
        (awaitsKeyFrame, next) = (false, first)
      }
    #endif
  }

  private mutating func takeNext() -> Picture? {
    if awaitsKeyFrame {
      guard let start = keyStarts.sorted().first(where: { end(of: $0) != nil }) else { return nil }
      next = start
      awaitsKeyFrame = false
      requestedAt = .never
      waiting = waiting.filter { $0.key >= start }
    }
    guard let first = waiting[next], let end = end(of: next) else { return nil }
    guard first.startsFrame else {
      // A number that came twice may be another packet by now.
      keyStarts.removeAll { $0 <= next }
      startOver()
      return takeNext()
    }
    var picture = Picture(
      bytes: [], isKeyFrame: first.isKeyFrame, timestamp: first.timestamp, at: first.at)
    for sequence in next...end {
      guard let packet = waiting.removeValue(forKey: sequence) else { continue }
      picture.bytes += packet.data
      picture.at = max(picture.at, packet.at)
    }
    next = end + 1
    keyStarts.removeAll { $0 < next }
    return picture
  }

  /// The number of a picture's last packet, where all of it is there and it has the form of one.
  private func end(of start: Int64) -> Int64? {
    guard let first = waiting[start] else { return nil }
    var sequence = start
    var bytes = 0
    while let packet = waiting[sequence] {
      bytes += packet.data.count
      guard packet.timestamp == first.timestamp, sequence == start || !packet.startsFrame,
        bytes <= Self.byteLimit
      else { return nil }
      if packet.marker { return sequence }
      sequence += 1
    }
    return nil
  }

  /// Something is there that can't come out yet.
  private mutating func noteGap(now: Instant) {
    guard !awaitsKeyFrame, !waiting.isEmpty else {
      gapSince = .never
      return
    }
    if gapSince == .never { gapSince = now }
  }
}
