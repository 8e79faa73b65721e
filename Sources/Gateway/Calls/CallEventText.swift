internal import AccessTokens
internal import CallDesk
internal import Calls
internal import FoundationEssentials

/// Events of a person as clients get them. What is written down of them is small: how a call stands, and the token of a ring that
/// goes on, are added as an event is given out.
struct CallEventText: Sendable {
  struct Item: Sendable {
    let id: Int64
    let type: String
    /// JSON on one line.
    let data: [UInt8]
  }

  let desk: CallDesk
  let tokens: CallTokens
  /// Where the server is reached.
  let url: String
  /// Milliseconds since 1970.
  let wall: @Sendable () -> Int64

  private struct Ringing: Encodable {
    let ringId: String
    let call: CallBody
    let callerId: String
    let callerName: String?
    let media: String
    let token: String?
    let url: String?
    let expiresAt: String
    let remainingMs: Int64
    let busy: Bool?
  }

  private struct Ended: Encodable {
    let ringId: String
    let call: String
    let reason: String
    let device: String?
  }

  private struct Removed: Encodable {
    let device: String
    let reason: String
  }

  struct State: Encodable {
    let calls: [CallBody]
    let reset: Bool?
  }

  /// All that a person is of, in the place of events.
  func state(of person: PersonID, isReset: Bool) async throws(CallProblem) -> Item {
    let (calls, last) = try await desk.state(of: person)
    let body = State(calls: calls.map { CallBody($0, for: person) }, reset: isReset ? true : nil)
    return Item(id: last, type: "state", data: Self.json(body))
  }

  /// - Returns: in the order of the events; one that is for another device alone is left out.
  func items(
    _ events: [PersonEvent], for person: PersonID, device: DeviceID?
  ) async throws(CallProblem) -> [Item] {
    var known: [CallUUID: CallDocument] = [:]
    var items: [Item] = []
    for event in events {
      if let only = event.device, let device, only != device { continue }
      var document: CallDocument?
      if let id = event.call {
        if known[id] == nil { known[id] = try await visible(id, person) }
        document = known[id]
      }
      let isOfSession = [.sessionStarted, .sessionUpdated, .sessionEnded].contains(event.kind)
      let found =
        try await isOfSession
        ? session(of: event, for: person) : data(of: event, document, for: person)
      guard let data = found else { continue }
      items.append(Item(id: event.number, type: event.kind.rawValue, data: data))
    }
    return items
  }

  private func visible(_ id: CallUUID, _ person: PersonID) async throws(CallProblem) -> CallDocument? {
    do throws(CallProblem) { return try await desk.call(id, for: person) } catch {
      if error == .notFound { return nil }
      throw error
    }
  }

  /// The session as it stands by now, as REST gives it.
  /// - Returns: nil: it is no longer kept.
  private func session(of event: PersonEvent, for person: PersonID) async throws(CallProblem) -> [UInt8]? {
    guard let call = event.call,
      let body = try? JSONDecoder().decode(SessionBody.self, from: Data(event.body))
    else { return nil }
    do throws(CallProblem) {
      return Self.json(SharedSessionBody(try await desk.session(body.session, in: call, for: person)))
    } catch {
      if error == .notFound || error == .removed { return nil }
      throw error
    }
  }

  /// - Returns: nil: its call is no longer kept.
  private func data(of event: PersonEvent, _ document: CallDocument?, for person: PersonID) -> [UInt8]? {
    let bytes = Data(event.body)
    switch event.kind {
    case .updated, .ended: return document.map { Self.json(CallBody($0, for: person)) }
    case .ringing:
      guard let document, let body = try? JSONDecoder().decode(RingingBody.self, from: bytes) else {
        return nil
      }
      return Self.json(ringing(body, document, for: person))
    case .ringEnded:
      guard let body = try? JSONDecoder().decode(RingEndedBody.self, from: bytes) else { return nil }
      return Self.json(
        Ended(
          ringId: body.ringId.text, call: event.call?.text ?? "", reason: body.reason,
          device: body.device?.text))
    case .deviceRemoved:
      guard let body = try? JSONDecoder().decode(DeviceRemovedBody.self, from: bytes) else { return nil }
      return Self.json(Removed(device: body.device.text, reason: body.reason))
    case .signal: return event.body
    // `session` has these.
    case .sessionStarted, .sessionUpdated, .sessionEnded: return nil
    }
  }

  private func ringing(_ body: RingingBody, _ document: CallDocument, for person: PersonID) -> Ringing {
    let call = document.state
    let remaining = body.expiresAt - wall()
    // A ring that is over opens nothing.
    let rings = call[person]?.ring?.id == body.ringId && remaining > 0
    let token = document.room.flatMap { room in
      rings
        ? tokens.token(
          ringing: person, until: body.expiresAt, of: call.id, room: room, apiKey: document.apiKey) : nil
    }
    return Ringing(
      ringId: body.ringId.text, call: CallBody(document, for: person), callerId: body.callerId.text,
      callerName: document.names[body.callerId], media: call.media.rawValue, token: token,
      url: token == nil ? nil : url, expiresAt: CallBody.time(body.expiresAt), remainingMs: max(remaining, 0),
      busy: body.busy ? true : nil)
  }

  private static func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let bytes = try? encoder.encode(value) else {
      preconditionFailure("texts, flags and finite numbers are always JSON")
    }
    return Array(bytes)
  }
}
