/// What a server has open and has counted, at one moment.
public struct HTTPReport: Sendable {
  /// Open TCP connections, and those of them that are WebSockets or have an answer that is produced over time.
  public var connections = 0
  public var webSockets = 0
  public var streams = 0
  public var counters = HTTPCounters()

  public init() {}
}

/// Plain counters of one server, owned by its thread.
public struct HTTPCounters: Sendable {
  public var accepted: UInt64 = 0
  /// Closed at once: beyond `HTTPLimits.connections`, `connectionsPerAddress`, `handshakes`, or the process's
  /// descriptors.
  public var refusedFull: UInt64 = 0
  public var refusedPerAddress: UInt64 = 0
  public var refusedHandshakes: UInt64 = 0
  public var refusedWithoutDescriptor: UInt64 = 0
  /// Cut, or answered by 503, because something took longer than `HTTPLimits` allow.
  public var lateHeads: UInt64 = 0
  public var lateBodies: UInt64 = 0
  public var lateAnswers: UInt64 = 0
  public var lateWebSockets: UInt64 = 0
  public var webSocketsOpened: UInt64 = 0
  public var messagesReceived: UInt64 = 0
  public var messageBytesReceived: UInt64 = 0
  public var messagesSent: UInt64 = 0
  public var messageBytesSent: UInt64 = 0
  public var streams = StreamCounters()
  /// Answers by status, also those to requests that could not be read.
  public var answers: [Int: UInt64] = [:]
  /// Requests that no handler saw, by the reason's name.
  public var refusedRequests: [String: UInt64] = [:]
  /// WebSockets that the server closed, by the code that it gave.
  public var webSocketsClosed: [UInt16: UInt64] = [:]

  public init() {}
}

/// Of answers that are produced over time.
public struct StreamCounters: Sendable {
  public var begun: UInt64 = 0
  /// That clients took of them.
  public var bytes: UInt64 = 0
  /// Answered by 503 or 429 instead, beyond `StreamLimits`.
  public var refusedFull: UInt64 = 0
  public var refusedPerAddress: UInt64 = 0
  /// Those that are over, by what ended them: `finished`, `stalled`, `shutdown`, `clientGone`.
  public var ended: [String: UInt64] = Dictionary(
    uniqueKeysWithValues: StreamedBody.End.allCases.map { ($0.rawValue, 0) })

  public init() {}
}
