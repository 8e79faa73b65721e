internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// From the client, in order; and what its requests come to.
extension SignallingState {
  mutating func receive(_ message: ClientMessage, on number: Int) {
    guard isServed(number) else { return }
    heard()
    if let id = message.id {
      switch requests.enter(id) {
      case .new: break
      case .pending: return
      case .answered(let answer):
        var toOffer = false
        if case .offer = message.content { toOffer = true }
        // However short the request is that has it sent again.
        effects.append(.pay(answer: answer, line: number, toOffer: toOffer))
        return
      }
    }
    obey(message.content, message.id)
    effects.append(.renewNow)
  }

  private mutating func obey(_ content: ClientMessage.Content, _ id: RequestID?) {
    switch content {
    case .offer(let offer): answer(offer, id)
    // A server on a public address finds its clients by their checks: their candidates say nothing to it.
    case .candidate: if id != nil { say(.ok, id: id) }
    case .subscribe, .unsubscribe, .view, .layers, .mute, .update, .data, .hand, .admit:
      effects.append(.perform(content, id))
    case .explain: effects.append(.explain(id))
    // Beside its bytes it costs what a request of REST costs that writes the same.
    case .sessionEvent(let message):
      effects += [.charge(CallDoor.price + message.event.data.bytes.count), .share(message, id)]
    case .ping: say(.pong, id: id)
    case .leave:
      end()
      effects.append(.leave(.left))
      say(.closed(.left), id: id)
      if let line { effects.append(.close(.left, line: line.number)) }
    case .auth, .resume: say(.error(.init(.authRepeated, "already joined")), id: id)
    case .unknown(let type):
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.unknownUnanswered) { return }
      #endif
      if id != nil { say(.error(.init(.unsupported, "this server knows no \(type)")), id: id) }
    }
  }

  private mutating func answer(_ offer: ClientMessage.Offer, _ id: RequestID?) {
    guard offerInFlight == nil else {
      return say(.error(.init(.offerPending, "another offer is being answered")), id: id)
    }
    offerInFlight = OfferInFlight(id: id)
    missedAnswer = nil
    effects.append(.offer(offer, id))
  }

  /// Of the participant's transports the client hears of its own.
  mutating func explain(_ id: RequestID?, _ found: Result<ParticipantExplanation, RequestError>) {
    switch found {
    case .failure(let error): say(.error(Refusal(error).body), id: id)
    case .success(let found):
      let explanation = ServerMessage.Explanation(found, on: transport)
      effects.append(.charge(explanation.cost))
      say(.explain(explanation), id: id)
    }
  }

  mutating func finish(_ id: RequestID?, _ error: RequestError?) {
    if let error {
      say(.error(Refusal(error).body), id: id)
    } else if id != nil {
      say(.ok, id: id)
    }
  }

  mutating func finish(_ id: RequestID?, _ result: Result<ServerMessage.SessionSeq, Refusal>) {
    guard !isOver else { return }
    switch result {
    case .failure(let refusal): say(.error(refusal.body), id: id)
    case .success(let seq): if id != nil { say(.sessionSeq(seq), id: id) }
    }
  }

  /// Half of a renewed token's life is left, or less; at most once a second.
  func isRenewalDue(_ now: Int) -> Bool {
    !isOver && token.expires - now <= token.renewalLifetime / 2 && (token.issuedAt.map { now > $0 } ?? true)
  }
}
