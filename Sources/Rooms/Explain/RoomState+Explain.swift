internal import AccessTokens
internal import Congestion
internal import Engine
internal import Model

/// Why participants get what they get, from what the room knows and what the media plane says.
extension RoomState {
  /// Subscriptions of one transport in the answer to its participant, as many tracks as a client could show: in a large room most of
  /// what it wants has no slot.
  static let ownSubscriptions = 128
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

  func page(_ page: RunningExplanations.Page) -> ([ParticipantID], hasMore: Bool) {
    guard let identity = page.identity else { return self.page(after: page.after, limit: page.limit) }
    return (member(of: identity).map { [members[$0].id] } ?? [], false)
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

  /// - Parameters:
  ///   - answers: of the workers; nil of one that did not answer.
  ///   - most: subscriptions of one transport.
  func explain(
    _ ids: [ParticipantID], _ answers: [WorkerExplanation?], most: Int = .max
  ) -> [ParticipantExplanation] {
    let asked = ids.compactMap { id in member(id).map { members[$0] } }
    let wanted = asked.map { $0.transports.map { $0.slots.wanted(most: most) } }
    var known = KnownMedia(answers)
    known.find(wanted.joined().joined().map(\.key.peer), in: members)
    return zip(asked, wanted).map { explain($0, $1, known) }
  }

  private func explain(
    _ member: Member, _ wanted: [[SlotPolicy.Track]], _ known: KnownMedia
  ) -> ParticipantExplanation {
    ParticipantExplanation(
      id: member.id, identity: member.identity, name: ParticipantName(member).name,
      transports: member.transports.map { transport in
        let media = transport.peer.flatMap { known.peers[$0] }
        return TransportExplanation(
          id: transport.id, bitrates: transport.bitrates, media: media,
          probedAt: media?.probe.map { wallTime(at: $0.startedAt) })
      },
      subscriptions: zip(member.transports, wanted).flatMap { explain($0, $1, known) })
  }

  private func explain(
    _ transport: Transport, _ wanted: [SlotPolicy.Track], _ known: KnownMedia
  ) -> [SubscriptionExplanation] {
    var places: [TrackID: SlotPolicy.Slot] = [:]
    for slot in transport.slots.slots { if let track = slot.track { places[track] = slot } }
    return wanted.compactMap { explain($0, in: places[$0.id], on: transport, known) }
  }

  private func explain(
    _ track: SlotPolicy.Track, in slot: SlotPolicy.Slot?, on transport: Transport, _ known: KnownMedia
  ) -> SubscriptionExplanation? {
    guard let place = known.owners[track.key.peer],
      let info = self[place].published.first(where: { $0.key == track.key })?.info,
      let standing = transport.slots.standing(of: track.id)
    else { return nil }
    let publisher = ParticipantName(members[place.member])
    let peer = transport.peer.flatMap { known.peers[$0] }
    var media = slot.flatMap { slot in
      peer?.slots.first { $0.slot == slot.index && $0.track == track.key }
    }
    let isStalled = stalls.contains(track.id)
    // Its layers are known, and nothing of them comes.
    if info.muted || isStalled { media?.sent = nil }
    let encoding = media?.sent?.encoding ?? 0
    let judge = StreamJudge(
      standing: standing, picture: track.picture, kind: track.kind, info: info, publisher: publisher,
      isStalled: isStalled, hasPeer: transport.peer != nil, peer: peer, slot: media)
    return SubscriptionExplanation(
      track: info, publisher: publisher, transport: transport.id, mid: slot?.mid,
      state: transport.announced[track.id] ?? (transport.peer == nil ? .waiting(.noSlot) : .active),
      wanted: track.kind == .video ? track.picture : nil, media: media,
      rid: media?.sent == nil ? nil : self[place].rid(ofTrack: track.key, encoding),
      keyFrame: known.keyFrame(track.key, encoding).map { wallTime(at: $0) },
      request: request(track.key, known), reason: judge.reason)
  }

  private func request(_ track: TrackKey, _ known: KnownMedia) -> SubscriptionExplanation.Request? {
    guard let last = known.requests[track] else { return nil }
    let asker: SubscriptionExplanation.Request.Asker =
      switch last.asker {
      case .server: .server
      case .subscriber(let peer):
        known.owners[peer].map { members[$0.member] }.map {
          .participant(ParticipantName($0), isHidden: $0.grants.hidden)
        } ?? .other
      case .worker: .other
      }
    return SubscriptionExplanation.Request(at: wallTime(at: last.at), asker: asker)
  }

  private func wallTime(at moment: Instant) -> WallTime { WallTime(terms.epoch.ntp(at: moment)) }
}
