internal import AccessTokens
internal import HTTPServer
internal import Rooms

/// An error as RFC 9457 has it; its `type` stays the same from version to version.
enum Problem {
  /// - Parameters:
  ///   - code: the last part of the type, as in `urn:roost:problem:not-found`.
  ///   - title: the same for every problem of that type.
  ///   - members: more that programs can read.
  static func response(
    _ status: Int, _ code: String, _ title: String, detail: String? = nil, members: [String: StrictJSON] = [:]
  ) -> HTTPResponse {
    var body = members
    body["type"] = .string("urn:roost:problem:\(code)")
    body["title"] = .string(title)
    body["status"] = .number(Double(status))
    if let detail { body["detail"] = .string(detail) }
    var response = HTTPResponse(
      status: status, type: "application/problem+json", body: StrictJSON.object(body).text.utf8)
    response.headers.add("cache-control", "no-store")
    if status == 401 { response.headers.add("www-authenticate", "Bearer") }
    return response
  }

  /// A page asks whose origin isn't allowed.
  static func origin(_ detail: String) -> HTTPResponse {
    response(403, "origin", "Pages of this origin are not served", detail: detail)
  }

  static func notFound() -> HTTPResponse { response(404, "not-found", "Not found") }

  /// The server is about to stop. Another one, or this one started again, serves soon.
  static func draining() -> HTTPResponse {
    var refusal = response(503, "draining", "The server is shutting down and accepts no one new")
    refusal.headers.add("retry-after", "5")
    return refusal
  }

  static func method(allowed: String) -> HTTPResponse {
    var refusal = response(405, "method", "Method not allowed", detail: "allowed: \(allowed)")
    refusal.headers.add("allow", allowed)
    return refusal
  }

  /// Too much from one address.
  static func tooOften(retryAfter seconds: Int) -> HTTPResponse {
    var refusal = response(429, "rate-limited", "Too many requests from this address")
    refusal.headers.add("retry-after", String(seconds))
    return refusal
  }
}
