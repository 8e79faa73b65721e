/// Which of two media types a client would rather have, as its `Accept` says (RFC 9110 §12.5.1).
extension HTTPRequest {
  /// Whether the first type is named, wholly, and as good as the second at least; the latter may also be meant by a range.
  ///
  /// A client that says nothing, or `*/*`, has not named anything.
  public func prefers(_ type: String, to other: String) -> Bool {
    let ranges = headers.list("accept").map { MediaRange($0) }
    let wanted = ranges.filter { $0.type == type }.map(\.weight).max() ?? 0
    return wanted > 0 && wanted >= Self.weight(of: other, in: ranges)
  }

  /// That of the range which names it best.
  private static func weight(of type: String, in ranges: [MediaRange]) -> Int {
    let group = type.prefix { $0 != "/" } + "/*"
    for name in [type, String(group), "*/*"] {
      if let weight = ranges.filter({ $0.type == name }).map(\.weight).max() { return weight }
    }
    return 0
  }
}

/// A member of `Accept`.
private struct MediaRange {
  /// In lower case, without parameters.
  let type: String
  /// 0–1,000; 0: not wanted.
  let weight: Int

  /// - Parameter text: in lower case.
  init(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
      Substring($0).trimmingSpaces()
    }
    type = parts[0]
    weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Self.weight($0.dropFirst(2)) } ?? 1_000
  }

  /// `0`, `1`, or either with up to three decimals; what is neither is not wanted.
  private static func weight(_ text: Substring) -> Int {
    let digits = text.utf8
    guard (1...5).contains(digits.count), let first = digits.first, first == 48 || first == 49 else {
      return 0
    }
    let rest = digits.dropFirst()
    guard rest.isEmpty || rest.first == UInt8(ascii: ".") else { return 0 }
    let decimals = rest.dropFirst()
    guard decimals.allSatisfy({ (48...57).contains($0) }) else { return 0 }
    let thousandths = (Array(decimals) + [48, 48, 48]).prefix(3).reduce(0) { $0 * 10 + Int($1) - 48 }
    return min(Int(first - 48) * 1_000 + thousandths, 1_000)
  }
}
