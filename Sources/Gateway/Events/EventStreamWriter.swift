internal import AccessTokens
internal import HTTPServer

/// The fields of Server-Sent Events as they go over the wire (WHATWG HTML §9.2). A line ends with a line feed alone, and no value
/// has one in it: ids and types are made here, and in JSON a line feed inside a text is written as an escape.
enum EventStreamWriter {
  static let mediaType = "text/event-stream"

  /// - Parameters:
  ///   - id: what `Last-Event-ID` says of a reader that comes again; nil: as before.
  ///   - data: JSON on one line.
  static func write(
    id: String? = nil, type: String, data: some Sequence<UInt8>, to bytes: inout [UInt8]
  ) {
    if let id {
      bytes.append(contentsOf: "id: ".utf8)
      bytes.append(contentsOf: id.utf8)
      bytes.append(lineFeed)
    }
    bytes.append(contentsOf: "event: ".utf8)
    bytes.append(contentsOf: type.utf8)
    bytes.append(contentsOf: "\ndata: ".utf8)
    bytes.append(contentsOf: data)
    bytes.append(lineFeed)
    bytes.append(lineFeed)
  }

  /// What readers skip.
  static func write(comment: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: ":"))
    if !comment.isEmpty { bytes.append(contentsOf: " \(comment)".utf8) }
    bytes.append(lineFeed)
    bytes.append(lineFeed)
  }

  /// What is said beside events.
  static func write(_ line: EventStream.Line, to bytes: inout [UInt8]) {
    switch line {
    case .opening: write(comment: "roost", to: &bytes)
    case .comment: write(comment: "", to: &bytes)
    case .draining(let deadline):
      let data = StrictJSON.object(["deadline": .string(deadline)]).text
      write(type: "draining", data: data.utf8, to: &bytes)
    case .end(let end): write(type: "end", data: end.json.utf8, to: &bytes)
    }
  }

  private static let lineFeed = UInt8(ascii: "\n")
}

extension HTTPResponse {
  /// What a stream of events begins with; its pieces follow.
  static var eventStream: HTTPResponse {
    HTTPResponse(
      status: 200,
      headers: [
        "content-type": EventStreamWriter.mediaType, "cache-control": "no-store",
        // Proxies that collect an answer before they pass it on are asked not to.
        "x-accel-buffering": "no",
      ])
  }
}
