public import Model
import Wire

/// Carries the offers and answers of one transport: what was agreed on, section by section, over its life.
///
/// An offer of the far end is answered (`answer`), an offer of ours is made (`offer`) and its answer taken
/// (`accept`); both ways fill the same table. A description that can't be taken throws and leaves everything as
/// it was.
///
///     idle ──answer(to:)──▶ idle
///     idle ──offer──▶ pending ──accept──▶ idle
///                        └──withdrawOffer──▶ idle
public struct Negotiator: Equatable, Sendable {
  /// Tracks and slots that one transport can number in its life.
  public static let maximumIndices: UInt16 = 1_024
  /// SSRCs that our offers may draw; answers draw two for each index at most.
  static let maximumStreams = 32 * Int(maximumIndices)

  public let policy: NegotiationPolicy
  /// One for each section, in the order of the descriptions.
  public internal(set) var sections: [NegotiatedSection] = []
  /// The far end, once something was agreed on.
  public internal(set) var remote: RemoteTransport?

  var extensions = HeaderExtensionMap()
  var pairs: [SlotPair] = []
  /// Every SSRC that was ever ours: none may come again under the same keys.
  var usedSSRCs: Set<UInt32> = []
  /// Those under which a slot has sent, or may have: no other slot is given one of them.
  var spentSSRCs: Set<UInt32> = []
  var nextReceiveIndex: UInt16 = 0
  var nextSendIndex: UInt16 = 0
  /// For sections of our own offers.
  var nextMid = 0
  var localCredentials: ICECredentials?
  var sessionID: UInt64?
  /// Of the last description that left; it counts up with each (RFC 3264 §8).
  var version: UInt64 = 0
  var pending: PendingOffer?

  public init(policy: NegotiationPolicy = .server) { self.policy = policy }

  /// What flows at the moment.
  public var media: AgreedMedia {
    let flowing = sections.filter { $0.receive != nil || $0.send != nil }
    return AgreedMedia(
      receive: flowing.compactMap(\.receive), send: flowing.compactMap(\.send),
      // One transport has one kind of RTCP (RFC 8859 §5.7 has all of a bundle say the same).
      allowsReducedSizeRTCP: !flowing.isEmpty && flowing.allSatisfy(\.allowsReducedSizeRTCP))
  }

  /// The transport is over, and so are all sections: what is agreed on next begins another one. Sections keep their
  /// places, and SSRCs are not used again.
  public mutating func endTransport() {
    remote = nil
    localCredentials = nil
  }

  /// The line `o=` of our next description.
  mutating func nextOrigin(_ random: inout RandomSource) -> SessionOrigin {
    // 63 bits (RFC 8829 §5.2.1).
    let id = sessionID ?? random.next() >> 1
    sessionID = id
    version &+= 1
    return SessionOrigin(sessionID: id, version: version)
  }

  /// Draws an SSRC that neither side uses.
  mutating func newSSRC(avoiding remote: Set<UInt32>, _ random: inout RandomSource) -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: random.next())
      if ssrc != 0, !remote.contains(ssrc), usedSSRCs.insert(ssrc).inserted { return ssrc }
    }
  }

  /// Descriptions only grow, and what is in use keeps its place.
  func checkContinuity(of description: SessionDescription) throws(NegotiationError) {
    var mids: Set<String> = []
    for mid in description.media.compactMap(\.mid) {
      guard mids.insert(mid).inserted else { throw .duplicateMid(mid) }
    }
    guard description.media.count >= sections.count else {
      throw .sectionsMissing(found: description.media.count, agreed: sections.count)
    }
    for (index, (known, section)) in zip(sections, description.media).enumerated()
    where known.isOpen && !section.isStopped {
      guard known.mid == section.mid ?? "", known.media == section.media else {
        throw .sectionChanged(
          section: index, agreed: "\(known.media) with mid \(known.mid)",
          found: "\(section.media) with mid \(section.mid ?? "(none)")")
      }
    }
  }

  /// Takes over what a bundle says about its transport.
  mutating func adopt(
    _ description: SessionDescription, section: Int, members: [Int], isOffer: Bool,
    credentials: ICECredentials
  ) throws(NegotiationError) -> AgreedTransport {
    let new = try description.remoteTransport(
      section: section, members: members, isOffer: isOffer, role: remote?.role)
    let restarts = remote.map { $0.credentials != new.credentials } ?? false
    if let remote, remote.fingerprints != new.fingerprints { throw .fingerprintChanged(section: section) }
    let local = isOffer && !restarts ? localCredentials ?? credentials : credentials
    remote = new
    localCredentials = local
    return AgreedTransport(
      remote: new, remoteCandidates: description.remoteCandidates(section: section),
      remoteIsLite: description.isICELite, localCredentials: local, restartsICE: restarts)
  }
}

/// One section's place in the table.
public struct NegotiatedSection: Equatable, Sendable {
  /// Empty where the section has none.
  public internal(set) var mid: String
  /// The first word of its `m=` line.
  public internal(set) var media: String
  /// Accepted and not stopped; the place of a closed section may be taken by another.
  public internal(set) var isOpen: Bool
  public internal(set) var receive: ReceiveSection?
  public internal(set) var send: SendSection?

  /// As agreed on last, also while nothing flows.
  var codecs: [NegotiatedCodec] = []
  /// Both descriptions of it have `a=rtcp-rsize`.
  var allowsReducedSizeRTCP = false
  /// The name of a slot's track in `a=msid`.
  var trackID = ""
  /// The slot's place in `Negotiator.pairs`.
  var pair: Int?
  /// Of the slot's retransmissions, also while the far end wants none: one SSRC, however often it changes its mind.
  var rtxSSRC: UInt32?
  /// Set where an offer of ours brought the section, so that our next plan disposes of it.
  var purpose: SectionPurpose?

  /// What we announce of our stream.
  var announcement: TrackAnnouncement? {
    if case .track(let track) = purpose { return track }
    return send.map {
      TrackAnnouncement(
        kind: $0.kind, ssrc: $0.ssrc, rtxSSRC: $0.rtxSSRC, cname: $0.cname, streamID: $0.streamID,
        trackID: trackID)
    }
  }

  var result: SectionResult {
    SectionResult(mid: mid, outcome: .accepted(receive: receive?.index, send: send?.index))
  }

  /// The place of a section that is declined or stopped.
  static func closed(_ section: MediaDescription) -> NegotiatedSection {
    NegotiatedSection(mid: section.mid ?? "", media: section.media, isOpen: false)
  }
}

/// What an audio and a video slot have in common, so that browsers play them in step.
struct SlotPair: Equatable, Sendable {
  var streamID: String
  var cname: String
}
