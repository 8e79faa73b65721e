internal import Model

/// What the rules say of one track that a participant offers, known by the SSRC that it announces.
struct PublicationRecord {
  let source: String
  let kind: MediaKind
  /// When it was published: from the answer to an offer that had it, while it was allowed, until an offer stopped it or
  /// it was forbidden.
  private(set) var published: [Span] = []
  /// When an administrator's mute stood, and when its owner's did.
  private(set) var mutes: [Mute: [Span]] = [:]
  /// As the room calls it, while it is published.
  var track: String?

  enum Mute { case admin, owner }

  init(source: String, kind: MediaKind) {
    self.source = source
    self.kind = kind
  }

  var isPublished: Bool { published.last?.isOpen ?? false }
  func isMuted(by who: Mute) -> Bool { mutes[who]?.last?.isOpen ?? false }

  mutating func begin(now: Instant) { published.append(Span(from: now)) }

  mutating func end(now: Instant) {
    for who in [Mute.admin, .owner] { set(who, false, now: now) }
    if isPublished { published[published.count - 1].until = now }
    track = nil
  }

  mutating func set(_ who: Mute, _ isMuted: Bool, now: Instant) {
    guard isMuted != self.isMuted(by: who) else { return }
    if isMuted {
      mutes[who, default: []].append(Span(from: now))
    } else {
      let last = mutes[who, default: []].count - 1
      mutes[who]?[last].until = now
    }
  }

  /// - Parameters:
  ///   - reached: when copies of the packet came to the server.
  ///   - departed: when it left for a subscriber.
  /// - Returns: why it may not have been forwarded.
  func problem(reached: [Instant], departed: Instant) -> String? {
    guard let span = published.first(where: { $0.contains(departed) }) else {
      return "which is not published"
    }
    let due = reached.filter { span.contains($0) }
    guard !due.isEmpty else { return "of a time when it was not published" }
    let isSilent = due.allSatisfy { moment in
      mutes.values.contains { $0.contains { $0.encloses(moment) } }
    }
    return isSilent ? "of a time when it was muted" : nil
  }
}
