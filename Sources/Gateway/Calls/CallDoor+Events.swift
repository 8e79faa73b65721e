internal import AccessTokens
internal import CallDesk
internal import Calls
internal import FoundationEssentials
internal import HTTPServer

/// What a person hears of calls: as it happens, or page by page.
extension CallDoor {
  @Sendable func events(_ call: CallRequest) async throws(RESTProblem) -> HTTPResponse {
    let request = call.request
    var after: Int64?
    if let text = request.headers["last-event-id"].flatMap({ $0.isEmpty ? nil : $0 })
      ?? request.queryItem("after")
    {
      guard let number = Int64(text), number >= 0 else { throw .query("after must be an event's id") }
      after = number
    }
    let given = request.queryItem("device")
    if let given, !AccessToken.isText(given) {
      throw .query("device must have 1 to 128 bytes and no control characters")
    }
    let device = given.map { DeviceID($0) } ?? call.permission.caller.device
    let person = call.permission.caller.person
    var reader = call.permission.caller
    reader.device = device
    let caller = reader
    let isStream = request.prefers(EventStreamWriter.mediaType, to: "application/json")
    if isStream {
      // Nothing is read by it, and no stream ends for it.
      if request.method == .head { return Self.opening }
      guard feeds.admits(person, device, at: desk.now.steady) else {
        throw RESTProblem(CallProblem.tooMany(wait: Self.replacementPause))
      }
    }
    try await ask { () async throws(CallProblem) in try await desk.noteReader(caller) }
    let text = CallEventText(
      desk: desk, tokens: tokens, url: url(request), wall: wallMilliseconds, reader: desk.reader())
    if isStream {
      return stream(
        CallEventReader.Terms(
          person: person, device: device, text: text, expires: call.permission.token.validUntil,
          wall: tokens.now, charge: { [readings] in readings.charge($0, person, device) },
          gaveEnd: { [rooms] ring in if let device { rooms.noteEnd(of: ring, givenTo: device, of: person) } }),
        after: after)
    }
    let limit = try RESTPage.limit(of: request, usual: 50, most: 200)
    let price = limit * Self.pricePerItem
    try requirePaid(readings.take(price, person, device))
    let page = try await ask { () async throws(CallProblem) in
      try await self.page(of: person, after: after, limit: limit, device, text)
    }
    var response = HTTPResponse(status: 200, type: "application/json", body: page.body)
    response.headers.add("cache-control", "no-store")
    response.headers.add("vary", "accept")
    let rest = min(response.body.count - price, Self.mostBehindPage)
    if rest > 0 { _ = readings.charge(rest, person, device) }
    desk.noteHeard(page.last, by: person, device)
    return response
  }

  /// `{items: [{id, event, data}], last}`; where it begins, or what was asked for is gone, with `state` alone.
  private func page(
    of person: PersonID, after: Int64?, limit: Int, _ device: DeviceID?, _ text: CallEventText
  ) async throws(CallProblem) -> (body: [UInt8], last: Int64) {
    var items: [CallEventText.Item] = []
    var last: Int64 = 0
    var isGone = after == nil
    if let after {
      let page = try await desk.events(of: person, after: after, limit: limit)
      isGone = page.isGone
      if !isGone {
        items = try await text.items(page.events, for: person, device: device)
        last = page.reached
      }
    }
    if isGone {
      let state = try await text.state(of: person, isReset: after != nil)
      (items, last) = ([state], state.id)
    }
    var bytes = Array("{\"items\":[".utf8)
    for (place, item) in items.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += Array("{\"id\":\(item.id),\"event\":\"\(item.type)\",\"data\":".utf8) + item.data
      bytes.append(UInt8(ascii: "}"))
    }
    return (bytes + Array("],\"last\":\(last)}".utf8), last)
  }

  private func stream(_ terms: CallEventReader.Terms, after: Int64?) -> HTTPResponse {
    var response = Self.opening
    response.stream = CallEventReader(terms, after: after, feed: feeds.feed(of: terms.person))
    return response
  }

  /// Milliseconds until a device whose streams end each other too often may come again.
  private static let replacementPause: Int64 = 5_000

  /// What a stream begins with.
  private static var opening: HTTPResponse {
    var response = HTTPResponse.eventStream
    response.headers.add("vary", "accept")
    return response
  }
}
