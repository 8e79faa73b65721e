internal import AccessTokens
internal import Model

/// What participants ask.
extension RoomState {
  /// Preferences about tracks that one transport may have.
  static let subscriptionLimit = 512
  /// Of a message's payload in base64: 16 KiB.
  static let payloadLimit = 21_848

  /// - Parameter session: that asks; nil: whichever there is.
  mutating func handle(_ request: ParticipantRequest, of id: ParticipantID, _ session: UInt32? = nil) {
    if let member = member(id) {
      guard let known = members[member].session, known == session ?? known else {
        return reply(.refused(.gone))
      }
    }
    switch request {
    case .openTransport(let role): openTransport(role, of: id)
    case .closeTransport(let transport): closeTransport(transport, of: id)
    case .leave(let reason): leave(id, reason: reason)
    case .grants: reply(member(id).map { .grants(members[$0].handleGrants) } ?? .refused(.gone))
    case .tellSlots:
      guard let member = member(id) else { return }
      for place in places(of: member) { notify(place, .slots(self[place].assignments)) }
    case .absent: absent(id)
    case .present(let after): present(id, after: after)
    case .offer(let sdp, let tracks, let transport):
      negotiate { state throws(OfferError) in try state.offer(sdp, tracks, on: transport, of: id) }
    case .makeOffer(let count, let transport):
      negotiate { state throws(OfferError) in try state.makeOffer(count, on: transport, of: id) }
    case .accept(let sdp, let transport):
      negotiate { state throws(OfferError) in try state.accept(sdp, on: transport, of: id) }
    case .subscribe(let track, let mid, let picture, let transport):
      perform { state throws(RequestError) in
        try state.subscribe(track, mid: mid, picture, on: transport, by: id)
      }
    case .unsubscribe(let track, let transport):
      perform { state throws(RequestError) in try state.unsubscribe(track, on: transport, by: id) }
    case .view(let tracks, let transport):
      perform { state throws(RequestError) in try state.view(tracks, on: transport, by: id) }
    case .resize(let track, let layers, let transport):
      perform { state throws(RequestError) in try state.resize(track, layers, on: transport, by: id) }
    case .mute(let track, let muted):
      perform { state throws(RequestError) in try state.mute(track, muted, by: id) }
    case .update(let change):
      perform { state throws(RequestError) in try state.update(change, by: id) }
    case .explain: perform { state throws(RequestError) in _ = try state.asking(id) }
    case .send(let message):
      perform { state throws(RequestError) in try state.send(message, from: id) }
    case .hand(let isRaised, let other):
      perform { state throws(RequestError) in try state.raiseHand(isRaised, of: other, by: id) }
    case .admit(let waiting, let isAllowed):
      do throws(RequestError) { try decide(waiting, isAllowed: isAllowed, by: id) } catch {
        reply(.refused(error))
      }
    }
  }

  /// Its answer comes with the effects, where it isn't refused.
  private mutating func negotiate(_ body: (inout RoomState) throws(OfferError) -> Void) {
    do throws(OfferError) { try body(&self) } catch { reply(.offerRefused(error)) }
  }

  private mutating func perform(_ body: (inout RoomState) throws(RequestError) -> Void) {
    do throws(RequestError) {
      try body(&self)
      reply(.done)
    } catch { reply(.refused(error)) }
  }

  /// - Parameter price: in requests.
  mutating func asking(_ id: ParticipantID, price: Double = 1) throws(RequestError) -> Int {
    guard let member = member(id) else { throw .gone }
    guard spend(member, { $0.requests.take(price, now: $1) }) else { throw .tooOften }
    return member
  }

  // MARK: - Subscriptions

  private mutating func subscribe(
    _ track: String, mid: String?, _ picture: PicturePreference, on transport: TransportID,
    by id: ParticipantID
  ) throws(RequestError) {
    let (place, track) = try wanted(track, on: transport, by: id)
    if let mid {
      let kind = self[place].slots.kind(of: track)
      guard self[place].slots.slots.contains(where: { $0.mid == mid && $0.kind == kind }) else {
        throw .unknownSlot
      }
    }
    change(place) { slots, now in
      slots.setPictures([track: picture])
      slots.setPreference(.explicit(mid: mid), for: track, now: now)
    }
  }

  private mutating func unsubscribe(
    _ track: String, on transport: TransportID, by id: ParticipantID
  ) throws(RequestError) {
    let (place, track) = try wanted(track, on: transport, by: id)
    change(place) { slots, now in slots.setPreference(.none, for: track, now: now) }
  }

  /// So many tracks of a view cost as much as a request more.
  private static let viewsPerRequest = 16.0

  private mutating func view(
    _ tracks: [(track: String, picture: PicturePreference)], on transport: TransportID, by id: ParticipantID
  ) throws(RequestError) {
    let member = try asking(id, price: 1 + Double(tracks.count) / Self.viewsPerRequest)
    guard members[member].handleGrants.canSubscribe else { throw .notAllowed("subscribing (canSubscribe)") }
    guard let place = handlePlace(of: transport, of: member) else { throw .gone }
    var pictures: [TrackID: PicturePreference] = [:]
    // A track may have ended while the message was on its way.
    for (track, picture) in tracks {
      if let known = self[place].slots.find(track) { pictures[known] = picture }
    }
    change(place) { slots, _ in slots.setPictures(pictures) }
  }

