/// What was decided about what a peer gets or sends, for its flight recorder.
public enum FlightDecision: Equatable, Sendable {
  /// The handshake is done.
  case connected
  /// Media goes to another address, which the record names.
  case pathSelected
  /// It ended by itself.
  case closed(PeerCloseReason)
  /// Bits per second that may be sent; of a path that isn't reported on, nothing is noted.
  case target(Double)
  /// A probe of that rate begins.
  case probe(Double, cluster: UInt16)
  /// What the last probe has shown is known: so much may be sent.
  case probed(Double)
  /// A slot is to show that layer.
  case layer(slot: Int, encoding: UInt8, spatial: UInt8, temporal: UInt8, rate: Double)
  /// Nothing leaves in a slot, for want of rate.
  case paused(slot: Int)
  case resumed(slot: Int)
  /// A slot's subscriber needs a key frame of what it shows.
  case keyFrameNeeded(slot: Int)
  /// What waited for a slot came too late to leave, and it goes on with a key frame.
  case cut(slot: Int)
  /// The same, and it goes on with what can be decoded without that.
  case thinned(slot: Int)

  private enum Code: UInt8 {
    case connected = 1
    case pathSelected, closed, target, probe, probed, layer, paused, resumed, keyFrameNeeded, cut, thinned
  }

  /// 16 bytes: a code, a number of a slot or a cluster, three small ones, and a rate.
  var words: (low: UInt64, high: UInt64) {
    func pack(_ code: Code, _ number: Int = 0, _ small: (UInt8, UInt8, UInt8) = (0, 0, 0)) -> UInt64 {
      UInt64(code.rawValue) | UInt64(UInt16(truncatingIfNeeded: number)) << 8 | UInt64(small.0) << 24
        | UInt64(small.1) << 32 | UInt64(small.2) << 40
    }
    switch self {
    case .connected: return (pack(.connected), 0)
    case .pathSelected: return (pack(.pathSelected), 0)
    case .closed(let reason):
      return (pack(.closed, PeerCloseReason.allCases.firstIndex(of: reason) ?? 0), 0)
    case .target(let rate): return (pack(.target), rate.bitPattern)
    case .probe(let rate, let cluster): return (pack(.probe, Int(cluster)), rate.bitPattern)
    case .probed(let rate): return (pack(.probed), rate.bitPattern)
    case .layer(let slot, let encoding, let spatial, let temporal, let rate):
      return (pack(.layer, slot, (encoding, spatial, temporal)), rate.bitPattern)
    case .paused(let slot): return (pack(.paused, slot), 0)
    case .resumed(let slot): return (pack(.resumed, slot), 0)
    case .keyFrameNeeded(let slot): return (pack(.keyFrameNeeded, slot), 0)
    case .cut(let slot): return (pack(.cut, slot), 0)
    case .thinned(let slot): return (pack(.thinned, slot), 0)
    }
  }

  init?(low: UInt64, high: UInt64) {
    let number = Int(UInt16(truncatingIfNeeded: low >> 8))
    let small = { (shift: UInt64) in UInt8(truncatingIfNeeded: low >> shift) }
    let rate = Double(bitPattern: high)
    switch Code(rawValue: UInt8(truncatingIfNeeded: low)) {
    case .connected: self = .connected
    case .pathSelected: self = .pathSelected
    case .closed:
      guard PeerCloseReason.allCases.indices.contains(number) else { return nil }
      self = .closed(PeerCloseReason.allCases[number])
    case .target: self = .target(rate)
    case .probe: self = .probe(rate, cluster: UInt16(number))
    case .probed: self = .probed(rate)
    case .layer:
      self = .layer(slot: number, encoding: small(24), spatial: small(32), temporal: small(40), rate: rate)
    case .paused: self = .paused(slot: number)
    case .resumed: self = .resumed(slot: number)
    case .keyFrameNeeded: self = .keyFrameNeeded(slot: number)
    case .cut: self = .cut(slot: number)
    case .thinned: self = .thinned(slot: number)
    case nil: return nil
    }
  }

  /// For people.
  public var text: String {
    switch self {
    case .connected: "the handshake is done"
    case .pathSelected: "media goes"
    case .closed(let reason): "ended: \(reason.rawValue)"
    case .target(let rate): "target \(Self.kilobits(rate)) kbit/s"
    case .probe(let rate, let cluster): "probe \(cluster) begins at \(Self.kilobits(rate)) kbit/s"
    case .probed(let rate): "the probe is judged: target \(Self.kilobits(rate)) kbit/s"
    case .layer(let slot, let encoding, let spatial, let temporal, let rate):
      "slot \(slot) is to show encoding \(encoding), spatial \(spatial), temporal \(temporal), \(Self.kilobits(rate)) kbit/s"
    case .paused(let slot): "slot \(slot) is paused: bandwidth"
    case .resumed(let slot): "slot \(slot) goes on"
    case .keyFrameNeeded(let slot): "slot \(slot) needs a key frame"
    case .cut(let slot): "slot \(slot) is cut until a key frame: its packets waited too long"
    case .thinned(let slot): "slot \(slot) goes on without a picture: its packets waited too long"
    }
  }

  private static func kilobits(_ rate: Double) -> Int {
    rate.isFinite ? Int(min(max(rate, 0), 1e15) / 1_000) : 0
  }
}
