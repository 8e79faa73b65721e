internal import Model
internal import Rooms
internal import Signalling

/// What rooms say, as it goes over the wire.
extension ParticipantBody {
  init(_ info: ParticipantInfo) {
    self.init(
      id: info.id.text, identity: info.identity, name: info.name, metadata: info.metadata,
      attributes: info.attributes, permissions: PermissionsBody(info.permissions),
      tracks: info.tracks.map { TrackBody($0) }, hand: info.handRaised?.text)
  }
}

extension TrackBody {
  init(_ info: TrackInfo) {
    self.init(
      id: info.id.text, kind: info.kind, source: info.source, name: info.name, muted: info.muted,
      mutedByAdmin: info.mutedByAdmin, encrypted: info.isEncrypted)
  }
}

extension RoomBody {
  init(_ room: RoomInfo) {
    self.init(
      id: room.id.text, name: room.name, metadata: room.metadata, recorded: room.isRecorded,
      admission: room.admission, locked: room.isLocked)
  }
}

extension Slot {
  init(_ assignment: SlotAssignment) { self.init(mid: assignment.mid, track: assignment.track?.text) }
}

extension StreamBody {
  init(_ track: TrackID, _ state: StreamState) {
    switch state {
    case .active: self.init(track: track.text, state: .active)
    case .paused(.codec): self.init(track: track.text, state: .paused, reason: .codec)
    case .paused(.noMedia): self.init(track: track.text, state: .paused, reason: .noMedia)
    case .paused(.bandwidth): self.init(track: track.text, state: .paused, reason: .bandwidth)
    case .paused(.off): self.init(track: track.text, state: .paused, reason: .off)
    case .waiting(.noSlot): self.init(track: track.text, state: .waiting, reason: .noSlot)
    }
  }
}

extension DataBody {
  init(_ message: DataMessage) {
    self.init(
      from: message.from?.text, payload: message.payload, topic: message.topic, reliable: message.reliable)
  }
}

extension EventBody {
  init(_ event: RoomEvent) {
    self.init(
      id: event.id, time: event.time.text, room: event.room.name, roomId: event.room.id.text,
      type: event.kind,
      participant: event.participant.map { EventSubject($0) }, track: event.track.map { TrackBody($0) },
      reason: event.reason, metadata: event.kind == .roomUpdated ? event.room.metadata : nil,
      recording: event.recording.map {
        RecordingBody(id: $0.id.text, active: $0.isActive, reason: $0.reason)
      },
      call: event.call.map { EventCallBody($0) },
      waiting: event.waiting.map { WaiterBody($0.waiter, reason: $0.reason) },
      settings: event.kind == .roomUpdated
        ? RoomSettingsBody(admission: event.room.admission, locked: event.room.isLocked) : nil)
  }
}

extension WaiterBody {
  init(_ waiter: Waiter, reason: WaitingEndReason? = nil) {
    self.init(
      id: waiter.id.text, identity: waiter.identity, name: waiter.name, since: waiter.since.text,
      until: waiter.until.text, reason: reason)
  }
}

extension KeptMessages {
  /// The message, made by the first that asks; nil: there is nothing to say.
  var text: String? {
    messages.isEmpty
      ? nil
      : wire.text {
        let bodies = messages.map { kept in
          KeptMessageBody(
            from: kept.from?.text, identity: kept.identity, name: kept.name, topic: kept.topic,
            payload: kept.payload, time: kept.time.text)
        }
        return ServerMessage(.history(ServerMessage.History(messages: bodies))).json
      }
  }
}

extension EventCallBody {
  init(_ call: EventCall) {
    self.init()
    (id, callerId, path, media, allParticipants) = (
      call.id, call.callerId, call.path, call.media, call.people
    )
    (outcome, durationMs) = (call.outcome, call.duration)
    (session, experience) = (call.session, call.experience)
  }
}

extension EventSubject {
  init(_ participant: EventParticipant) {
    switch participant {
    case .whole(let info): self = .whole(ParticipantBody(info))
    case .named(let name):
      self = .named(PublisherBody(id: name.id.text, identity: name.identity, name: name.name))
    }
  }
}

extension ServerMessage.Joined {
  init(_ state: JoinedState) {
    self.init(
      participant: ParticipantBody(state.participant), room: RoomBody(state.room),
      participants: state.participants.map { info in
        .json(info.wire.text { ParticipantBody(info).json })
      }, lastEvent: state.lastEvent)
    waiting = state.waiting.map { waiters in waiters.map { WaiterBody($0) } }
  }
}

extension ServerMessage.Resumed {
  /// - Parameter transport: the client's own; others of the participant are not for it.
  init(_ state: ResumedState, on transport: TransportID?) {
    let own = transport.flatMap { state.transport($0) }
    self.init(
      lastEvent: state.lastEvent, slots: own?.slots.map { Slot($0) } ?? [],
      tracks: own?.tracks.map { AnsweredTrack(mid: $0.mid, track: $0.track.text) } ?? [])
  }
}

extension ServerMessage.Answer {
  init(_ answer: OfferAnswer) {
    self.init(
      sdp: answer.sdp, tracks: answer.tracks.map { AnsweredTrack(mid: $0.mid, track: $0.track.text) },
      slots: answer.slots.map { Slot($0) },
      declined: answer.declined.map { DeclinedSection(mid: $0.mid, code: $0.code) })
  }
}

extension RoomEvent {
  /// The message, made by the first that asks.
  var text: String { wire.text { ServerMessage(.event(EventBody(self))).json } }

  /// The event alone, as it stands in the message.
  var json: Substring.UTF8View {
    text.utf8.dropFirst(#"{"event":"#.utf8.count).dropLast(#","type":"event"}"#.utf8.count)
  }
}

extension DataMessage {
  /// The message, made by the first that asks.
  var text: String { wire.text { ServerMessage(.data(DataBody(self))).json } }
}

extension ServerMessage.Content {
  /// A notice about the participant that is one message and nothing but that; nil: it is more.
  init?(_ notice: ParticipantNotice) {
    switch notice {
    case .speakers(let speakers):
      self = .speakers(speakers.map { SpeakerBody(participant: $0.participant.text, level: $0.level) })
    case .quality(let changed):
      self = .quality(changed.map { QualityBody(participant: $0.participant.text, quality: $0.quality) })
    case .draining(let deadline): self = .draining(deadline: deadline.text)
    case .restartWanted:
      self = .offerWanted(ServerMessage.OfferWanted(audio: 0, video: 0, reason: .iceRestart))
    case .event, .data, .resumed, .closed, .on: return nil
    }
  }
}
