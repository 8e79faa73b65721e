internal import Model
public import Rooms

/// The rooms behind the front doors: translates between what signalling says and what rooms do.
public struct LiveRooms: RoomService {
  private let directory: RoomDirectory

  public init(_ directory: RoomDirectory) { self.directory = directory }

  public func join(_ request: JoinRequest) async throws(RoomRefusal) -> any RoomParticipant {
    do throws(JoinError) {
      let session = try await directory.join(
        room: request.room, identity: request.identity, name: request.name, grants: request.grants)
      return LiveParticipant(session)
    } catch {
      switch error {
      case .draining: throw RoomRefusal(.unavailable, "The server is about to stop")
      case .full(let limit): throw RoomRefusal(.roomFull, "There is room for \(limit), and all are taken")
      }
    }
  }
}

/// A session as the native door sees it.
private struct LiveParticipant: RoomParticipant {
  let joined: JoinedBody
  let messages: AsyncStream<RoomMessage>
  private let session: ParticipantSession

  init(_ session: ParticipantSession) {
    self.session = session
    joined = JoinedBody(session.joined)
    let notices = session.notices
    messages = AsyncStream { continuation in
      let reading = Task {
        for await notice in notices { continuation.yield(RoomMessage(notice)) }
        continuation.finish()
      }
      continuation.onTermination = { _ in reading.cancel() }
    }
  }

  func offer(_ offer: SessionOffer) async throws(RoomRefusal) -> SessionAnswer {
    do throws(OfferError) {
      let answer = try await session.offer(
        offer.sdp, tracks: offer.tracks.map { OfferedTrack(mid: $0.mid, source: $0.source, name: $0.name) })
      return SessionAnswer(
        sdp: answer.sdp,
        tracks: answer.tracks.map { SessionAnswer.Track(mid: $0.mid, track: $0.track.text) },
        slots: answer.slots.map { Slot(mid: $0.mid, track: $0.track?.text) },
        declined: answer.declined.map { SessionAnswer.Declined(mid: $0.mid, code: $0.code) })
    } catch {
      switch error {
      case .malformed, .refused: throw RoomRefusal(.offerRefused, error.description)
      case .notAllowed: throw RoomRefusal(.notAllowed, error.description)
      case .overloaded, .gone: throw RoomRefusal(.unavailable, error.description)
      }
    }
  }

  /// A server on a public address finds its clients by their checks: their candidates tell it nothing.
  func candidate(_ candidate: String, mid: String) async {}

  func leave(_ reason: LeaveReason) async {
    await session.leave(reason: reason)
  }
}

extension JoinedBody {
  init(_ state: JoinedState) {
    self.init(
      participant: ParticipantBody(state.participant), room: RoomBody(state.room),
      participants: state.participants.map { ParticipantBody($0) }, lastEvent: state.lastEvent)
  }
}

extension RoomBody {
  init(_ room: RoomInfo) { self.init(id: room.id.text, name: room.name) }
}

extension ParticipantBody {
  init(_ info: ParticipantInfo) {
    self.init(
      id: info.id.text, identity: info.identity, name: info.name, tracks: info.tracks.map { TrackBody($0) })
  }
}

extension TrackBody {
  init(_ info: TrackInfo) {
    self.init(
      id: info.id.text, kind: info.kind == .audio ? "audio" : "video", source: info.source, name: info.name)
  }
}

extension RoomMessage {
  init(_ notice: ParticipantNotice) {
    self =
      switch notice {
      case .slots(let assignments):
        .slots(assignments.map { Slot(mid: $0.mid, track: $0.track?.text) })
      case .offerWanted(let audio, let video):
        .offerWanted(audio: audio, video: video, reason: .slots)
      case .closed(let reason): .closed(reason)
      case .event(let event): .event(EventBody(event))
      }
  }
}

extension EventBody {
  init(_ event: RoomEvent) {
    self.init(
      id: event.id, time: event.time.text, room: event.room.name, roomId: event.room.id.text,
      type: event.kind.rawValue, participant: event.participant.map { ParticipantBody($0) },
      track: event.track.map { TrackBody($0) }, reason: event.reason)
  }
}
