/// How libwebrtc finds what a frame of VP8 refers to (`RtpVp8RefFinder`): by ids and the index of the lowest layer alone, so that it waits with
/// frames that could be shown.
struct VP8Receiver {
  struct Frame {
    /// Both count on where their bits end.
    let id: Int
    let lowest: Int
    let layer: Int
    let isKey: Bool
    /// It refers to the lowest layer alone.
    let isSync: Bool
  }

  private static let layers = 4
  private static let mostMissing = 100
  private static let mostIndices = 50

  /// By the index of the lowest layer: the last id of each layer behind it; nil: none since the key frame.
  private var last: [Int: [Int?]] = [:]
  /// Ids below the newest that haven't come whole.
  private var missing: Set<Int> = []
  private var newest: Int?

  /// Takes a frame that is there as a whole.
  /// - Returns: whether it goes to the decoder; false: it is dropped, or waits for others.
  mutating func take(_ frame: Frame) -> Bool {
    note(frame.id)
    last = last.filter { $0.key >= frame.lowest - Self.mostIndices }
    if frame.isKey {
      last[frame.lowest] = Array(repeating: nil, count: Self.layers)
      update(frame)
      return true
    }
    guard let known = last[frame.layer == 0 ? frame.lowest - 1 : frame.lowest] else { return false }
    if frame.layer == 0 {
      if last[frame.lowest] == nil { last[frame.lowest] = known }
      if let before = last[frame.lowest]?[0], before >= frame.id { return false }
    } else if frame.isSync {
      if let before = known[frame.layer], before >= frame.id { return false }
    } else {
      for layer in 0...frame.layer {
        guard let before = known[layer], before <= frame.id else { return false }
        if missing.contains(where: { $0 > before && $0 < frame.id }) { return false }
      }
    }
    update(frame)
    return true
  }

  private mutating func note(_ id: Int) {
    missing = missing.filter { $0 >= id - Self.mostMissing }
    let known = max(newest ?? id, id - Self.mostMissing)
    if id > known { missing.formUnion(known + 1...id) }
    newest = max(known, id)
  }

  private mutating func update(_ frame: Frame) {
    var index = frame.lowest
    while var behind = last[index] {
      if let before = behind[frame.layer], before > frame.id { break }
      behind[frame.layer] = frame.id
      last[index] = behind
      index += 1
    }
    missing.remove(frame.id)
  }
}
