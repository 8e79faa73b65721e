internal import Model

/// What a probe has shown: the rate at which it left and that at which it arrived, cluster by cluster.
struct ProbeClusters: BitwiseCopyable {
  struct Cluster: BitwiseCopyable {
    var number: UInt16 = 0
    var packets = 0
    var bytes = 0
    var lastBytes = 0
    var firstBytes = 0
    var firstSent: Int64 = .max
    var lastSent: Int64 = .min
    var firstArrived: Int64 = .max
    var lastArrived: Int64 = .min
    var begun: Int64 = 0
  }

  /// What a probe proved, or that it failed.
  enum Verdict: BitwiseCopyable, Equatable {
    case carries(Double)
    /// Much less arrived than left.
    case failed(Double)
  }

  private static let most = 8
  /// Of a cluster's packets so many must have arrived.
  private static let leastPackets = 4
  private static let leastShare = 0.8
  private static let longest: Int64 = 1_000_000_000
  /// Arrived faster than it left: the receiver's clock, or its word, is wrong.
  private static let mostRatio = 2.0
  /// Below, a queue has grown.
  private static let leastRatio = 0.9

  private var clusters: InlineArray<8, Cluster> = InlineArray(repeating: Cluster())

  init() {}

  mutating func begin(_ number: UInt16, now: Instant) {
    var oldest = 0
    for index in 0..<Self.most where clusters[index].begun < clusters[oldest].begun { oldest = index }
    clusters[oldest] = Cluster(number: number, begun: now.nanoseconds)
  }

  /// A packet of a probe arrived.
  /// - Parameter planned: bytes of the whole cluster.
  mutating func take(
    _ number: UInt16, sent: Int64, arrived: Int64, bytes: Int, planned: (packets: Int, bytes: Int)
  ) -> Verdict? {
    for index in 0..<Self.most where clusters[index].number == number && number != 0 {
      clusters[index].add(sent: sent, arrived: arrived, bytes: bytes)
      return clusters[index].verdict(planned)
    }
    return nil
  }

  fileprivate static func judge(_ cluster: Cluster) -> Verdict? {
    let sent = Double(cluster.lastSent &- cluster.firstSent) / 1e9
    let arrived = Double(cluster.lastArrived &- cluster.firstArrived) / 1e9
    guard sent > 0, arrived > 0, cluster.lastSent &- cluster.firstSent < longest,
      cluster.lastArrived &- cluster.firstArrived < longest
    else { return nil }
    // The last packet's bytes are not of the span in which they left, nor the first one's of that in which they arrived.
    let left = Double(cluster.bytes - cluster.lastBytes) * 8 / sent
    let came = Double(cluster.bytes - cluster.firstBytes) * 8 / arrived
    guard came <= mostRatio * left else { return nil }
    // Where less comes than left the path is full: a little below what came leaves the queue room to drain.
    if came < leastRatio * left { return .failed(came * 0.95) }
    return .carries(min(left, came))
  }

  fileprivate static func isEnough(_ cluster: Cluster, _ planned: (packets: Int, bytes: Int)) -> Bool {
    cluster.packets >= max(leastPackets, Int(Double(planned.packets) * leastShare))
      && Double(cluster.bytes) >= Double(planned.bytes) * leastShare
  }
}

extension ProbeClusters.Cluster {
  fileprivate mutating func add(sent: Int64, arrived: Int64, bytes size: Int) {
    packets += 1
    bytes += size
    if sent < firstSent { firstSent = sent }
    if sent > lastSent { (lastSent, lastBytes) = (sent, size) }
    if arrived < firstArrived { (firstArrived, firstBytes) = (arrived, size) }
    lastArrived = max(lastArrived, arrived)
  }

  fileprivate func verdict(_ planned: (packets: Int, bytes: Int)) -> ProbeClusters.Verdict? {
    ProbeClusters.isEnough(self, planned) ? ProbeClusters.judge(self) : nil
  }
}
