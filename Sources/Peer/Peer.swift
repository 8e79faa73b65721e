internal import Congestion
internal import Crypto
public import ICE
internal import Media
public import Model
public import Wire

/// One remote peer's transport: ICE, DTLS, SRTP, and the tracks and slots on it.
///
/// Sans-I/O: datagrams and the time come in, datagrams go to the context's outbox, what others must know to its
/// effects. All of it is a value that can be taken out as bytes and put back (`encode`, `init(from:)`), except in
/// the middle of a handshake.
///
///     ICE check ──▶ path validated ──▶ handshake ──▶ keys ──▶ media both ways ──▶ closed
public struct Peer: ~Copyable {
  /// Time for a new peer to come and finish its handshake.
  public static let connectTimeout = Duration.seconds(30)
  /// Tracks, and slots, that one transport has in its life; sections beyond are ignored.
  public static let sectionLimit = 1_024

  public let key: PeerKey
  let role: DTLSRole
  let fingerprints: [Fingerprint]
  public internal(set) var media: AgreedMedia
  let reportSSRC: UInt32
  let createdAt: Instant

  public internal(set) var ice: ServerAgent
  /// While it runs; afterwards only what it left.
  var handshake: DTLSHandshake?
  var association: DTLSAssociation?
  /// What the handshake was begun with, as server.
  var hello: DTLSHello?
  /// Where handshake datagrams go: the path of the last one that came.
  var dtlsPath: NetworkPath?
  var held = HeldFlight()
  var opener: SRTPOpener?
  var sealer: SRTPSealer?
  public internal(set) var profile: SRTPProfile?
  /// Where media goes.
  public internal(set) var selectedPath: NetworkPath?

  var receiving = OwnedArray<ReceivingSection>()
  var senders = OwnedArray<SlotSender>()
  var streams = StreamMap()
  var hasSlot: [Bool] = []
  /// Ids of all extensions that come in, whatever the section: in one bundle an id means one thing.
  var incoming = HeaderExtensionMap()
  /// Some of them go on to subscribers.
  var carriesExtensions = false
  var arrivals = ArrivalFeedback()
  /// Transport-wide feedback names some stream of the sender.
  var feedbackSSRC: UInt32 = 0
  /// One clock per CNAME, in the order of their first section.
  var clockNames: [String] = []
  var clocks: [PublisherClock] = []
  /// SRTCP's index: one counter for all sources of ours (RFC 3711 §3.4 asks for one per source; one for all
  /// never repeats either).
  var rtcpIndex: UInt32 = 0
  var reportsDue = Instant.never
  /// Of slots whose codec has another clock since a short time.
  var clockReportsDue = Instant.never
  /// When requests for packets and key frames or arrival feedback are due; early at worst.
  var feedbackDue = Instant.never
  public internal(set) var closed: PeerCloseReason?
  /// To the peer and back, from its reports or our checks.
  var roundTrip = Duration.milliseconds(100)
  var loss = LossTally()
  var traffic: TrafficTally
  /// It has come from another worker since the last report, and sources may be behind those that it had there.
  var isResettling = false

  public init(_ setup: PeerSetup, context: inout PeerContext) {
    var ice = ServerAgent(local: setup.local, verify: setup.verification, now: setup.createdAt)
    ice.setRemote(setup.remote.credentials)
    self.init(
      key: setup.key, role: setup.remote.role, fingerprints: setup.remote.fingerprints,
      reportSSRC: setup.reportSSRC, createdAt: setup.createdAt, ice: ice)
    apply(setup.media, context: &context)
  }

  /// Where the handshake's datagrams came in.
  public var handshakePath: NetworkPath? { dtlsPath }

  /// Another worker has it now.
  public mutating func hasMoved() { isResettling = true }

  /// A peer without tracks and slots.
  init(
    key: PeerKey, role: DTLSRole, fingerprints: [Fingerprint], reportSSRC: UInt32, createdAt: Instant,
    ice: consuming ServerAgent
  ) {
    self.key = key
    self.role = role
    self.fingerprints = fingerprints
    self.reportSSRC = reportSSRC
    self.createdAt = createdAt
    self.ice = ice
    traffic = TrafficTally(since: createdAt)
    media = AgreedMedia()
  }

  /// Takes what was agreed on anew. A track or slot is its section's index: sections that are still there keep
  /// their streams, those that are gone fall silent for good, new ones are added.
  public mutating func apply(_ agreed: AgreedMedia, context: inout PeerContext) {
    for section in agreed.receive where section.index < Self.sectionLimit {
      holdReceivers(below: Int(section.index) + 1)
      receiving.pointer(Int(section.index)).pointee.receiver.apply(section)
    }
    for section in agreed.send where section.index < Self.sectionLimit {
      holdSenders(below: Int(section.index) + 1)
      senders.pointer(Int(section.index)).pointee.apply(section, random: &context.random)
    }
    let gone = (0..<hasSlot.count).filter { slot in
      hasSlot[slot] && !agreed.send.contains { Int($0.index) == slot }
    }
    sayGoodbye(gone, isAll: false, &context)
    for slot in gone { senders.pointer(slot).pointee.sealed = nil }
    media = agreed
    indexSections()
  }

  /// Makes places for tracks, which belong to nobody until their section comes.
  mutating func holdReceivers(below count: Int) {
    while receiving.count < count { receiving.append(ReceivingSection()) }
  }

