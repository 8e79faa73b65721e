internal import Model

/// The first DTLS flight of a far end whose path has shown a valid check but hasn't answered ours yet: kept for the
/// moment between, because repeating it costs the far end a time-out.
struct HeldFlight {
  static let datagramLimit = 4
  static let byteLimit = 6_000
  static let timeLimit = Duration.seconds(3)

  private var datagrams: [(bytes: [UInt8], path: NetworkPath)] = []
  private var size = 0
  private(set) var deadline = Instant.never

  /// - Returns: false when it doesn't fit any more.
  mutating func hold(_ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant) -> Bool {
    guard datagrams.count < Self.datagramLimit, size + datagram.count <= Self.byteLimit else { return false }
    if datagrams.isEmpty { deadline = now + Self.timeLimit }
    datagrams.append((Array(datagram), path))
    size += datagram.count
    return true
  }

  /// Those that came by the path; the others stay.
  mutating func take(_ path: NetworkPath) -> [[UInt8]] {
    let taken = datagrams.filter { $0.path == path }.map(\.bytes)
    datagrams.removeAll { $0.path == path }
    size = datagrams.reduce(0) { $0 + $1.bytes.count }
    if datagrams.isEmpty { deadline = .never }
    return taken
  }

  /// - Returns: how many datagrams go.
  @discardableResult
  mutating func discard() -> Int {
    defer { self = HeldFlight() }
    return datagrams.count
  }
}
