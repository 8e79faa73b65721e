internal import Model
internal import Rooms
internal import Signalling

/// From the room to the client.
extension SignallingState {
  mutating func forward(_ notice: ParticipantNotice) {
    switch notice {
    case .on(let transport, let notice): if transport == self.transport { forward(notice) }
    case .data(let data):
      if data.reliable, isDoubtful { bag.put(data) }
      if line?.isOpen == true { bag.noteSent() }
      send(data.text)
    case .event(let event): send(event.text)
    case .resumed(let state): open(state)
    case .closed(let reason): close(reason)
    default: if let content = ServerMessage.Content(notice) { say(content) }
    }
  }

  /// What concerns the client's transport.
  private mutating func forward(_ notice: TransportNotice) {
    switch notice {
    case .answer(let answer):
      let id = offerInFlight?.id
      offerInFlight = nil
      let answer = ServerMessage.Answer(answer)
      if isDoubtful {
        missedAnswer = MissedAnswer(id: id, answer: answer, isSent: line?.isOpen == true)
      }
      say(.answer(answer), id: id)
    case .streams(let changes): for (track, state) in changes { say(.stream(StreamBody(track, state))) }
    case .slots(let assignments): say(.slots(assignments.map { Slot($0) }))
    case .offerWanted(let audio, let video):
      say(.offerWanted(ServerMessage.OfferWanted(audio: audio, video: video, reason: .slots)))
    case .publish(let track, let advice):
      say(
        .publish(
          ServerMessage.Publish(
            track: track.text, layers: advice.layers.map { WatchedLayer(rid: $0.rid, active: $0.isWatched) },
            codecs: advice.codecs.map { TakenCodec(payloadType: Int($0.payloadType), codec: $0.name) })))
    // Another of the participant's has kept the session: the client's next offer is refused as one of a session that is over.
    case .closed: break
    }
  }

  private mutating func close(_ reason: LeaveReason) {
    end()
    guard let line else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lostClosed) {
        effects.append(.close(SignallingCloseCode(reason), line: line.number))
        return
      }
    #endif
    if reason == .duplicateIdentity { effects.append(.drop(line: line.number)) }
    effects += [
      .send(ServerMessage(.closed(reason)).json, isOpening: false),
      .close(SignallingCloseCode(reason), line: line.number),
    ]
  }

  /// Says on the new socket what was missed; from here on it gets everything.
  private mutating func open(_ state: ResumedState) {
    let resumption = resumptions.noteResumed()
    guard line?.resumption == resumption, line?.isOpen == false, let number = line?.number else { return }
    let id = line?.id
    line?.isOpen = true
    // A token that is good again has the same sent again, which is paid for by what is read next.
    let again = bag.sentBytes + (missedAnswer.map { $0.isSent ? $0.answer.sdp.utf8.count : 0 } ?? 0)
    if again > 0 { effects.append(.charge(again)) }
    // All of it has bounds: tracks and participants, the events of a `ResumedState`, the bag.
    isOpening = true
    var resumed = ServerMessage.Resumed(state, on: transport)
    resumed.resumeToken = issueToken()
    resumed.answer = missedAnswer.map { .init(id: $0.id, answer: $0.answer) }
    // Not the answer to a request that has the same id and is being done.
    send(ServerMessage(.resumed(resumed), id: id).json)
    for event in state.missed { send(event.text) }
    for notice in state.notices { forward(notice) }
    for message in bag.messages { send(message.text) }
    isOpening = false
    bag.noteSent()
    missedAnswer?.isSent = true
    effects += [.renewLater, .opened(line: number, true)]
  }

  /// What is said while there is no socket is read by the client, which begins there on each.
  mutating func pass(_ text: String) { send(text) }

  private mutating func send(_ text: String) {
    if line?.isOpen == true { effects.append(.send(text, isOpening: isOpening)) }
  }

  /// What is said while there is no socket is part of `resumed`, or is asked for again by its id.
  mutating func say(_ content: ServerMessage.Content, id: RequestID? = nil) {
    let text = ServerMessage(content, id: id).json
    if let id { requests.answer(id, text) }
    send(text)
  }
}
