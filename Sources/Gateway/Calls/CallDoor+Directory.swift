internal import CallDesk
internal import Calls
internal import HTTPServer

/// What was pushed for a call, and who else there is.
extension CallDoor {
  private struct DeliveryBody: Encodable {
    let person: String?
    let device: String
    let ringId: String
    let type: String
    let platform: String
    let state: String
    let reason: String?
    let at: String
    let tries: Int

    /// - Parameter isOwn: it is the reader's own.
    init(_ delivery: CallDelivery, isOwn: Bool) {
      person = isOwn ? nil : delivery.person.text
      device = delivery.device.text
      ringId = delivery.ring.text
      type = delivery.kind.rawValue
      platform = delivery.platform
      state = delivery.state
      reason = delivery.reason.isEmpty ? nil : delivery.reason
      at = CallBody.time(delivery.time)
      tries = delivery.tries
    }
  }

  private struct DeliveriesBody: Encodable {
    let items: [DeliveryBody]
    let next: String?
    let people: [String: String]?
  }

  @Sendable func deliveries(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let limit = try RESTPage.limit(of: call.request, usual: 50, most: 200)
    try pay(limit * Self.pricePerShortItem, call)
    let place = try place(call) { CallDeliveries.Place($0) }
    let id = try self.call(call)
    let isRun = try await runBy(call, id) != nil
    guard isRun || call.permission.isPerson else { throw RESTProblem(CallProblem.notFound) }
    let isOwn = !isRun
    let person = isOwn ? call.permission.caller.person : nil
    let found = try await ask { () async throws(CallProblem) in
      try await desk.deliveries(of: id, for: person, before: place, limit: limit)
    }
    var people: [String: String]?
    if let reached = found.people {
      people = [:]
      for (other, reach) in reached { people?[other.text] = reach.rawValue }
    }
    let items = found.items.map { DeliveryBody($0, isOwn: isOwn) }
    return answer(DeliveriesBody(items: items, next: found.next?.text, people: people))
  }

  private struct PersonBody: Encodable {
    let id: String
    let name: String?
    /// Its events are read by a device now.
    let online: Bool
  }

  /// People who have come, in the order of their ids' bytes; where the directory is open.
  @Sendable func people(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    guard isDirectoryOpen else { throw RESTProblem(CallProblem.notFound) }
    let page = try RESTPage(call.request, usual: 50, most: 200)
    try pay(page.limit * Self.pricePerShortItem, call)
    let after = page.after.map { PersonID($0) }
    let found: [(person: PersonID, name: String?)]
    switch call.request.queryItem("online") {
    case "true": found = try await online(after: after, limit: page.limit + 1, call)
    case nil, "false":
      found = try await ask { () async throws(CallProblem) in
        try await desk.people(after: after, limit: page.limit + 1)
      }
    default: throw .query("online must be true or false")
    }
    let bodies = found.map { PersonBody(id: $0.person.text, name: $0.name, online: feeds.isOpen($0.person)) }
    return answer(page.body(bodies) { $0.id })
  }

  /// Those whose events are read now. One that is erased may read on by a token of before, and isn't listed.
  private func online(
    after person: PersonID?, limit: Int, _ call: CallRequest
  ) async throws(RESTProblem) -> [(person: PersonID, name: String?)] {
    // All of them are put into order, however few are asked for.
    try pay(min(feeds.count * Self.pricePerReader, Self.mostBehindAnswer), call)
    let open = feeds.people(after: person)
    var (looked, found) = (0, [(person: PersonID, name: String?)]())
    while found.count < limit, looked < open.count {
      let some = Array(open[looked..<min(looked + limit, open.count)])
      let known = try await ask { () async throws(CallProblem) in try await desk.people(among: some) }
      found += known
      looked += some.count
    }
    return Array(found.prefix(limit))
  }
}
