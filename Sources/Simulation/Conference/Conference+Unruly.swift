internal import Model
internal import Signalling
internal import SyntheticPeers

/// Participants that change what they publish at random, and an administrator that changes what they may.
extension Conference {
  /// Tracks of one participant at a time, so that runs stay short.
  private static let mostTracks = 8

  func somethingUnrulyHappens() {
    guard let participant = pick() else { return }
    switch random.next() % 12 {
    case 0, 1: stopTrack(participant)
    case 2, 3: addTracks(participant)
    case 4: shareScreens(participant)
    case 5: stopAll(participant)
    case 6, 7: changePermissions(participant)
    case 8: holdForLong(participant)
    case 9: stopAndPublishAgain(participant)
    case 10: if one(in: 3) { removeRacing(participant) } else { muteOwn(participant) }
    default: ping(participant)
    }
  }

  /// What a token grants: mostly everything.
  func tokenAllowance() -> Allowance {
    var allowance = Allowance()
    guard plan.isUnruly else { return allowance }
    switch random.next() % 12 {
    case 0:
      allowance.isHidden = true
      journal.count(.hiddenParticipant)
    case 1: allowance.canPublish = false
    case 2: allowance.canSubscribe = false
    case 3: allowance.sources = someSources()
    default: return allowance
    }
    journal.count(.restrictedToken)
    return allowance
  }

  /// At least one.
  private func someSources() -> Set<String> {
    let all = Allowance.allSources
    var some = Set(all.filter { _ in one(in: 2) })
    some.insert(all[Int(random.next() % UInt64(all.count))])
    return some
  }

  /// Mostly what the kind can carry; else anything.
  private func source(for kind: MediaKind) -> String? {
    switch random.next() % 8 {
    case 0: nil
    case 1: Allowance.allSources[Int(random.next() % UInt64(Allowance.allSources.count))]
    case 2: "unknown"
    case 3, 4: kind == .audio ? "screen_share_audio" : "screen_share"
    default: kind == .audio ? "microphone" : "camera"
    }
  }

  // MARK: - Sections

  private func mayNegotiate(_ participant: Participant) -> Bool {
    !participant.offering.isNegotiating && participant.client.isOpen && participant.isPresent
  }

  private func stopTrack(_ participant: Participant) {
    let count = participant.peer.descriptions.publications.count
    guard mayNegotiate(participant), count > 0 else { return }
    participant.peer.hostility.ignoresStops = one(in: 3)
    if participant.peer.hostility.ignoresStops {
      journal.count(.stopIgnored)
      // Under the name of another section it would be that one's track.
      participant.peer.descriptions.reusesMids = false
    }
    journal.count(.trackStopped)
    journal.trace(now, "\(participant.number) stops a track")
    participant.peer.unpublish(Int(random.next() % UInt64(count)))
    negotiate(participant)
  }

  private func add(_ kind: MediaKind, _ source: String?, _ participant: Participant) {
    guard participant.peer.descriptions.publications.count < Self.mostTracks else { return }
    journal.count(.trackAdded)
    journal.trace(now, "\(participant.number) adds \(kind) as \(source ?? "nothing")")
    participant.peer.publish(kind, as: source, isMuted: one(in: 6))
  }

