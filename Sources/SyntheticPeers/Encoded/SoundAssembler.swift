package import Model
internal import Wire

/// Puts the frames of Opus in order that come in one slot, plain or with copies of those before (RED).
///
/// Sound is not asked for again: a frame that is missing is waited for as long as reordering takes, and then given up.
package struct SoundAssembler {
  package enum Piece: Equatable {
    case frame([UInt8])
    /// It never came, or too late.
    case lost
  }

  /// How long a frame is waited for, by those behind it.
  package static let patience: Int64 = 60_000_000
  /// Units of the RTP clock in a frame of 20 ms.
  private static let step: Int64 = 960
  /// Frames that wait, at most; and those that are counted as lost at once: beyond that the stream was silent.
  private static let frameLimit = 64
  private static let lostLimit: Int64 = 50

  private var waiting: [Int64: (bytes: [UInt8], at: Instant)] = [:]
  /// The unrolled timestamp of the frame that comes out next.
  private var next: Int64?

  package init() {}

  /// - Returns: what comes out now, in order.
  package mutating func take(_ payload: EncodedPayload, now: Instant) -> [Piece] {
    let blocks = Self.blocks(of: payload)
    guard let newest = blocks.last else { return [] }
    if next == nil { next = Int64(newest.timestamp) }
    for block in blocks { keep(block.bytes, block.timestamp, at: payload.at) }
    return release(now: now)
  }

  private mutating func keep(_ bytes: [UInt8], _ timestamp: UInt32, at: Instant) {
    guard let next else { return }
    let place = next + Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: next)))
    guard place >= next, waiting[place] == nil, waiting.count < Self.frameLimit else { return }
    waiting[place] = (bytes, at)
  }

  private mutating func release(now: Instant) -> [Piece] {
    var pieces: [Piece] = []
    while let place = next, let first = waiting.keys.min(), let oldest = waiting.values.map(\.at).min() {
      if let frame = waiting.removeValue(forKey: place) {
        pieces.append(.frame(frame.bytes))
        next = place + Self.step
        continue
      }
      // Of times between frames: the one that came out goes beyond it.
      guard first > place else {
        waiting.removeValue(forKey: first)
        continue
      }
      let isFull = waiting.count >= Self.frameLimit
      guard isFull || now.nanoseconds - oldest.nanoseconds >= Self.patience else { break }
      let lost = min((first - place) / Self.step, Self.lostLimit)
      pieces += Array(repeating: .lost, count: Int(lost))
      next = first
    }
    return pieces
  }

  /// The oldest first; none where the form is broken.
  private static func blocks(of payload: EncodedPayload) -> [(bytes: [UInt8], timestamp: UInt32)] {
    guard payload.codec == .red else { return [(payload.bytes, payload.timestamp)] }
    let bytes = payload.bytes
    guard let form = bytes.withUnsafeBytes({ try? REDPayload($0) }) else { return [] }
    var blocks: [(bytes: [UInt8], timestamp: UInt32)] = []
    var offset = 4 * form.olderBlocks + 1
    for index in 0..<form.olderBlocks {
      // The distance in 14 bits, then the length in 10 (RFC 2198 §3).
      let word = bytes[4 * index + 1..<4 * index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let size = Int(word & 0x3FF)
      guard offset + size <= form.primaryOffset else { return [] }
      if size > 0 {
        blocks.append((Array(bytes[offset..<offset + size]), payload.timestamp &- word >> 10))
      }
      offset += size
    }
    guard form.primaryOffset < bytes.count else { return [] }
    blocks.append((Array(bytes[form.primaryOffset...]), payload.timestamp))
    return blocks
  }
}
