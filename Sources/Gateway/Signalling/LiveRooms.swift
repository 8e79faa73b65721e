public import AccessTokens
internal import Model
public import Rooms

/// The rooms behind the front doors: translates between what signalling says and what rooms do.
public struct LiveRooms: RoomService {
  private let directory: RoomDirectory

  public init(_ directory: RoomDirectory) { self.directory = directory }

  public var isDraining: Bool { directory.isDraining }
  public func forbids(_ token: AccessToken, in room: String) -> Bool {
    token.identity.map { directory.forbids($0, in: room, issued: token.effectiveIssue) } ?? false
  }

  public func isReady() async -> Bool { await directory.isReady() }

  public func join(_ request: JoinRequest) async throws(RoomRefusal) -> any RoomParticipant {
    do throws(JoinError) {
      let session = try await directory.join(
        room: request.room, identity: request.identity, name: request.name, metadata: request.metadata,
        attributes: request.attributes, grants: request.grants, issued: request.tokenIssued)
      return LiveParticipant(session)
    } catch {
      switch error {
      case .draining: throw RoomRefusal(.unavailable, "The server is shutting down")
      case .noRoom: throw RoomRefusal(.roomNotFound, "There is no such room")
      case .removed: throw RoomRefusal(.tokenRemoved, AccessTokenRefusal.removed.message)
      case .tooLarge(let excess):
        throw RoomRefusal(excess.mayPass ? .roomFull : .tooLarge, excess.description)
      case .tooOften: throw RoomRefusal(.rateLimited, RequestError.tooOften.description)
      case .full(let limit): throw RoomRefusal(.roomFull, "All \(limit) places are taken")
      }
    }
  }
}

/// A session as the native door sees it.
private struct LiveParticipant: RoomParticipant {
  let messages: AsyncStream<RoomMessage>
  private let session: ParticipantSession
  /// Made for each who asks, because it is wanted once and would be kept for as long as the session.
  var joined: JoinedBody { JoinedBody(session.joined) }

  init(_ session: ParticipantSession) {
    self.session = session
    let notices = session.notices
    // Taken one by one: what isn't read waits where it is bounded.
    messages = AsyncStream(unfolding: {
      var iterator = notices.makeAsyncIterator()
      while let notice = await iterator.next() {
        if let message = RoomMessage(notice) { return message }
      }
      return nil
    })
  }

  func offer(_ offer: SessionOffer) async throws(RoomRefusal) {
    let tracks = offer.tracks.map {
      OfferedTrack(mid: $0.mid, source: $0.source, name: $0.name, muted: $0.muted)
    }
    do throws(OfferError) {
      _ = try await session.offer(offer.sdp, tracks: tracks)
    } catch {
      switch error {
      case .malformed, .refused: throw RoomRefusal(.offerRefused, error.description)
      case .field: throw RoomRefusal(.badMessage, error.description)
      case .tooOften: throw RoomRefusal(.rateLimited, error.description)
      case .overloaded, .gone: throw RoomRefusal(.unavailable, error.description)
      }
    }
  }

  func grants() async -> Grants? { await session.grants() }

  func tellSlots() async { await session.tellSlots() }

  /// A server on a public address finds its clients by their checks: their candidates tell it nothing.
  func candidate(_ candidate: String, mid: String) async {}

  func subscribe(_ track: String, mid: String?) async throws(RoomRefusal) {
    do throws(RequestError) { try await session.subscribe(track, mid: mid) } catch {
      throw RoomRefusal(error)
    }
  }

  func unsubscribe(_ track: String) async throws(RoomRefusal) {
    do throws(RequestError) { try await session.unsubscribe(track) } catch { throw RoomRefusal(error) }
  }

  func mute(_ track: String, _ muted: Bool) async throws(RoomRefusal) {
    do throws(RequestError) { try await session.mute(track, muted) } catch { throw RoomRefusal(error) }
  }

  func update(_ change: ParticipantChange) async throws(RoomRefusal) {
    do throws(RequestError) { try await session.update(change) } catch { throw RoomRefusal(error) }
  }

  func send(_ message: OutgoingMessage) async throws(RoomRefusal) {
    do throws(RequestError) {
      try await session.send(
        message.payload, topic: message.topic, reliable: message.reliable, to: message.destinations)
    } catch { throw RoomRefusal(error) }
  }

  func absent() async { await session.absent() }

  func present(after: Int) async throws(RoomRefusal) {
    do throws(RequestError) { try await session.present(after: after) } catch {
      if case .tooOften = error { throw RoomRefusal(error) }
      throw .sessionGone
    }
  }

  func leave(_ reason: LeaveReason) async {
    await session.leave(reason: reason)
  }
}

