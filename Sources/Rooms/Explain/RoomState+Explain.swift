internal import AccessTokens
internal import Congestion
internal import Engine
internal import Model

/// Why participants get what they get, from what the room knows and what the media plane says.
extension RoomState {
  /// A page that has so many subscriptions takes in no further participant: in a large room each has many.
  static let explainedSubscriptions = 750

  /// Participants in the order of their identities' bytes.
  /// - Parameter after: only those behind this identity.
  /// - Returns: at least one where there is any, `limit` at most, and whether there are more.
  func page(after: String?, limit: Int) -> ([ParticipantID], hasMore: Bool) {
    let found = members.indices.filter { member in after.map { $0.isBefore(members[member].identity) } ?? true
    }
    .sorted { members[$0].identity.isBefore(members[$1].identity) }
    var taken: [ParticipantID] = []
    var subscriptions = 0
    for member in found.prefix(limit) where subscriptions < Self.explainedSubscriptions {
      taken.append(members[member].id)
      subscriptions += members[member].transports.reduce(0) { $0 + $1.slots.tracks.count }
    }
    return (taken, found.count > taken.count)
  }

  /// What is asked of the media plane about them.
  func question(about ids: [ParticipantID]) -> MediaQuestion {
    var peers: [PeerKey] = []
    var tracks: Set<TrackKey> = []
    for id in ids {
      guard let member = member(id) else { continue }
      for transport in members[member].transports {
        guard let peer = transport.peer else { continue }
        peers.append(peer)
        for slot in transport.slots.slots {
          if let track = slot.track.flatMap({ transport.slots.tracks[$0] }), track.kind == .video {
            tracks.insert(track.key)
          }
        }
      }
    }
    let inOrder = tracks.sorted { ($0.peer.rawValue, $0.index) < ($1.peer.rawValue, $1.index) }
    return MediaQuestion(peers: peers, tracks: inOrder)
  }

  /// - Parameter answers: of the workers; nil of one that did not answer.
  func explain(_ ids: [ParticipantID], _ answers: [WorkerExplanation?]) -> [ParticipantExplanation] {
    let known = KnownMedia(answers, members)
    return ids.compactMap { id in
      member(id).map { explain(members[$0], known) }
    }
  }

  private func explain(_ member: Member, _ known: KnownMedia) -> ParticipantExplanation {
    ParticipantExplanation(
      id: member.id, identity: member.identity, name: ParticipantName(member).name,
      transports: member.transports.map { transport in
        let media = transport.peer.flatMap { known.peers[$0] }
        return TransportExplanation(
          id: transport.id, bitrates: transport.bitrates, media: media,
          probedAt: media?.probe.map { wallTime(at: $0.startedAt) })
      },
      subscriptions: member.transports.flatMap { explain($0, known) })
  }

  private func explain(_ transport: Transport, _ known: KnownMedia) -> [SubscriptionExplanation] {
    let peer = transport.peer.flatMap { known.peers[$0] }
    var places: [TrackID: SlotPolicy.Slot] = [:]
    for slot in transport.slots.slots { if let track = slot.track { places[track] = slot } }
    let standings = transport.slots.standings
    return standings.keys.sorted { $0.text < $1.text }.compactMap { id in
      guard let track = transport.slots.tracks[id], let origin = known.origins[id],
        let standing = standings[id]
      else { return nil }
      let slot = places[id]
      var media = slot.flatMap { slot in
        peer?.slots.first { $0.slot == slot.index && $0.track == track.key }
      }
      // Its layers are known, and nothing of them comes.
      if origin.track.info.muted || stalls.contains(id) { media?.sent = nil }
      let encoding = media?.sent?.encoding ?? 0
      let judge = StreamJudge(
        standing: standing, picture: track.picture, kind: track.kind, info: origin.track.info,
        publisher: origin.name, isStalled: stalls.contains(id), hasPeer: transport.peer != nil, peer: peer,
        slot: media)
      return SubscriptionExplanation(
        track: origin.track.info, publisher: origin.name, transport: transport.id, mid: slot?.mid,
        state: transport.announced[id] ?? (transport.peer == nil ? .waiting(.noSlot) : .active),
        wanted: track.kind == .video ? track.picture : nil, media: media,
        rid: media?.sent == nil ? nil : origin.rid(encoding),
        keyFrame: known.keyFrame(track.key, encoding).map { wallTime(at: $0) },
        request: request(track.key, known), reason: judge.reason)
    }
  }

  private func request(_ track: TrackKey, _ known: KnownMedia) -> SubscriptionExplanation.Request? {
    guard let last = known.requests[track] else { return nil }
    let asker: SubscriptionExplanation.Request.Asker =
      switch last.asker {
      case .server: .server
      case .subscriber(let peer):
        known.owners[peer].map {
          .participant(ParticipantName(members[$0]), isHidden: members[$0].grants.hidden)
        } ?? .other
      case .worker: .other
      }
    return SubscriptionExplanation.Request(at: wallTime(at: last.at), asker: asker)
  }

  private func wallTime(at moment: Instant) -> WallTime { WallTime(terms.epoch.ntp(at: moment)) }
}

/// The workers' answers by what they are about, and whose the tracks are.
private struct KnownMedia {
  struct Origin {
    var track: PublishedTrack
    var name: ParticipantName
    var rids: [String]

    func rid(_ encoding: UInt8) -> String? {
      rids.indices.contains(Int(encoding)) ? rids[Int(encoding)] : nil
    }
  }

  private(set) var peers: [PeerKey: PeerExplanation] = [:]
  private(set) var origins: [TrackID: Origin] = [:]
  private(set) var owners: [PeerKey: Int] = [:]
  private var keyFrames: [TrackKey: Instant] = [:]
  /// By track: the last, whichever worker knows of it.
  private(set) var requests: [TrackKey: KeyFrameRequest] = [:]

  init(_ answers: [WorkerExplanation?], _ members: [Member]) {
    for (index, member) in members.enumerated() {
      for transport in member.transports {
        if let peer = transport.peer { owners[peer] = index }
        for track in transport.published {
          origins[track.info.id] = Origin(
            track: track, name: ParticipantName(member),
            rids: transport.advice(for: track, .all).layers.map(\.rid))
        }
      }
    }
    for answer in answers.compactMap(\.self) {
      for peer in answer.peers { peers[peer.peer] = peer }
      for feed in answer.feeds { note(feed) }
    }
  }

  private mutating func note(_ feed: FeedExplanation) {
    if let keyFrame = feed.keyFrame {
      keyFrames[feed.track] = max(keyFrame, keyFrames[feed.track] ?? keyFrame)
    }
    guard let request = feed.request else { return }
    guard let known = requests[feed.track.track] else {
      requests[feed.track.track] = request
      return
    }
    // The worker where it came up knows more than the one that it was passed on to.
    let isVague = if case .worker = known.asker { true } else { false }
    let isBetter = if case .worker = request.asker { false } else { isVague || request.at > known.at }
    if isBetter { requests[feed.track.track] = request }
  }

  func keyFrame(_ track: TrackKey, _ encoding: UInt8) -> Instant? {
    keyFrames[TrackKey(peer: track.peer, index: track.index, encoding: encoding)]
  }
}
