import HTTPServer
import Testing

/// RFC 9110 §12.5.1.
@Suite("Which of two media types a client would rather have", .timeLimit(.minutes(1)))
struct AcceptedTypesTests {
  private func prefers(_ fields: String...) -> Bool {
    var headers = HTTPHeaders()
    for field in fields { headers.add("Accept", field) }
    return HTTPRequest(method: .get, path: "/", headers: headers).prefers(
      "text/event-stream", to: "application/json")
  }

  @Test func `one that is named and no worse is preferred`() {
    for accept in [
      "text/event-stream", "TEXT/Event-Stream", " text/event-stream ; charset=utf-8",
      "text/event-stream;q=0.001",
      "text/event-stream, */*", "*/*;q=0.1, text/event-stream;q=0.1",
      "text/event-stream;q=1.000, application/json",
      "application/json;q=0.9,text/event-stream", "text/html, text/event-stream;q=0.5, application/*;q=0.4",
      "application/json;q=0, */*, text/event-stream;q=0.1",
    ] { #expect(prefers(accept), "\(accept)") }
    #expect(prefers("application/json;q=0.5", "text/event-stream"))
  }

  @Test func `one that isn't named, not wanted or worse is not`() {
    for accept in [
      "", "*/*", "text/*", "application/json", "text/event-stream;q=0", "text/event-stream;q=0.0",
      "text/event-stream;q=0.5, application/json", "text/event-stream;q=0.5, */*", "text/event-streams",
      "xtext/event-stream", "text/event-stream;q=0.3, application/*;q=0.4", ",,;;,", ";q=1",
      "text/event-stream;q=",
      "text/event-stream;q=x", "text/event-stream;q=2", "text/event-stream;q=-1",
      "text/event-stream;q=0.0001x",
    ] { #expect(!prefers(accept), "\(accept)") }
    #expect(!prefers())
  }
}
