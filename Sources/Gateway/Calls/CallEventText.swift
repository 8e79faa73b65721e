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
    /// The ring of which it is the end; nil: it is something else.
    var endedRing: CallUUID?
  }

  let desk: CallDesk
  let tokens: CallTokens
  /// Where the server is reached.
  let url: String
  /// Milliseconds since 1970.
  let wall: @Sendable () -> Int64
  /// What tokens name that are given to a reader which doesn't say which device it is: no other device is in a call by its token.
  let reader: DeviceID

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
    let key: WrappedKeyBody?
    let keyFrom: String?
    let keyIndex: Int64?
    let head: CallHead?
  }

  private struct Key: Encodable {
    let call: String
    let index: Int64
    let keyFrom: String
    let key: WrappedKeyBody?
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
    var keys: [CallUUID: CallKey?] = [:]
    var items: [Item] = []
    for event in events {
      if let only = event.device, let device, only != device { continue }
      var document: CallDocument?
      if let id = event.call {
        if known[id] == nil { known[id] = try await desk.callIfKnown(id, for: person) }
        document = known[id]
      }
      if [.sessionStarted, .sessionUpdated, .sessionEnded].contains(event.kind) {
        guard let data = try await session(of: event, for: person) else { continue }
        items.append(Item(id: event.number, type: event.kind.rawValue, data: data))
        continue
      }
      var key: CallKey?
      if event.kind.bringsKey, let device, let document, document.state.isEncrypted {
        let id = document.state.id
        if keys[id] == nil { keys[id] = .some(try await self.key(of: id, person, device)) }
        key = keys[id] ?? nil
      }
      guard let data = data(of: event, document, key, for: person, device) else { continue }
      items.append(
        Item(
          id: event.number, type: event.kind.rawValue, data: data, endedRing: Self.ring(endedBy: event)))
    }
    return items
  }

  private static func ring(endedBy event: PersonEvent) -> CallUUID? {
    guard event.kind == .ringEnded else { return nil }
    return (try? JSONDecoder().decode(RingEndedBody.self, from: Data(event.body)))?.ringId
  }

  private func key(
    of call: CallUUID, _ person: PersonID, _ device: DeviceID
  ) async throws(CallProblem) -> CallKey? {
    do throws(CallProblem) {
      return try await desk.callKey(of: call, for: person, device: device)
    } catch {
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

  /// - Returns: nil: its call is no longer kept, or nothing of it is.
  private func data(
    of event: PersonEvent, _ document: CallDocument?, _ key: CallKey?, for person: PersonID,
    _ device: DeviceID?
  ) -> [UInt8]? {
    let bytes = Data(event.body)
    switch event.kind {
    case .updated, .ended: return document.map { Self.json(CallBody($0, for: person)) }
    case .ringing:
      guard let document, let body = try? JSONDecoder().decode(RingingBody.self, from: bytes) else {
        return nil
      }
      return Self.json(ringing(body, document, key, for: person, device))
    case .ringEnded:
      guard let body = try? JSONDecoder().decode(RingEndedBody.self, from: bytes) else { return nil }
      // It answered or declined by itself.
      if let device, body.device == device { return nil }
      return Self.json(
        Ended(
          ringId: body.ringId.text, call: event.call?.text ?? "", reason: body.reason,
          device: body.device?.text))
    case .deviceRemoved:
      guard let body = try? JSONDecoder().decode(DeviceRemovedBody.self, from: bytes) else { return nil }
      return Self.json(Removed(device: body.device.text, reason: body.reason))
    case .callKey:
      guard let document, let body = try? JSONDecoder().decode(CallKeyBody.self, from: bytes) else {
        return nil
      }
      return changedKey(body, document, key, for: person).map { Self.json($0) }
    // Of one whose call ended a while ago nothing is left.
    case .signal: return event.isEmptied ? nil : event.body
    case .keyChanged: return event.body
    // `session` has these.
    case .sessionStarted, .sessionUpdated, .sessionEnded: return nil
    }
  }

  /// - Returns: nil: it is nothing of the person's any more, or there is another key since.
  private func changedKey(
    _ body: CallKeyBody, _ document: CallDocument, _ key: CallKey?, for person: PersonID
  ) -> Key? {
    let call = document.state
    guard !call.isEnded, call[person]?.leaveReason == nil, key?.index ?? body.index == body.index else {
      return nil
    }
    return Key(
      call: call.id.text, index: body.index, keyFrom: body.from.text, key: key.map(WrappedKeyBody.init))
  }

  private func ringing(
    _ body: RingingBody, _ document: CallDocument, _ key: CallKey?, for person: PersonID, _ device: DeviceID?
  ) -> Ringing {
    let call = document.state
    let remaining = body.expiresAt - wall()
    // A ring that is over opens nothing.
    let ring = call[person]?.ring
    let rings = ring?.id == body.ringId && remaining > 0
    let key = rings ? key : nil
    let token = document.room.flatMap { room in
      rings
        ? tokens.token(
          ringing: person, document.names[person], device ?? reader, until: body.expiresAt, of: call.id,
          room: room, apiKey: document.apiKey) : nil
    }
    return Ringing(
      ringId: body.ringId.text, call: CallBody(document, for: person), callerId: body.callerId.text,
      callerName: document.names[body.callerId], media: call.media.rawValue, token: token,
      url: token == nil ? nil : url, expiresAt: CallBody.time(body.expiresAt), remainingMs: max(remaining, 0),
      busy: body.busy ? true : nil, key: key.map(WrappedKeyBody.init), keyFrom: key?.from.text,
      keyIndex: key?.index, head: rings ? ring?.head : nil)
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

extension PersonEvent.Kind {
  fileprivate var bringsKey: Bool { self == .ringing || self == .callKey }
}
