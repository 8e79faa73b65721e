/// What one direction of a link does to datagrams.
public struct LinkConditions: Sendable {
  /// The least time on the way, in nanoseconds.
  public var delay: Int64
  /// On top of it, evenly from 0; datagrams don't overtake each other by it.
  public var jitter: Int64
  /// Probabilities, 0 ..< 1, each decided for every datagram by itself.
  public var loss: Double
  public var duplication: Double
  /// A datagram that is reordered comes up to `reorderingSpan` later than its turn.
  public var reordering: Double
  public var reorderingSpan: Int64
  /// Bits per second; 0 for no bound.
  public var rate: Int64
  /// Bytes that may wait for their turn on a link with a rate; what comes on top is dropped.
  public var queue: Int
  /// Bytes that each datagram takes of the rate beside its own, such as those of UDP and IP.
  public var overhead = 0

  public init(
    delay: Int64 = 20_000_000, jitter: Int64 = 0, loss: Double = 0, duplication: Double = 0,
    reordering: Double = 0, reorderingSpan: Int64 = 5_000_000, rate: Int64 = 0, queue: Int = 64_000
  ) {
    self.delay = delay
    self.jitter = jitter
    self.loss = loss
    self.duplication = duplication
    self.reordering = reordering
    self.reorderingSpan = reorderingSpan
    self.rate = rate
    self.queue = queue
  }

  /// 20 ms and nothing else.
  public static let good = LinkConditions()
}
