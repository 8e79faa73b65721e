internal import Crypto
internal import Engine
internal import Model
internal import Negotiation

/// One person in a simulated conference: the far end, and what the control plane knows of it.
final class Participant {
  /// Who feeds a slot from some moment on.
  struct Feed {
    var from: Instant
    var publisher: Int?
  }

  /// The audio and the video slot for one other person.
  struct Pair {
    var audio: UInt16?
    var video: UInt16?
    var publisher: Int?
  }

  let peer: SyntheticPeer
  let key: PeerKey
  let link: Int
  let joinedAt: Instant
  var inside: SocketAddress
  var negotiator = Negotiator(policy: .server)
  var media = AgreedMedia()
  var pairs: [Pair] = []
  /// SSRCs that the server may send under.
  var announced: Set<UInt32> = []
  /// By slot.
  var feeds: [UInt16: [Feed]] = [:]
  /// When the server had the keys.
  var connectedAt = Instant.never
  var profile: SRTPProfile?
  var closedAt = Instant.never
  /// The conference has let it go.
  var leftAt = Instant.never
  /// SRTCP indices of the server's packets.
  var rtcpIndices: Set<UInt32> = []
  /// Offer and answer are on their way.
  var isNegotiating = false
  /// The worker that its media path leads to.
  var worker: Int?
  /// Sender reports by slot, for lip sync: server time, timestamp.
  var reports: [UInt16: (ntp: NTPTime, timestamp: UInt32, at: Instant)] = [:]
  /// When something happened to its network that excuses losses, and until when.
  var disturbances: [ClosedRange<Instant>] = []
  /// When it was replaced by one rebuilt from its bytes.
  var replacedAt: [Instant] = []
  /// When its far end had the keys.
  var mediaReadyAt: Instant { peer.connectedAt }
  /// Deadline of the peer as of its last turn.
  var deadline = Instant.never

  init(
    peer: SyntheticPeer, key: PeerKey, link: Int, inside: SocketAddress, now: Instant
  ) {
    self.peer = peer
    self.key = key
    self.link = link
    self.inside = inside
    joinedAt = now
  }

  var number: Int { peer.number }
  var isPresent: Bool { leftAt == .never }

  /// The index of the server's section for a kind of ours.
  func track(_ kind: MediaKind) -> TrackKey? {
    media.receive.first { $0.kind == kind }.map { TrackKey(peer: key, index: $0.index) }
  }

  func noteFeed(_ slot: UInt16, _ publisher: Int?, now: Instant) {
    feeds[slot, default: []].append(Feed(from: now, publisher: publisher))
  }

  /// Whether the publisher fed the slot at a moment; at the moment of a change both do.
  func isFed(_ slot: UInt16, by publisher: Int, at moment: Instant) -> Bool {
    guard let history = feeds[slot] else { return false }
    for (index, feed) in history.enumerated() where feed.publisher == publisher {
      let end = index + 1 < history.count ? history[index + 1].from : Instant.never
      if feed.from <= moment && moment <= end { return true }
    }
    return false
  }

  func disturb(from: Instant, for span: Int64) {
    disturbances.append(from...from.advanced(byNanoseconds: span))
  }

  func isDisturbed(from: Instant, until: Instant) -> Bool {
    disturbances.contains { $0.lowerBound <= until && $0.upperBound >= from }
  }

  /// Until when the feed that was there at a moment lasted.
  func endOfFeed(_ slot: UInt16, by publisher: Int, at moment: Instant) -> Instant {
    guard let history = feeds[slot] else { return moment }
    for (index, feed) in history.enumerated() where feed.publisher == publisher {
      let end = index + 1 < history.count ? history[index + 1].from : Instant.never
      if feed.from <= moment && moment <= end { return end }
    }
    return moment
  }
}