  private func addTracks(_ participant: Participant) {
    guard mayNegotiate(participant) else { return }
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let kind: MediaKind = one(in: 2) ? .audio : .video
      add(kind, source(for: kind), participant)
    }
    negotiate(participant)
  }

  /// As many as it may, to come before everybody else.
  private func shareScreens(_ participant: Participant) {
    guard mayNegotiate(participant) else { return }
    for _ in 0..<Int.random(in: 2...5, using: &random) { add(.video, "screen_share", participant) }
    if one(in: 2) { add(.audio, "screen_share_audio", participant) }
    negotiate(participant)
    // Not for long: each is a stream to everybody.
    after(Int64.random(in: 2_000_000_000...4_000_000_000, using: &random)) { [unowned self] in
      participant.peer.descriptions.publications.removeAll { $0.source == "screen_share" }
      negotiate(participant)
    }
  }

  /// No section is left, and with them goes the transport; after a while there are some again.
  private func stopAll(_ participant: Participant) {
    guard mayNegotiate(participant) else { return }
    journal.trace(now, "\(participant.number) stops everything")
    let before = participant.peer.descriptions.publications
    participant.peer.descriptions.publications = []
    let receivers = participant.offering.receivers
    participant.offering.receivers = 0
    participant.offering.lackingReceivers = 0
    negotiate(participant)
    after(Int64.random(in: 300_000_000...2_500_000_000, using: &random)) { [unowned self] in
      guard participant.isPresent else { return }
      for track in before { participant.peer.publish(track.kind, as: track.source) }
      participant.offering.receivers = max(participant.offering.receivers, receivers)
      negotiate(participant)
    }
  }

  /// The same source once more, in another section or in the same one.
  private func stopAndPublishAgain(_ participant: Participant) {
    let count = participant.peer.descriptions.publications.count
    guard mayNegotiate(participant), count > 0 else { return }
    let index = Int(random.next() % UInt64(count))
    let old = participant.peer.descriptions.publications[index]
    journal.count(.trackStopped)
    journal.trace(now, "\(participant.number) stops \(old.kind) as \(old.countedSource), to begin it again")
    participant.peer.unpublish(index)
    if one(in: 2) {
      // In one offer: the section is another.
      add(old.kind, old.source, participant)
      return negotiate(participant)
    }
    negotiate(participant)
    after(Int64.random(in: 200_000_000...800_000_000, using: &random)) { [unowned self] in
      guard participant.isPresent else { return }
      add(old.kind, old.source, participant)
      negotiate(participant)
    }
  }

  // MARK: - Rights

  /// For a while, or for good.
  private func changePermissions(_ participant: Participant) {
    let usual = participant.ledger.allowance
    var wanted = usual
    switch random.next() % 4 {
    case 0, 1: wanted.canPublish.toggle()
    case 2: wanted.canSubscribe.toggle()
    default: wanted.sources = one(in: 4) ? nil : someSources()
    }
    permit(participant, wanted)
    // It tries all the same.
    if one(in: 2) {
      after(Int64.random(in: 100_000_000...900_000_000, using: &random)) { [unowned self] in
        guard participant.isPresent else { return }
        if one(in: 2) { stopAndPublishAgain(participant) } else { negotiate(participant) }
      }
    }
    after(Int64.random(in: 500_000_000...3_000_000_000, using: &random)) { [unowned self] in
      guard participant.isPresent, !isEnding else { return }
      permit(participant, usual)
      negotiate(participant)
    }
  }

  /// An administrator's mute, which may outlive the track.
  private func holdForLong(_ participant: Participant) {
    let tracks = participant.client.tracks.values.sorted()
    guard !tracks.isEmpty else { return }
    journal.count(.trackMuted)
    let held = tracks[Int(random.next() % UInt64(tracks.count))]
    setAdminMute(of: held, participant, true)
    if one(in: 3) {
      publishUnnamed(participant, insteadOf: held)
    } else if one(in: 2) {
      after(Int64.random(in: 100_000_000...600_000_000, using: &random)) { [unowned self] in
        if participant.isPresent { stopAndPublishAgain(participant) }
      }
    }
    after(Int64.random(in: 1_000_000_000...4_000_000_000, using: &random)) { [unowned self] in
      for track in participant.ledger.mutedByAdmin { setAdminMute(of: track, participant, false) }
    }
  }

  /// A track that is muted is stopped, begins again as something else, and then as what it was.
  private func publishUnnamed(_ participant: Participant, insteadOf track: String) {
    guard mayNegotiate(participant), let ssrc = participant.ledger.ssrc(of: track),
      let index = participant.peer.descriptions.publications.firstIndex(where: { $0.ssrc == ssrc })
    else { return }
    let old = participant.peer.descriptions.publications[index]
    participant.peer.unpublish(index)
    negotiate(participant)
    for (moment, source) in [(300_000_000, "unknown"), (900_000_000, old.source)] {
      after(Int64(moment)) { [unowned self] in
        guard participant.isPresent else { return }
        add(old.kind, source, participant)
        negotiate(participant)
      }
    }
  }

  private func muteOwn(_ participant: Participant) {
    let tracks = participant.client.tracks.values.sorted()
    guard !tracks.isEmpty, participant.client.isOpen else { return }
    let track = tracks[Int(random.next() % UInt64(tracks.count))]
    let isMuted = !one(in: 3)
    ask(participant, .mute(track, isMuted)) { _ in .mute(.init(track: track, muted: isMuted)) }
  }

  /// What a client says when it has nothing to say; its token may be renewed by it.
  private func ping(_ participant: Participant) {
    guard participant.client.isOpen, let record = record(of: participant) else { return }
    say(RoomClient.Request(id: 0, kind: .leave, .ping), on: record)
  }
}
