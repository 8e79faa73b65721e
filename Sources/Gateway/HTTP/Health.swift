internal import HTTPServer

/// `/healthz` and `/readyz`, without content on every port: whether the process lives, and whether clients may be
/// sent to it.
enum Health {
  static func response(to request: HTTPRequest, isReady: () async -> Bool) async -> HTTPResponse {
    guard request.method == .get || request.method == .head else {
      return Problem.method(allowed: "GET, HEAD")
    }
    var response = HTTPResponse(status: 200)
    if request.path == "/readyz", await !isReady() {
      response = HTTPResponse(status: 503, headers: ["retry-after": "5"])
    }
    response.headers.add("cache-control", "no-store")
    return response
  }
}
