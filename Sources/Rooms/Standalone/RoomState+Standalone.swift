internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation
internal import Wire

/// Transports without a socket come.
extension RoomState {
  /// Reads the offer, and asks for a place at the media plane.
  mutating func open(_ entry: StandaloneEntry, refused: JoinError?) {
    do throws(StandaloneError) {
      if let refused { throw .joining(refused) }
      let description = try review(entry)
      emit(.prepare(Proposal(peer: nil, content: .open(entry, description))))
    } catch { refuse(entry, error) }
  }

  /// It is no session, and no participant's first transport.
  mutating func refuse(_ entry: StandaloneEntry, _ error: StandaloneError) {
    emit(.sessionEnded(identity: entry.newcomer.identity, nil, patience: patience))
    reply(.standaloneRefused(error))
  }

  /// Whether it may come: what costs little is asked first, and what is read is paid for before.
  private mutating func review(_ entry: StandaloneEntry) throws(StandaloneError) -> SessionDescription {
    let newcomer = entry.newcomer
    // For all that is looked at, and that others hear of a transport.
    guard pay(newcomer, 1) else { throw .tooOften }
    if let closed { throw .joining(closed == .serverShutdown ? .draining : .noRoom) }
    switch entrance(of: newcomer) {
    case .open: break
    case .waits: throw .joining(.admissionRequired)
    case .locked: throw .joining(.locked)
    }
    let known = member(of: newcomer.identity)
    try checkPermission(entry, known)
    try checkCount(known)
    try checkSelection(entry, known)
    if known == nil {
      do throws(JoinError) { try checkPlace() } catch { throw .joining(error) }
    }
    do throws(OfferError) { return try read(entry.offer.sdp, of: newcomer.identity) } catch {
      throw .offer(error)
    }
  }

  private func checkPermission(_ entry: StandaloneEntry, _ known: Int?) throws(StandaloneError) {
    let token = entry.newcomer.grants
    let grants = known.map { members[$0].grants.narrowed(to: token) } ?? token
    if entry.offer.role.publishes {
      guard grants.canPublish, !grants.hidden else { throw .notAllowed("publishing (canPublish)") }
    } else {
      guard grants.canSubscribe else { throw .notAllowed("subscribing (canSubscribe)") }
    }
  }

  private func checkCount(_ known: Int?) throws(StandaloneError) {
    if let known {
      let transports = members[known].transports
      let own = transports.count { $0.standalone != nil }
      guard own < Standalone.limit, transports.count < Transport.limit else {
        throw .limit(.participant, Standalone.limit)
      }
    }
    let all = members.reduce(0) { $0 + $1.transports.count { $0.standalone != nil } }
    guard all < terms.participantLimit else { throw .limit(.room, terms.participantLimit) }
  }

  /// A track that isn't there never comes, since its id is no other's; a participant may yet.
  private func checkSelection(_ entry: StandaloneEntry, _ known: Int?) throws(StandaloneError) {
    guard let track = entry.offer.selection.track else { return }
    let isThere = members.indices.contains { owner in
      !members[owner].grants.hidden
        && members[owner].transports.contains { transport in
          transport.published.contains {
            $0.info.id.text == track
              && entry.offer.selection.plays($0.info.id, of: members[owner].identity, isOwn: owner == known)
          }
        }
    }
    guard isThere else { throw .unknownTrack }
  }

  // MARK: - A place is there

  mutating func open(
    _ entry: StandaloneEntry, _ description: SessionDescription, _ key: PeerKey, _ local: LocalTransport
  ) {
    do throws(StandaloneError) { try answer(entry, description, key, local) } catch {
      emit(.release(key))
      refuse(entry, error)
    }
  }

