internal import FoundationEssentials
internal import HTTPServer

/// An error as RFC 9457 has it; its `type` stays the same from version to version.
enum Problem {
  /// - Parameters:
  ///   - code: the last part of the type, as in `urn:roost:problem:not-found`.
  ///   - title: the same for every problem of that type.
  static func response(_ status: Int, _ code: String, _ title: String, detail: String? = nil) -> HTTPResponse
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let body = Body(type: "urn:roost:problem:\(code)", title: title, status: status, detail: detail)
    guard let data = try? encoder.encode(body) else {
      preconditionFailure("a problem of strings is always JSON")
    }
    var response = HTTPResponse(status: status, type: "application/problem+json", body: data)
    response.headers.add("cache-control", "no-store")
    if status == 401 { response.headers.add("www-authenticate", "Bearer") }
    return response
  }

  static func notFound() -> HTTPResponse { response(404, "not-found", "There is nothing here") }

  /// The server is about to stop. Another one, or this one started again, serves soon.
  static func draining() -> HTTPResponse {
    var refusal = response(503, "draining", "The server is about to stop and lets nobody new in")
    refusal.headers.add("retry-after", "5")
    return refusal
  }

  static func method(allowed: String) -> HTTPResponse {
    var refusal = response(405, "method", "That method does nothing here", detail: "allowed: \(allowed)")
    refusal.headers.add("allow", allowed)
    return refusal
  }

  private struct Body: Encodable {
    let type: String
    let title: String
    let status: Int
    let detail: String?
  }
}
