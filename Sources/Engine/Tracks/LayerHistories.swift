internal import Media
internal import Model

/// The last packets of a track, each spatial layer's by themselves, because each numbers its packets for itself. A layer
/// takes memory with its first packet.
struct LayerHistories: ~Copyable {
  /// Layers that are kept; those above have no history.
  static let limit = 4

  private let kind: MediaKind
  private let layers: UnsafeMutablePointer<PacketHistory?>
  /// The highest number of each.
  private let newest: UnsafeMutablePointer<Int64>
  /// Packets are kept: the track has, or had, a consumer at this worker.
  var isKept = false

  init(_ kind: MediaKind) {
    self.kind = kind
    layers = .allocate(capacity: Self.limit)
    for layer in 0..<Self.limit { (layers + layer).initialize(to: nil) }
    newest = .allocate(capacity: Self.limit)
    newest.initialize(repeating: .min, count: Self.limit)
  }

  deinit {
    layers.deinitialize(count: Self.limit)
    layers.deallocate()
    newest.deallocate()
  }

  @inline(__always)
  mutating func store(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo) {
    #if PLANTED_DEFECTS
      let layer = PlantedDefect.isOn(.layersMixed) ? 0 : Int(info.layer.spatial)
    #else
      let layer = Int(info.layer.spatial)
    #endif
    guard layer < Self.limit else { return }
    if layers[layer] == nil { begin(layer) }
    newest[layer] = max(newest[layer], info.extendedSequence)
    layers[layer]!.store(packet, info, sequence: info.extendedSequence)
  }

  @inline(never)
  private mutating func begin(_ layer: Int) {
    // Video: over a second at 6 Mbit/s. Audio is asked for within a jitter buffer's length or never.
    layers[layer] =
      kind == .video
      ? PacketHistory(packets: 1_024, bytes: 1_024 * 1_024) : PacketHistory(packets: 128, bytes: 32 * 1_024)
  }

  /// Everything that is kept, layer by layer, the oldest first.
  func forEach(_ body: (UnsafeRawBufferPointer, PacketInfo) -> Void) {
    for layer in 0..<Self.limit where newest[layer] != .min {
      // As many as a history has at most.
      for back in (0..<1_024 as Range<Int64>).reversed() {
        if let kept = find(newest[layer] &- back, layer: UInt8(layer)) { body(kept.packet, kept.info) }
      }
    }
  }

  func find(_ sequence: Int64, layer: UInt8) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    guard layer < Self.limit else { return nil }
    switch layers[Int(layer)] {
    case .some(let kept): return kept.find(sequence)
    case .none: return nil
    }
  }
}
