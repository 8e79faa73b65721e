internal import HTTPServer

/// What the HTTP server counts, as metrics.
enum HTTPMetrics {
  typealias Row = (path: any KeyPath<HTTPCounters, UInt64> & Sendable, name: String, help: String)
  typealias Reason = (path: any KeyPath<HTTPCounters, UInt64> & Sendable, reason: String)

  static let counters: [Row] = [
    (\.accepted, "roost_http_connections_accepted_total", "TCP connections accepted."),
    (\.webSocketsOpened, "roost_http_websockets_opened_total", "WebSockets opened."),
    (\.messagesReceived, "roost_http_websocket_received_messages_total", "WebSocket messages from clients."),
    (\.messageBytesReceived, "roost_http_websocket_received_bytes_total", "Their bytes."),
    (
      \.streams.begun, "roost_http_streams_begun_total",
      "Answers that were produced over time, as events are."
    ),
    (\.streams.bytes, "roost_http_stream_bytes_total", "Their bytes that clients took."),
    (\.messagesSent, "roost_http_websocket_sent_messages_total", "WebSocket messages for clients."),
    (\.messageBytesSent, "roost_http_websocket_sent_bytes_total", "Their bytes."),
  ]

  /// Connections closed at once: one family.
  static let refusals: [Reason] = [
    (\.refusedFull, "full"), (\.refusedPerAddress, "perAddress"),
    (\.refusedHandshakes, "handshakes"), (\.refusedWithoutDescriptor, "noDescriptor"),
  ]

  /// Streams that were answered by 503 or 429 instead: one family.
  static let streamRefusals: [Reason] = [
    (\.streams.refusedFull, "full"), (\.streams.refusedPerAddress, "perAddress"),
  ]

  /// What took too long: one family.
  static let late: [Reason] = [
    (\.lateHeads, "head"), (\.lateBodies, "body"), (\.lateAnswers, "answer"), (\.lateWebSockets, "websocket"),
  ]

  static func write(_ report: HTTPReport, to exposition: inout Exposition) {
    let counts = report.counters
    exposition.family(
      "roost_http_connections", .gauge, "Open TCP connections, WebSockets among them.",
      [.init(report.connections)])
    exposition.family("roost_http_websockets", .gauge, "Open WebSockets.", [.init(report.webSockets)])
    exposition.family(
      "roost_http_streams", .gauge, "Answers that are being produced over time.", [.init(report.streams)])
    for row in counters {
      exposition.family(row.name, .counter, row.help, [.init(counts[keyPath: row.path])])
    }
    exposition.family(
      "roost_http_connections_refused_total", .counter, "TCP connections closed at once.",
      refusals.map { .init(counts[keyPath: $0.path], ("reason", $0.reason)) })
    exposition.family(
      "roost_http_streams_refused_total", .counter, "Requests for a stream that found none free.",
      streamRefusals.map { .init(counts[keyPath: $0.path], ("reason", $0.reason)) })
    exposition.family(
      "roost_http_streams_ended_total", .counter, "Streams that are over, by what ended them.",
      counts.streams.ended.sorted { $0.key < $1.key }.map { .init($0.value, ("reason", $0.key)) })
    exposition.family(
      "roost_http_timeouts_total", .counter,
      "Connections and requests that exceeded a time limit and were closed or answered with 503.",
      late.map { .init(counts[keyPath: $0.path], ("what", $0.reason)) })
    exposition.family(
      "roost_http_responses_total", .counter, "Answers, by status.",
      counts.answers.sorted { $0.key < $1.key }.map { .init($0.value, ("code", String($0.key))) })
    exposition.family(
      "roost_http_requests_refused_total", .counter, "Requests that were malformed or too large.",
      counts.refusedRequests.sorted { $0.key < $1.key }.map { .init($0.value, ("reason", $0.key)) })
    exposition.family(
      "roost_http_websockets_closed_total", .counter,
      "WebSockets closed by the server, by close code.",
      counts.webSocketsClosed.sorted { $0.key < $1.key }.map { .init($0.value, ("code", String($0.key))) })
  }
}
