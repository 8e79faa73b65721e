internal import Engine
internal import Logging
internal import Model
internal import Negotiation
internal import Peer
internal import Wire

/// One room: who is in it, what they publish, and which slot of whom shows which track.
///
/// An actor, readable before fast: packets never come here. It tells the media plane what to do by one-way
/// commands and hears of it by events.
actor Room {
  let info: RoomInfo
  private let media: MediaPlane
  private let directory: RoomDirectory
  private let log: Log
  private var members: [Member] = []
  private var random = RandomSource.system
  private var lastEvent = 0
  private var closed: LeaveReason?

  /// One participant session.
  private struct Member {
    let session: ParticipantSession
    var info: ParticipantInfo
    let grants: Grants
    var transport: Transport?
    /// Tracks of theirs, as the media plane knows them.
    var published: [(info: TrackInfo, key: TrackKey, mid: String)] = []
    var slots = SlotTable()
  }

  private struct Transport {
    let key: PeerKey
    var negotiator: Negotiator
    var local: LocalTransport
  }

  init(name: String, media: MediaPlane, directory: RoomDirectory, log: Log) {
    var random = RandomSource.system
    info = RoomInfo(id: RoomID(&random), name: name)
    self.media = media
    self.directory = directory
    self.log = log
  }

  // MARK: - Coming and going

  func join(identity: String, name: String?, grants: Grants) -> ParticipantSession {
    if let old = members.first(where: { $0.info.identity == identity }) {
      end(old.session.id, reason: .duplicateIdentity)
    }
    if lastEvent == 0 { record(.roomStarted) }
    let participant = ParticipantInfo(
      id: ParticipantID(&random), identity: identity, name: name, tracks: [])
    let others = members.filter { !$0.grants.hidden }.map(\.info)
    if !grants.hidden { record(.participantJoined, participant: participant) }
    let session = ParticipantSession(
      id: participant.id, room: self,
      joined: JoinedState(
        room: info, participant: participant, participants: others, lastEvent: lastEvent))
    let tracks = grants.canSubscribe ? publishedTracks : []
    members.append(Member(session: session, info: participant, grants: grants))
    for track in tracks { _ = members[members.count - 1].slots.add(track) }
    log.info("participant joined", ["room": info.name, "identity": identity, "id": participant.id.text])
    if let closed { end(participant.id, reason: closed) }
    return session
  }

  func leave(_ id: ParticipantID, reason: LeaveReason) { end(id, reason: reason) }

  private func end(_ id: ParticipantID, reason: LeaveReason) {
    guard let position = index(of: id) else { return }
    unpublishAll(position)
    let member = members.remove(at: position)
    // Its place is given back when the media plane says that it is gone.
    if let transport = member.transport { media.post(.close(transport.key)) }
    if !member.grants.hidden { record(.participantLeft, participant: member.info, reason: reason) }
    member.session.finish(.closed(reason))
    directory.sessionEnded(in: info.name)
    if members.isEmpty { record(.roomFinished) }
    log.info(
      "participant left", ["room": info.name, "identity": member.info.identity, "reason": reason.rawValue])
  }

  /// Ends every session, also of those that are on their way in.
  func close(reason: LeaveReason) {
    closed = reason
    for member in members { end(member.session.id, reason: reason) }
  }

  // MARK: - Offers

  /// Answers an offer: publishes, unpublishes, adds receive sections, restarts ICE.
  func offer(
    _ sdp: String, tracks: [OfferedTrack], from id: ParticipantID
  ) throws(OfferError) -> OfferAnswer {
    guard let position = index(of: id) else { throw .gone }
    let description: SessionDescription
    do throws(SDPError) { description = try SessionDescription(parsing: sdp) } catch {
      throw .malformed(error)
    }

    try checkGrants(members[position].grants, description, tracks)
    let known = members[position].transport
    guard let key = known?.key ?? media.reserve() else { throw .overloaded }
    var transport =
      known ?? Transport(key: key, negotiator: Negotiator(policy: media.policy), local: media.local(for: key))
    let answer: Answer
    do throws(NegotiationError) {
      // Fresh credentials, taken if the offer restarts ICE.
      if known != nil { transport.local = media.local(for: key) }
      answer = try transport.negotiator.answer(to: description, local: transport.local, random: &random)
    } catch {
      if known == nil { media.release(key) }
      throw .refused(error)
    }
    if let agreed = answer.agreement.transport {
      // Before the media plane knows of it: its first event may come at once.
      directory.note(key, room: self)
      if known == nil {
        media.add(key, agreed, answer.agreement.media)
      } else {
        if agreed.restartsICE {
          media.post(
            .restartICE(key, local: agreed.localCredentials, remote: agreed.remote.credentials))
        }
        media.post(.apply(key, answer.agreement.media))
      }
      members[position].transport = transport
    } else if known == nil {
      // Nothing was accepted: there is nothing to connect for.
      media.release(key)
    } else {
      members[position].transport = transport
    }
    let published = publish(answer.agreement, offered: tracks, position)
    let changed = members[position].slots.apply(answer.agreement.media.send)
    assign(changed, of: position)
    wantOffer(position)
    return OfferAnswer(
      sdp: answer.sdp, tracks: published,
      slots: members[position].slots.slots.map { SlotAssignment(mid: $0.mid, track: $0.track?.id) },
      declined: answer.agreement.sections.compactMap {
        if case .declined(let reason) = $0.outcome { ($0.mid, reason.rawValue) } else { nil }
      })
  }

  /// What a token forbids is refused as a whole, before anything changes.
  private func checkGrants(
    _ grants: Grants, _ description: SessionDescription, _ tracks: [OfferedTrack]
  ) throws(OfferError) {
    for section in description.media where section.isRTP && !section.isStopped {
      let direction = description.attributes(of: section).direction ?? .sendrecv
      guard direction.sends else { continue }
      guard grants.canPublish else { throw .notAllowed("publishing (canPublish)") }
      let source = tracks.first { $0.mid == section.mid }?.source ?? Self.defaultSource(section.media)
      guard grants.mayPublish(source) else {
        throw .notAllowed("publishing \(source.rawValue) (canPublishSources)")
      }
    }
  }

  /// What a section without a word about its source is taken for.
  private static func defaultSource(_ media: String) -> TrackSource {
    media == "audio" ? .microphone : .camera
  }

  /// Brings the list of a member's tracks in line with what was agreed on.
  private func publish(
    _ agreement: Agreement, offered: [OfferedTrack], _ position: Int
  ) -> [(mid: String, track: TrackID)] {
    guard let key = members[position].transport?.key else { return [] }
    let sections = agreement.media.receive
    for track in members[position].published
    where !sections.contains(where: { $0.index == track.key.index }) {
      unpublish(track.info.id, position)
    }
    for section in sections {
      let trackKey = TrackKey(peer: key, index: section.index)
      guard !members[position].published.contains(where: { $0.key == trackKey }) else { continue }
      let wish = offered.first { $0.mid == section.mid }
      let source = wish?.source ?? Self.defaultSource(section.kind == .audio ? "audio" : "video")
      let track = TrackInfo(id: TrackID(&random), kind: section.kind, source: source, name: wish?.name)
      members[position].published.append((track, trackKey, section.mid))
      members[position].info.tracks.append(track)
      note(.trackPublished, track, of: position)
      let entry = slotTrack(track, trackKey, of: members[position].info)
      for other in members.indices where other != position && members[other].grants.canSubscribe {
        assign(members[other].slots.add(entry), of: other)
        wantOffer(other)
      }
    }
    return members[position].published.map { ($0.mid, $0.info.id) }
  }

  private func unpublish(_ id: TrackID, _ position: Int) {
    guard let entry = members[position].published.first(where: { $0.info.id == id }) else { return }
    members[position].published.removeAll { $0.info.id == id }
    members[position].info.tracks.removeAll { $0.id == id }
    for other in members.indices where other != position {
      assign(members[other].slots.remove(id), of: other)
    }
    note(.trackUnpublished, entry.info, of: position)
  }

  private func unpublishAll(_ position: Int) {
    for track in members[position].published { unpublish(track.info.id, position) }
  }

  // MARK: - Slots

  /// Passes changed slots to the media plane and to their owner.
  private func assign(_ changed: [SlotTable.Slot], of position: Int) {
    guard !changed.isEmpty, let key = members[position].transport?.key else { return }
    for slot in changed { media.post(.assign(key, slot: slot.index, slot.track?.key)) }
    members[position].session.notify(
      .slots(changed.map { SlotAssignment(mid: $0.mid, track: $0.track?.id) }))
  }

  private func wantOffer(_ position: Int) {
    let shortage = members[position].slots.shortage
    guard shortage.audio + shortage.video > 0, members[position].transport != nil else { return }
    members[position].session.notify(.offerWanted(audio: shortage.audio, video: shortage.video))
  }

  private var publishedTracks: [SlotTable.Track] {
    members.flatMap { member in
      member.published.map { slotTrack($0.info, $0.key, of: member.info) }
    }
  }

  private func slotTrack(_ track: TrackInfo, _ key: TrackKey, of owner: ParticipantInfo) -> SlotTable.Track {
    let isScreen = track.source == .screenShare || track.source == .screenShareAudio
    return SlotTable.Track(
      id: track.id, key: key, kind: track.kind, group: owner.id.text + (isScreen ? "/screen" : "/camera"))
  }

  // MARK: - Events of the media plane

  func handle(_ events: PeerEvents) {
    guard let position = members.firstIndex(where: { $0.transport?.key == events.peer }) else { return }
    let identity = members[position].info.identity
    if let profile = events.connected {
      log.info(
        "media connected", ["room": info.name, "identity": identity, "profile": profile.name])
    }
    for index in events.startedTracks.sorted() {
      guard let track = members[position].published.first(where: { $0.key.index == index }) else { continue }
      log.info(
        "track started", ["room": info.name, "identity": identity, "track": track.info.id.text])
    }
    if let reason = events.closed {
      log.info("media closed", ["room": info.name, "identity": identity, "reason": reason.rawValue])
      end(members[position].session.id, reason: .connectionLost)
    }
  }

  // MARK: - Helpers

  private func index(of id: ParticipantID) -> Int? { members.firstIndex { $0.session.id == id } }

  private func note(_ kind: RoomEvent.Kind, _ track: TrackInfo, of position: Int) {
    guard !members[position].grants.hidden else { return }
    record(kind, participant: members[position].info, track: track)
  }

  /// Numbers an event and tells it to everybody who is in.
  private func record(
    _ kind: RoomEvent.Kind, participant: ParticipantInfo? = nil, track: TrackInfo? = nil,
    reason: LeaveReason? = nil
  ) {
    lastEvent += 1
    let event = RoomEvent(
      id: lastEvent, time: media.wallTime, room: info, kind: kind, participant: participant, track: track,
      reason: reason)
    for member in members { member.session.notify(.event(event)) }
  }
}
