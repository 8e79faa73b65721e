import AccessTokens
import HTTPServer

/// HTTP requests to the doors of calls, each counted from the request as it was parsed to its answer, with what the store does for it on
/// its own thread.
final class CallCosts {
  private static let operations: [(method: HTTPMethod, path: String)] = [
    (.post, "/v1/calls"), (.get, "/v1/calls"), (.get, "/v1/calls/events"), (.get, "/v1/calls/{call}"),
    (.patch, "/v1/calls/{call}"), (.delete, "/v1/calls/{call}"), (.post, "/v1/calls/{call}/join"),
    (.post, "/v1/calls/{call}/leave"), (.post, "/v1/calls/{call}/invite"),
    (.post, "/v1/calls/{call}/forget"), (.post, "/v1/calls/{call}/signals"),
    (.get, "/v1/calls/{call}/deliveries"), (.get, "/v1/people"), (.post, "/v1/calls/{call}/keys"),
    (.get, "/v1/keys/head"), (.get, "/v1/keys/consistency"), (.get, "/v1/keys/log"),
    (.put, "/v1/keys/{person}"), (.get, "/v1/keys/{person}"), (.delete, "/v1/keys/{person}/{device}"),
    (.get, "/v1/keys/{person}/history"), (.post, "/v1/calls/{call}/sessions"),
    (.get, "/v1/calls/{call}/sessions"), (.delete, "/v1/calls/{call}/sessions/{session}"),
    (.post, "/v1/calls/{call}/sessions/{session}/join"), (.post, "/v1/calls/{call}/sessions/{session}/leave"),
    (.post, "/v1/calls/{call}/sessions/{session}/owner"),
    (.post, "/v1/calls/{call}/sessions/{session}/events"),
    (.get, "/v1/calls/{call}/sessions/{session}/events"),
    (.put, "/v1/calls/{call}/sessions/{session}/snapshot"),
    (.get, "/v1/calls/{call}/sessions/{session}/snapshot"), (.put, "/v1/devices/{device}"),
    (.get, "/v1/devices"), (.delete, "/v1/devices/{device}"), (.get, "/v1/blocks"),
    (.put, "/v1/blocks/{person}"), (.delete, "/v1/blocks/{person}"), (.delete, "/v1/people/{person}"),
  ]
  static let kinds = operations.map { "\($0.method.rawValue) \($0.path)" }
  /// What even the shortest request is charged, as at the doors. Whose token is refused has no budget, and is held against that.
  private static let price = 4_096
  /// Calls that one stage has at most: its history grows with them.
  private static let mostCalls = 400

  private var stage: CallStage?
  /// The call isn't as it was.
  private var isChanged = false

  /// - Returns: nil: it is none of these.
  static func kind(of request: HTTPRequest) -> String? {
    guard let segments = request.segments else { return nil }
    let found = operations.first { method, path in
      let wanted = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      return method == request.method && wanted.count == segments.count
        && zip(wanted, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
    return found.map { "\($0.method.rawValue) \($0.path)" }
  }

  func run(_ given: HTTPRequest, kind: String, _ meter: CostMeter) -> CostReading? {
    if (stage?.calls ?? .max) > Self.mostCalls { stage = CallStage() }
    guard let there = stage else { return nil }
    if isChanged { there.begin() }
    there.prepare(kind)
    there.rest()
    let request = there.filled(given)
    _ = there.scene.takeCharged()
    meter.begin()
    let said = there.answer(request)
    meter.end()
    guard let answer = said else { return nil }
    isChanged = given.method != .get && answer.status < 300
    // No one who was erased comes back.
    if kind == "DELETE /v1/people/{person}", isChanged { (stage, isChanged) = (nil, false) }
    let charged = there.scene.takeCharged()
    return CostReading(
      charged: charged > 0 ? charged : Self.price + request.body.count, answered: answer.body.count)
  }
}
