import Model
import Wire

extension MediaDescription {
  /// Alternatives that are looked at; browsers list three encodings of one each.
  private static let mostAlternatives = 16

  /// The encodings of a simulcast that we can take (RFC 8853 §5.1), in the order listed, which is mostly from the smallest
  /// to the best: of each the first alternative that isn't paused, else the first. Where there are more than we take, the last
  /// ones.
  func simulcastEncodings(_ codecs: [NegotiatedCodec]) -> [RIDAttribute] {
    let named = Dictionary(
      rids.lazy.filter { $0.direction == .send }.map { ($0.rid, $0) }
    ) { first, _ in first }
    var left = Self.mostAlternatives
    var seen: Set<String> = []
    let usable = (simulcast?.send ?? []).compactMap { alternatives -> RIDAttribute? in
      let looked = alternatives.prefix(left)
      left -= looked.count
      let known = looked.compactMap { alternative -> (rid: RIDAttribute, isPaused: Bool)? in
        guard let rid = named[alternative.rid],
          rid.payloadTypes.map({ allowed in codecs.contains { allowed.contains($0.payloadType) } }) ?? true
        else { return nil }
        return (rid, alternative.isPaused)
      }
      guard let chosen = (known.first { !$0.isPaused } ?? known.first)?.rid, seen.insert(chosen.rid).inserted
      else { return nil }
      return chosen
    }
    return Array(usable.suffix(ReceiveSection.mostEncodings))
  }
}