  /// As `holdReceivers`, for slots; a slot's own section brings its stream's beginning.
  mutating func holdSenders(below count: Int) {
    var unused = RandomSource.seeded(state: 0)
    while senders.count < count {
      senders.append(
        SlotSender(
          SendSection(
            index: 0, mid: "", kind: .audio, codecs: [], extensions: HeaderExtensionMap(), ssrc: 0,
            rtxSSRC: nil, cname: "", streamID: ""), random: &unused))
    }
  }

  /// ICE starts over (RFC 8445 §9); the old credentials serve until the new ones lead to a selected path.
  public mutating func restartICE(local: ICECredentials, remote: ICECredentials) {
    ice.restart(local: local, remote: remote)
  }

  /// Everything that is derived from the sections.
  mutating func indexSections() {
    incoming = HeaderExtensionMap()
    for index in 0..<receiving.count {
      receiving.pointer(index).pointee.describe(nil)
      receiving.pointer(index).pointee.clockIndex = 0
    }
    let oldClocks = Array(zip(clockNames, clocks))
    clockNames = []
    clocks = []
    hasSlot = Array(repeating: false, count: senders.count)
    for section in media.receive where section.index < receiving.count {
      let index = Int(section.index)
      for kind in HeaderExtension.allCases where section.extensions[kind] != 0 {
        incoming[kind] = section.extensions[kind]
      }
      receiving.pointer(index).pointee.describe(section)
      // Without a CNAME the tracks of a transport are taken for one person's.
      if let known = clockNames.firstIndex(of: section.cname) {
        receiving.pointer(index).pointee.clockIndex = known
      } else {
        clockNames.append(section.cname)
        clocks.append(oldClocks.first { $0.0 == section.cname }?.1 ?? PublisherClock())
        receiving.pointer(index).pointee.clockIndex = clocks.count - 1
      }
    }
    for section in media.send where section.index < senders.count { hasSlot[Int(section.index)] = true }
    carriesExtensions =
      incoming[.dependencyDescriptor] | incoming[.colorSpace] | incoming[.playoutDelay] != 0
    // Streams of sections that are gone, or have other streams now, are forgotten.
    let oldStreams = streams.all
    streams.removeAll()
    for index in 0..<receiving.count where receiving.pointer(index).pointee.isAgreed { bind(index) }
    for old in oldStreams where streams.find(old.ssrc) == nil { opener?.remove(ssrc: old.ssrc) }
  }

  /// Enters the receiver's streams into the map.
  mutating func bind(_ index: Int) {
    let section = receiving.pointer(index)
    if let ssrc = section.pointee.receiver.ssrc, !isOurs(ssrc) {
      _ = streams.set(ssrc, StreamMap.Stream(receiver: Int32(index), isRTX: false))
      _ = opener?.markMapped(ssrc: ssrc)
      if feedbackSSRC == 0 { feedbackSSRC = ssrc }
    }
    if let ssrc = section.pointee.receiver.rtxSSRC, !isOurs(ssrc) {
      _ = streams.set(ssrc, StreamMap.Stream(receiver: Int32(index), isRTX: true))
      _ = opener?.markMapped(ssrc: ssrc)
    }
  }

  /// Whether we send to this peer under the SSRC: what came by it could not be told from what is said of ours
  /// (RFC 3550 §8.2).
  func isOurs(_ ssrc: UInt32) -> Bool {
    for index in 0..<senders.count where hasSlot[index] {
      let section = senders.pointer(index)
      if section.pointee.section.ssrc == ssrc || section.pointee.section.rtxSSRC == ssrc { return true }
    }
    return false
  }

  /// Whether an authenticated check came on the path, so that its datagrams are this peer's.
  public func knows(_ path: NetworkPath) -> Bool { ice.isValidated(path) || ice.hasValidCheck(path) }
  /// Whether the peer has answered a check of ours on the path.
  public func hasProven(_ path: NetworkPath) -> Bool { ice.isProven(path) }
  /// Whether an answer to that check of ours is awaited.
  public func expects(_ transaction: STUNTransactionID) -> Bool { ice.expects(transaction) }

  /// Indices of tracks and slots are below these; some may be gone.
  public var receiverCount: Int { receiving.count }
  public var slotCount: Int { senders.count }
  /// Addresses that it was heard from, and our ICE fragments under which it may be.
  public var pairCount: Int { ice.pairCount }
  public var servedFragments: [String] { ice.servedFragments }
  /// SSRCs that are mapped to tracks, and those whose packets were authenticated of late.
  public var streamCount: Int { streams.count }
  public var authenticatedStreamCount: Int {
    switch opener {
    case .some(let opener): opener.streamCount
    case .none: 0
    }
  }
  /// nil for a track or slot that is gone or never was.
  public func kind(ofReceiver index: Int) -> MediaKind? {
    index >= 0 && index < receiving.count ? receiving.pointer(index).pointee.section?.kind : nil
  }
  public func kind(ofSlot index: Int) -> MediaKind? {
    index >= 0 && index < hasSlot.count && hasSlot[index] ? senders.pointer(index).pointee.section.kind : nil
  }
  public var isConnected: Bool { sealer != nil }

  /// Whether media can be sent to it.
  public var takesMedia: Bool { sealer != nil && selectedPath != nil }

  mutating func close(_ reason: PeerCloseReason, _ context: inout PeerContext) {
    guard closed == nil else { return }
    closed = reason
    selectedPath = nil
    context.effects.noteClosed(reason)
  }
}
