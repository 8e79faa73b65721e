/// Which packets of another's sound came: from the first on, by the publisher's own count.
struct SoundSpan: Equatable, Sendable {
  private var spans: [Int: Span] = [:]

  private struct Span: Equatable, Sendable {
    var first: Int
    var last: Int
    var count = 0
  }

  /// Participants whose packets came.
  var publishers: Set<Int> { Set(spans.keys) }
  /// Each once.
  var received: Int { spans.values.reduce(0) { $0 + $1.count } }
  /// Between the first and the last that came.
  var lost: Int { spans.values.reduce(0) { $0 + max($1.last - $1.first + 1 - $1.count, 0) } }

  /// What another seat heard, of other publishers or later packets of theirs.
  mutating func add(_ other: SoundSpan) {
    spans.merge(other.spans) { one, two in
      Span(
        first: min(one.first, two.first), last: max(one.last, two.last), count: one.count + two.count)
    }
  }

  mutating func note(_ packet: Int, of publisher: Int, isRepeat: Bool) {
    guard !isRepeat else { return }
    var span = spans[publisher] ?? Span(first: packet, last: packet)
    // One that overtook an earlier one leaves no gap.
    span.first = min(span.first, packet)
    span.last = max(span.last, packet)
    span.count += 1
    spans[publisher] = span
  }
}