  /// Others notice nothing of it where it throws.
  private mutating func answer(
    _ entry: StandaloneEntry, _ description: SessionDescription, _ key: PeerKey, _ local: LocalTransport
  ) throws(StandaloneError) {
    let newcomer = entry.newcomer
    // Its stay is over, whatever becomes of this.
    if let old = member(of: newcomer.identity), newcomer.hasMoved(from: members[old]) {
      end(old, reason: .movedElsewhere)
    }
    let known = member(of: newcomer.identity)
    var admission: Admission?
    var owner: Member
    if let known {
      owner = members[known]
    } else {
      do throws(JoinError) {
        let found = try review(newcomer, replacing: nil)
        (admission, owner) = (found, makeMember(newcomer, found))
      } catch { throw .joining(error) }
    }
    var transport = makeTransport(entry, description, for: owner)
    let (review, answer): (OfferReview, Answer)
    do throws(OfferError) {
      (review, answer) = try negotiate(description, local, on: &transport, of: owner)
    } catch { throw .offer(error) }
    try check(answer.agreement, transport.role)
    guard pay(newcomer, cost(of: admission) + Double(review.changes)) else { throw .tooOften }

    let index: Int
    if let known {
      index = known
    } else if let admission {
      index = enter(newcomer, admission)
    } else {
      return
    }
    members[index].add(transport)
    let place = TransportPlace(index, members[index].transports.count - 1)
    let agreement = answer.agreement
    adopt(agreement, review, key, at: place)
    let answered = conclude(agreement, review, sdp: "", at: place)
    log("transport opened", of: members[index], ("for", transport.role.publishes ? "publishing" : "playing"))
    // Who was in already has counted as one that comes.
    if known != nil { emit(.sessionEnded(identity: newcomer.identity, nil, patience: patience)) }
    guard let standalone = transport.standalone else { return }
    reply(
      .standalone(
        StandaloneAnswer(
          id: standalone.id, tag: standalone.tag, sdp: answer.description.standaloneText,
          tracks: answered.tracks,
          participant: members[index].id), isNew: known == nil))
  }

  private mutating func makeTransport(
    _ entry: StandaloneEntry, _ description: SessionDescription, for owner: Member
  ) -> Transport {
    var transport = Transport(
      id: TransportID(number: owner.transportsOpened + 1), role: entry.offer.role)
    let group = description.groups.first { $0.semantics == "BUNDLE" }?.mids ?? []
    let trickles = description.media.contains {
      description.attributes(of: $0).iceOptions.contains("trickle")
    }
    transport.standalone = Standalone(
      id: random.alphanumeric(Standalone.idLength), tag: Standalone.newTag(&random),
      grants: entry.newcomer.grants, selection: entry.offer.selection, group: group,
      options: trickles ? ["trickle"] : [])
    fill(&transport, of: owner)
    return transport
  }

  private mutating func negotiate(
    _ description: SessionDescription, _ local: LocalTransport, on transport: inout Transport,
    of owner: Member
  ) throws(OfferError) -> (OfferReview, Answer) {
    let publishes = transport.role.publishes
    // What a client that plays would send is left out of the answer.
    let review =
      publishes
      ? try OfferReview(description, [], of: owner, on: transport, limit: terms.policy.maximumTracks)
      : OfferReview()
    var negotiator = Negotiator(policy: terms.policy)
    let answer: Answer
    do throws(NegotiationError) {
      answer = try negotiator.answer(
        to: description, local: local, forbidden: review.forbidden,
        direction: publishes ? .recvonly : .sendonly, random: &random)
    } catch { throw .refused(error) }
    transport.negotiator = negotiator
    return (review, answer)
  }

  /// Something flows in every section: a client that has no way to learn of less would believe that all of it does.
  private func check(_ agreement: Agreement, _ role: TransportRole) throws(StandaloneError) {
    let declined = agreement.sections.enumerated().compactMap { index, section -> (String, String)? in
      let name = section.mid.isEmpty ? "\(index)" : section.mid
      switch section.outcome {
      case .accepted(let receive, let send):
        return (role.publishes ? receive : send) == nil ? (name, "direction") : nil
      case .declined(let reason): return (name, reason.rawValue)
      case .stopped: return (name, "stopped")
      }
    }
    guard declined.isEmpty, !agreement.sections.isEmpty else {
      throw .declined(declined.map { (mid: $0.0, code: $0.1) })
    }
  }

  /// In requests: that a participant comes; one that is in has come before.
  private func cost(of admission: Admission?) -> Double {
    guard let admission else { return 0 }
    return StateBudget.eventCost(admission.stateBytes)
  }
}

extension SessionDescription {
  /// With what RFC 9725 §4.4.1 wants in each section of a bundle.
  fileprivate var standaloneText: String {
    var description = self
    for index in description.media.indices {
      description.media[index].others.append(OtherAttribute(name: "rtcp-mux-only"))
    }
    return description.text
  }
}
