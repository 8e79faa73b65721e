internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation
internal import Wire

/// Offers and answers, whichever side makes them.
extension RoomState {
  /// Bytes that even the shortest description is charged.
  static let smallestOffer = 4_096

  /// Takes an offer: publishes, unpublishes, adds receive sections, restarts ICE.
  mutating func offer(
    _ sdp: String, _ tracks: [OfferedTrack], on transport: TransportID, of id: ParticipantID
  ) throws(OfferError) {
    let place = try place(of: transport, of: id)
    let description = try read(sdp, of: members[place.member].identity)
    let review = try OfferReview(
      description, tracks, of: members[place.member], on: self[place], limit: terms.policy.maximumTracks)
    // What others notice of it.
    let cost = 1 + Double(review.changes)
    guard spend(place.member, { $0.requests.take(upTo: cost, now: $1) }) else { throw .tooOften }
    prepare(at: place) { .answer(description, review, on: $0) }
  }

  /// Makes an offer of so many slots in all.
  mutating func makeOffer(
    _ count: SlotCount, on transport: TransportID, of id: ParticipantID
  ) throws(OfferError) {
    let place = try place(of: transport, of: id)
    let range = 0...SlotPolicy.slotLimit
    guard self[place].role.subscribes, range.contains(count.audio), range.contains(count.video) else {
      throw .field("slots: at most \(SlotPolicy.slotLimit) of each kind, on a transport that subscribes")
    }
    guard spend(place.member, { $0.requests.take(now: $1) }) else { throw .tooOften }
    prepare(at: place) { .offer(count, on: $0) }
  }

  private func place(
    of transport: TransportID, of id: ParticipantID
  ) throws(OfferError) -> TransportPlace {
    guard let member = member(id), let place = handlePlace(of: transport, of: member) else { throw .gone }
    return place
  }

  private func place(of name: Proposal.TransportName) throws(OfferError) -> TransportPlace {
    guard let member = member(name.participant), let place = place(of: name.transport, of: member) else {
      throw .gone
    }
    return place
  }

  mutating func read(_ sdp: String, of identity: String) throws(OfferError) -> SessionDescription {
    // What it costs to read and to match, before it is done.
    #if PLANTED_DEFECTS
      let bytes = PlantedDefect.isOn(.offersForNothing) ? 0 : max(sdp.utf8.count, Self.smallestOffer)
    #else
      let bytes = max(sdp.utf8.count, Self.smallestOffer)
    #endif
    guard spend(of: identity, { $0.offers.take(Double(bytes), now: $1) }) else { throw .tooOften }
    do throws(SDPError) { return try SessionDescription(parsing: sdp) } catch { throw .malformed(error) }
  }

  mutating func prepare(at place: TransportPlace, _ content: (Proposal.TransportName) -> Proposal.Content) {
    let name = Proposal.TransportName(participant: members[place.member].id, transport: self[place].id)
    emit(.prepare(Proposal(peer: self[place].peer ?? self[place].reserved, content: content(name))))
  }

  /// - Parameters:
  ///   - key: the peer's, whether it was there or not.
  ///   - local: with fresh credentials, taken for a new transport and where the offer restarts ICE.
  mutating func go(on proposal: Proposal, _ key: PeerKey, _ local: LocalTransport) {
    do throws(OfferError) {
      switch proposal.content {
      case .answer(let description, let review, let name):
        try answer(description, review, key, local, at: try place(of: name))
      case .offer(let count, let name): try offer(count, key, local, at: try place(of: name))
      case .open(let entry, let description): open(entry, description, key, local)
      case .restart(let credentials, let name): restart(credentials, local, at: try place(of: name))
      }
    } catch {
      if proposal.peer == nil { emit(.release(key)) }
      reply(.offerRefused(error))
    }
  }

  /// There is no place.
  mutating func overloaded(_ proposal: Proposal) {
    guard case .open(let entry, _) = proposal.content else { return reply(.offerRefused(.overloaded)) }
    refuse(entry, .offer(.overloaded))
  }

  // MARK: - The client offers

  private mutating func answer(
    _ description: SessionDescription, _ review: OfferReview, _ key: PeerKey, _ local: LocalTransport,
    at place: TransportPlace
  ) throws(OfferError) {
    var negotiator = self[place].negotiator ?? Negotiator(policy: terms.policy)
    let answer: Answer
    do throws(NegotiationError) {
      answer = try negotiator.answer(
        to: description, local: local, forbidden: review.forbidden, random: &random)
    } catch { throw .refused(error) }
    try pay(for: answer.agreement, review, at: place)
    agree(negotiator, at: place)
    adopt(answer.agreement, review, key, at: place)
    reply(.answered(conclude(answer.agreement, review, sdp: answer.sdp, at: place)))
  }

  // MARK: - The server offers

  private mutating func offer(
    _ count: SlotCount, _ key: PeerKey, _ local: LocalTransport, at place: TransportPlace
  ) throws(OfferError) {
    var negotiator = self[place].negotiator ?? Negotiator(policy: terms.policy)
    var plan = self[place].plan
    plan.setSlots(count, negotiator: &negotiator, random: &random)
    let offer: SessionDescription
    do throws(NegotiationError) {
      offer = try negotiator.offer(plan, local: local, random: &random)
    } catch { throw .refused(error) }
    self[place].negotiator = negotiator
    self[place].plan = plan
    if self[place].peer == nil { self[place].reserved = key }
    reply(.offered(offer.text))
  }