extension RoomRefusal {
  init(_ error: RequestError) {
    let code: SignallingErrorCode =
      switch error {
      case .unknownTrack: .unknownTrack
      case .unknownSlot: .unknownSlot
      case .notAllowed, .mutedByAdmin: .notAllowed
      case .tooOften: .rateLimited
      case .limit: .limit
      case .stateTooLarge(let excess) where excess.mayPass: .limit
      case .tooLarge, .stateTooLarge: .tooLarge
      case .gone: .unavailable
      }
    self.init(code, error.description)
  }
}

extension SessionAnswer {
  init(_ answer: OfferAnswer) {
    self.init(
      sdp: answer.sdp, tracks: answer.tracks.map { Track(mid: $0.mid, track: $0.track.text) },
      slots: answer.slots.map { Slot(mid: $0.mid, track: $0.track?.text) },
      declined: answer.declined.map { Declined(mid: $0.mid, code: $0.code) })
  }
}

extension StreamBody {
  init(_ track: TrackID, _ state: StreamState) {
    switch state {
    case .active: self.init(track: track.text, state: "active")
    case .paused(let reason): self.init(track: track.text, state: "paused", reason: reason.rawValue)
    case .waiting(let reason): self.init(track: track.text, state: "waiting", reason: reason.rawValue)
    }
  }
}

extension JoinedBody {
  init(_ state: JoinedState) {
    self.init(
      participant: ParticipantBody(state.participant), room: RoomBody(state.room),
      others: state.participants.map { info in
        info.wire.text { ServerMessage.encode(ParticipantBody(info)) }
      }, lastEvent: state.lastEvent)
  }
}

extension RoomBody {
  init(_ room: RoomInfo) { self.init(id: room.id.text, name: room.name, metadata: room.metadata) }
}

extension ParticipantBody {
  init(_ info: ParticipantInfo) {
    self.init(
      id: info.id.text, identity: info.identity, name: info.name, metadata: info.metadata,
      attributes: info.attributes, permissions: PermissionsBody(info.permissions),
      tracks: info.tracks.map { TrackBody($0) })
  }
}

extension TrackBody {
  init(_ info: TrackInfo) {
    self.init(
      id: info.id.text, kind: info.kind == .audio ? "audio" : "video", source: info.source, name: info.name,
      muted: info.muted, mutedByAdmin: info.mutedByAdmin)
  }
}

extension RoomMessage {
  /// nil: it is of no concern to the native door, which has one transport.
  init?(_ notice: ParticipantNotice) {
    switch notice {
    case .on, .transportClosed: return nil
    case .slots(let assignments):
      self = .slots(assignments.map { Slot(mid: $0.mid, track: $0.track?.text) })
    case .offerWanted(let audio, let video): self = .offerWanted(audio: audio, video: video, reason: .slots)
    case .restartWanted: self = .offerWanted(audio: 0, video: 0, reason: .iceRestart)
    case .resumed(let state): self = .resumed(ResumedBody(state))
    case .answer(let answer): self = .answer(SessionAnswer(answer))
    case .speakers(let speakers):
      self = .speakers(speakers.map { SpeakerBody(participant: $0.participant.text, level: $0.level) })
    case .quality(let changed):
      self = .quality(
        changed.map { QualityBody(participant: $0.participant.text, quality: $0.quality.rawValue) })
    case .streams(let changes): self = .streams(changes.map { StreamBody($0.track, $0.state) })
    case .data(let data):
      self = .data(
        DataBody(
          from: data.from?.text, payload: data.payload, topic: data.topic, reliable: data.reliable,
          wire: data.wire))
    case .draining(let deadline): self = .draining(deadline: deadline.text)
    case .closed(let reason): self = .closed(reason)
    case .event(let event): self = .shared(event.text)
    }
  }
}

extension ResumedBody {
  init(_ state: ResumedState) {
    self.init(
      lastEvent: state.lastEvent,
      slots: state.slots.map { Slot(mid: $0.mid, track: $0.track?.text) },
      tracks: state.tracks.map { SessionAnswer.Track(mid: $0.mid, track: $0.track.text) },
      missed: state.missed.map(\.text), notices: state.notices.compactMap { RoomMessage($0) })
  }
}

extension EventBody {
  init(_ event: RoomEvent) {
    self.init(
      id: event.id, time: event.time.text, room: event.room.name, roomId: event.room.id.text,
      type: event.kind.rawValue, participant: event.participant.map { EventParticipantBody($0) },
      track: event.track.map { TrackBody($0) }, reason: event.reason,
      metadata: event.kind == .roomUpdated ? event.room.metadata : nil)
  }
}

extension RoomEvent {
  /// As it goes out, made by the first who asks.
  fileprivate var text: String { wire.text { ServerMessage.event(EventBody(self)).json() } }
}
