internal import Crypto
internal import Model
internal import SyntheticPeers

/// One participant of a simulated conference: the far end, its client of the native door, and what the server was seen to do
/// for it.
final class Participant {
  /// What feeds a slot from some moment on.
  struct Feed {
    var from: Instant
    var track: TrackName?
    var publisher: Int? { track?.publisher }
  }

  /// An audio and a video slot that are played in step.
  struct Pair {
    var audio: UInt16?
    var video: UInt16?
  }

  /// When it was there, and how its session may end.
  struct Presence {
    let joinedAt: Instant
    /// It has left, or its session was ended.
    var leftAt = Instant.never
    /// It went without a word.
    var vanishedAt = Instant.never
    /// The room has ended its session, which outlasts one that is gone until the server knows.
    var hasEnded = false
    /// Its session's end, as the server says it may be.
    var mayEnd: Set<String> = []
    /// When the server heard that its last socket had gone, and nothing of a new one since.
    var awaySince: Instant?
    /// It came back, or it is over.
    var isAway = false
  }

  /// What the server's cable shows of its transport.
  struct Connection {
    /// When the server had the keys.
    var connectedAt = Instant.never
    /// When the server first heard from it which path to use, and that path had proved itself: media goes nowhere before.
    var nominatedAt = Instant.never
    /// Addresses from which the server has heard so.
    var nominated: Set<SocketAddress> = []
    var profile: SRTPProfile?
    var closedAt = Instant.never
    /// The worker that its media path leads to.
    var worker: Int?
    /// Opens what leaves the server for it.
    var ear: SRTPSession?
    /// SRTCP indices of the server's packets.
    var rtcpIndices: Set<UInt32> = []
  }

  /// Its offers and requests.
  struct Offering {
    /// By request: the sections of each offer.
    var offers: [Int: [OfferedSection]] = [:]
    /// All requests that came to the server.
    var heard: [Int: RoomClient.Request.Kind] = [:]
    /// An offer is on its way.
    var isNegotiating = false
    /// Pairs of sections that it receives in, and that it was asked to add since its last offer.
    var receivers: Int
    var lackingReceivers = 0
    /// It offers no more sections than at first, which go to those that speak.
    var keepsFewSlots = false
    /// Of sound and of pictures it has as many as its configuration says, and no equal numbers of both.
    var hasOwnCounts = false
  }

  let peer: SyntheticPeer
  let client: RoomClient
  /// Its transport, where that is one of a participant without a socket; its client never says a word then.
  var handle: TransportHandle?
  /// What it may do, and what it does.
  let ledger: PermissionLedger
  /// Which of the conference's rooms.
  let room: Int
  let link: Int
  var inside: SocketAddress
  /// Once the server has made a peer of the media plane for it.
  var key: PeerKey?
  var presence: Presence
  var connection = Connection()
  var offering: Offering
  /// What the server agreed to.
  var media = AgreedMedia()
  /// SSRCs that the server may send under.
  var announced: Set<UInt32> = []
  /// By slot.
  var feeds: [UInt16: [Feed]] = [:]
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
    peer: SyntheticPeer, client: RoomClient, room: Int, link: Int, inside: SocketAddress, now: Instant
  ) {
    self.peer = peer
    self.client = client
    ledger = PermissionLedger(client.token.allowance, now: now)
    self.room = room
    offering = Offering(receivers: peer.descriptions.audioReceivers)
    self.link = link
    self.inside = inside
    presence = Presence(joinedAt: now)
  }

  var number: Int { peer.number }
  var isPresent: Bool { presence.leftAt == .never }

  /// Its track of a kind, as the room names it.
  func track(_ kind: MediaKind) -> String? {
    media.receive.first { $0.kind == kind }.flatMap { client.tracks[$0.mid] }
  }

  /// The slot that is played in step with another.
  func pair(of slot: UInt16) -> Pair {
    guard let stream = media.send.first(where: { $0.index == slot })?.streamID else { return Pair() }
    let both = media.send.filter { $0.streamID == stream }
    return Pair(
      audio: both.first { $0.kind == .audio }?.index, video: both.first { $0.kind == .video }?.index)
  }

  func noteFeed(_ slot: UInt16, _ track: TrackName?, now: Instant) {
    feeds[slot, default: []].append(Feed(from: now, track: track))
  }

  /// Whether the track fed the slot at a moment; at the moment of a change both do.
  func isFed(_ slot: UInt16, by track: TrackName, at moment: Instant) -> Bool {
    guard let history = feeds[slot] else { return false }
    for (index, feed) in history.enumerated() where feed.track == track {
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
  func endOfFeed(_ slot: UInt16, by track: TrackName, at moment: Instant) -> Instant {
    guard let history = feeds[slot] else { return moment }
    for (index, feed) in history.enumerated() where feed.track == track {
      let end = index + 1 < history.count ? history[index + 1].from : Instant.never
      if feed.from <= moment && moment <= end { return end }
    }
    return moment
  }
}