  /// Takes the answer to an offer of ours; where it doesn't fit, the offer stays on its way.
  mutating func accept(
    _ sdp: String, on transport: TransportID, of id: ParticipantID
  ) throws(OfferError) {
    let place = try place(of: transport, of: id)
    let description = try read(sdp, of: members[place.member].identity)
    guard var negotiator = self[place].negotiator, let key = self[place].peer ?? self[place].reserved else {
      throw .refused(.noOfferPending)
    }
    let agreement: Agreement
    do throws(NegotiationError) { agreement = try negotiator.accept(description) } catch {
      throw .refused(error)
    }
    try pay(for: agreement, OfferReview(), at: place)
    agree(negotiator, at: place)
    adopt(agreement, OfferReview(), key, at: place)
    reply(.answered(conclude(agreement, OfferReview(), sdp: sdp, at: place)))
  }

  // MARK: - Both

  /// Tracks may end that the review didn't count, such as those whose sections no longer have a codec that we forward: each
  /// is an event for everybody in the room all the same.
  private mutating func pay(
    for agreement: Agreement, _ review: OfferReview, at place: TransportPlace
  ) throws(OfferError) {
    let stays = Set(agreement.media.receive.map(\.index))
    let uncounted = self[place].published.count { !stays.contains($0.key.index) } - review.ends
    guard uncounted > 0 else { return }
    guard spend(place.member, { $0.requests.take(upTo: Double(uncounted), now: $1) }) else { throw .tooOften }
  }

  /// What was agreed on, with what the client says of its encodings beside its description.
  private func media(of agreement: Agreement, _ review: OfferReview) -> AgreedMedia {
    var media = agreement.media
    for (position, result) in agreement.sections.enumerated() {
      guard case .accepted(let index?, _) = result.outcome, let entry = review.entries[position],
        let place = media.receive.firstIndex(where: { $0.index == index })
      else { continue }
      media.receive[place].encodings.take(entry.layers)
    }
    return media
  }

  /// Says to the media plane what was agreed on.
  mutating func adopt(
    _ agreement: Agreement, _ review: OfferReview, _ key: PeerKey, at place: TransportPlace
  ) {
    let isKnown = self[place].peer != nil
    self[place].reserved = nil
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.mediaWithoutSections), isKnown, agreement.transport == nil { return }
    #endif
    guard let agreed = agreement.transport else {
      // No section is left, or none was accepted: there is nothing to be connected for.
      if isKnown { endMedia(of: place) } else { emit(.release(key)) }
      return
    }
    // Before the media plane knows of it: its first event may come at once.
    emit(.expect(key))
    if isKnown {
      if agreed.restartsICE {
        emit(.post(.restartICE(key, local: agreed.localCredentials, remote: agreed.remote.credentials)))
      }
      emit(.post(.apply(key, media(of: agreement, review))))
    } else {
      emit(.add(key, agreed, media(of: agreement, review)))
    }
    self[place].peer = key
  }

  /// Tracks and slots follow what was agreed on.
  /// - Returns: all that its owner is to know of it.
  mutating func conclude(
    _ agreement: Agreement, _ review: OfferReview, sdp: String, at place: TransportPlace
  ) -> OfferAnswer {
    let published = publish(agreement, review, at: place)
    // An SSRC whose section was refused, or sends no more, is not for another: its packets' indices would come twice
    // under one key.
    let streams = Set(agreement.media.send.map(\.ssrc))
    self[place].plan.tracks.removeAll { !streams.contains($0.ssrc) }
    self[place].slots.apply(agreement.media.send, now: now)
    assign(place, announces: false)
    let answer = OfferAnswer(
      sdp: sdp, tracks: published,
      slots: self[place].slots.slots.map { SlotAssignment(mid: $0.mid, track: $0.track) },
      declined: agreement.sections.compactMap {
        if case .declined(let reason) = $0.outcome { ($0.mid, reason.rawValue) } else { nil }
      })
    notify(place, .answer(answer))
    announceStates(place)
    return answer
  }
}

extension OfferPlan {
  /// Has so many slots of each kind; those from the end go, and new ones have SSRCs that were never used. The first
  /// of each kind are a pair, and so are the second.
  fileprivate mutating func setSlots(
    _ count: SlotCount, negotiator: inout Negotiator, random: inout RandomSource
  ) {
    var byKind: [MediaKind: [TrackAnnouncement]] = [:]
    for track in tracks { byKind[track.kind, default: []].append(track) }
    for (kind, most) in [(MediaKind.audio, count.audio), (.video, count.video)] {
      var own = Array(byKind[kind, default: []].prefix(most))
      let others = byKind[kind == .audio ? .video : .audio, default: []]
      while own.count < most {
        let other = own.count < others.count ? others[own.count] : nil
        own.append(negotiator.announcement(of: kind, beside: other, random: &random))
      }
      byKind[kind] = own
    }
    tracks = byKind[.audio, default: []] + byKind[.video, default: []]
  }
}
