internal import Model
internal import Signalling
internal import SyntheticPeers

/// What clients do about what they hear.
extension Conference {
  func act(_ action: RoomClient.Action, _ participant: Participant, _ record: SocketRecord) {
    switch action {
    case .joined: negotiate(participant)
    case .resumed:
      journal.count(.signallingResumed)
      journal.trace(now, "\(participant.number) has resumed")
      participant.presence.isAway = false
      for request in participant.client.pending {
        journal.count(.requestRepeated)
        say(request, on: record)
      }
    case .answered(let sdp): accept(participant, sdp)
    case .offerWanted(let audio, let video, let restartsICE):
      if restartsICE {
        negotiate(participant, restartsICE: true)
      } else if !participant.offering.keepsFewSlots {
        participant.offering.lackingReceivers += max(audio, video)
        if !participant.offering.isNegotiating { negotiate(participant) }
      }
    case .watched(let message): hear(message, participant)
    case .refused(let request, let code): hearRefusal(participant, request, code)
    case .ended(let reason): hearEnd(participant, reason)
    }
  }

  private func hearRefusal(_ participant: Participant, _ request: RoomClient.Request, _ code: String) {
    journal.trace(now, "\(participant.number) is refused by \(code)")
    if request.kind == .offer {
      participant.offering.isNegotiating = false
      participant.peer.withdrawOffer()
    }
    // The session, or the track, may have ended meanwhile; and what an administrator muted can't be unmuted.
    if code == "unavailable" || code == "unknown-track" { return }
    if plan.isUnruly, code == "unknown-slot" || code == "rate-limited" {
      if request.kind == .offer { after(2_000_000_000) { [unowned self] in negotiate(participant) } }
      return
    }
    switch request.kind {
    case .mute(_, false) where code == "not-allowed": return
    case .subscribe, .unsubscribe:
      // An administrator has taken that from it.
      if code == "not-allowed",
        participant.ledger.mayEverLack(since: now.advanced(byNanoseconds: -1_000_000_000))
      {
        return
      }
    default: break
    }
    journal.violation(now, "\(participant.number) is refused by \(code): \(request.text.prefix(60))")
  }

  private func hearEnd(_ participant: Participant, _ reason: String) {
    journal.trace(now, "\(participant.number) hears that it is over: \(reason)")
    if !participant.client.hasJoined,
      reason != "token-removed"
        || books.removals[
          RemovedIdentity(room: participant.client.room, identity: participant.client.token.identity)] == nil
    {
      journal.violation(now, "\(participant.number) is not let in: \(reason)")
    }
    if reason == "session-gone" { journal.count(.sessionGone) }
    if reason == "session-gone", isInRoom(participant) {
      journal.violation(now, "\(participant.number) can't resume a session that lives")
    }
    participant.presence.awaySince = nil
    if participant.isPresent { participant.presence.leftAt = now }
    retire(participant)
    // As people do.
    if reason == "session-gone", mayCome {
      arrive(room: participant.room, identity: participant.client.token.identity)
    }
  }

  // MARK: - Descriptions

  /// Offers, and is answered by and by.
  func negotiate(_ participant: Participant, restartsICE: Bool = false) {
    guard !participant.offering.isNegotiating, participant.client.hasJoined, participant.client.end == nil,
      participant.isPresent
    else { return }
    participant.offering.isNegotiating = true
    participant.offering.receivers = min(
      participant.offering.receivers + participant.offering.lackingReceivers, 16)
    participant.offering.lackingReceivers = 0
    do {
      let offer = try participant.peer.makeOffer(
        restartsICE: restartsICE,
        receivers: participant.offering.hasOwnCounts ? nil : participant.offering.receivers)
      let sections = participant.peer.descriptions.offered
      ask(participant, .offer) { id in
        participant.offering.offers[id] = sections
        noteOffer(id, offer, by: participant)
        return .offer(ClientMessage.Offer(sdp: offer, tracks: sections.compactMap(\.announced)))
      }
    } catch {
      journal.violation(now, "peer \(participant.number) can't offer: \(error)")
    }
  }

  private func accept(_ participant: Participant, _ text: String) {
    participant.offering.isNegotiating = false
    guard participant.isPresent, living.contains(participant.number) else { return }
    do {
      try participant.peer.accept(text, now: now)
    } catch {
      journal.violation(now, "peer \(participant.number) can't take the answer: \(error)")
    }
    flush(participant)
    if participant.offering.lackingReceivers > 0 { negotiate(participant) }
  }
}