  /// A track that the member may have.
  private mutating func wanted(
    _ track: String, on transport: TransportID, by id: ParticipantID
  ) throws(RequestError) -> (TransportPlace, TrackID) {
    let member = try asking(id)
    guard members[member].handleGrants.canSubscribe else { throw .notAllowed("subscribing (canSubscribe)") }
    guard let place = handlePlace(of: transport, of: member) else { throw .gone }
    guard let known = self[place].slots.find(track) else { throw .unknownTrack }
    guard self[place].slots.hasPreference(known) || self[place].slots.preferenceCount < Self.subscriptionLimit
    else { throw .limit(Self.subscriptionLimit) }
    return (place, known)
  }

  // MARK: - Oneself

  /// A track that is muted reaches no subscriber, whatever its publisher sends.
  private mutating func mute(_ track: String, _ muted: Bool, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    let own = members[member].transports.lazy.flatMap(\.published)
    guard let known = own.first(where: { $0.info.id.text == track }) else { throw .unknownTrack }
    guard muted || !known.info.mutedByAdmin else { throw .mutedByAdmin }
    _ = setMute(of: track, of: member) { $0.mutedByPublisher = muted }
  }

  private mutating func update(_ change: ParticipantChange, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    guard members[member].handleGrants.canUpdateOwnMetadata else {
      throw .notAllowed("this (canUpdateOwnMetadata)")
    }
    let before = members[member].info
    var info = before
    if let name = change.name { info.name = name }
    if let metadata = change.metadata { info.metadata = metadata }
    for (key, value) in change.attributes ?? [:] { info.attributes[key] = value.isEmpty ? nil : value }
    let bytes: Int
    do throws(StateExcess) { bytes = try review(info, of: member, from: .participant) } catch {
      throw RequestError(error)
    }
    guard !info.isExactly(before) else { return }
    // What everybody is about to be sent costs one request for each 8 KiB more.
    let cost = StateBudget.eventCost(bytes) - 1
    guard spend(member, { $0.requests.take(upTo: cost, now: $1) }) else { throw .tooOften }
    members[member].describe(info, stateBytes: bytes)
    if !members[member].grants.hidden { record(.participantUpdated, of: member) }
  }

  /// Whether a participant may have that metadata and these attributes. It is asked here as it joins, as it changes them
  /// itself, and as they are changed by REST. What is no more than it has is never refused.
  /// - Parameter member: who has them then, or whom the participant replaces.
  /// - Returns: how many bytes they have.
  func review(
    _ info: ParticipantInfo, of member: Int?, from source: StateBudget.Source = .issuer
  ) throws(StateExcess) -> Int {
    if let part = ParticipantChange.excess(of: info) { throw .part(part) }
    let bytes = info.stateBytes
    let budget = terms.stateBudget
    if bytes > budget.largest { throw .whole(bytes: bytes, limit: budget.largest) }
    let others = members.indices.lazy.filter { $0 != member }.map { members[$0].stateBytes }
    let limit = max(budget.limit(beside: others, from: source), member.map { members[$0].stateBytes } ?? 0)
    guard bytes <= limit else { throw .crowded(bytes: bytes, limit: limit) }
    return bytes
  }

  // MARK: - Messages

  private mutating func send(_ request: DataRequest, from id: ParticipantID) throws(RequestError) {
    guard let member = member(id) else { throw .gone }
    let grants = members[member].handleGrants
    guard grants.canPublishData else { throw .notAllowed("messages (canPublishData)") }
    let size = DataMessage.encodedSize(request.payload)
    guard size <= Self.payloadLimit else { throw .tooLarge("payload") }
    let isPaid = spend(member) { $0.messages.take(now: $1) && $0.volume.take(Double(size), now: $1) }
    guard isPaid else { throw .tooOften }
    #if PLANTED_DEFECTS
      let isHidden = grants.hidden && !PlantedDefect.isOn(.hiddenSender)
    #else
      let isHidden = grants.hidden
    #endif
    let message = DataMessage(
      from: isHidden ? nil : id, payload: request.payload, topic: request.topic, reliable: request.reliable)
    // An empty list is what SDKs send for "everybody".
    #if PLANTED_DEFECTS
      let wanted = request.destinations.flatMap {
        $0.isEmpty && !PlantedDefect.isOn(.emptyDestinations) ? nil : Set($0.map(ExactName.init))
      }
    #else
      let wanted = request.destinations.flatMap { $0.isEmpty ? nil : Set($0.map(ExactName.init)) }
    #endif
    if wanted == nil { keep(message, of: member) }
    for other in members.indices where other != member {
      if wanted?.contains(ExactName(members[other].identity)) ?? true { notify(other, .data(message)) }
    }
  }

  /// Keeps a message for those who come later, where the room does: one to everybody, which no one may miss.
  /// - Parameter member: who has sent it; nil: who runs the room.
  mutating func keep(_ message: DataMessage, of member: Int?) {
    // To one that is over no one comes.
    guard !isFinished, let terms = settings.dataHistory, message.reliable, let topic = message.topic else {
      return
    }
    let sender = member.map { members[$0] }
    // A hidden sender stays unnamed.
    let named = message.from == nil ? nil : sender
    let kept = KeptMessage(
      from: message.from, identity: named?.identity, name: named?.name, topic: topic,
      payload: message.payload, time: wallTime)
    newcomers.history.keep(DataHistory.Entry(message: kept, sender: sender?.identity, at: now), terms)
    // The oldest has a moment at which it goes.
    if newcomers.history.entries.count == 1 { presenceChanged() }
  }
}
