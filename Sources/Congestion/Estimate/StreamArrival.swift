/// What feedback says of a packet that it names by its stream.
public enum StreamArrival: BitwiseCopyable, Equatable, Sendable {
  case lost
  /// On the receiver's clock, in nanoseconds.
  case known(Int64)
  /// It came, and the receiver doesn't say when.
  case unknown
}

/// The receiver's clock without its wrap.
struct ReceiverClock: BitwiseCopyable {
  private var last: UInt32 = 0
  private var nanoseconds: Int64 = 0
  private var isStarted = false

  init() {}

  mutating func extend(_ ticks: UInt32) -> Int64 {
    if !isStarted {
      isStarted = true
      last = ticks
    }
    nanoseconds &+= Int64(Int32(bitPattern: ticks &- last)) &* 250_000
    last = ticks
    return nanoseconds
  }
}
