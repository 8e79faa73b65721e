public import Model

/// What bounds each client, and all of them together.
public struct HTTPLimits: Equatable, Sendable {
  /// Open TCP connections over all listeners; one more is closed at once.
  public var connections = 4096
  /// Of these, from one IP address.
  public var connectionsPerAddress = 1024
  public var handshakes = HandshakeLimits()
  /// Whose connections are not counted per address, because they carry other people's requests, and whose
  /// `X-Forwarded-For` says who asks.
  public var proxies: [AddressPrefix] = []
  /// Bytes of request line and header fields together; beyond: 431, or 414 if the line alone is far too long.
  public var headBytes = 16_384
  /// From the first moment of a connection to the end of the head, and again from the end of the request
  /// line: the connection is cut.
  public var headTime: Duration = .seconds(10)
  /// From an answer to the end of the next request line, on a connection that is kept.
  public var keepAlive: Duration = .seconds(30)
  /// Bytes of a body; beyond: 413, before any of it is read if its length is announced.
  public var bodyBytes = 1_048_576
  /// From the end of the head to the end of the body: the connection is cut.
  public var bodyTime: Duration = .seconds(20)
  /// For the handler to answer: 503.
  public var answerTime: Duration = .seconds(60)
  /// Answers that are produced over time.
  public var streams = StreamLimits()
  /// Without a byte taken by a client that has bytes coming: the connection is cut. Rounded up to seconds for
  /// answers.
  public var writeTime: Duration = .seconds(20)
  /// Bytes of a WebSocket message, its fragments joined; beyond: close 1009.
  public var messageBytes = 262_144
  /// Of the first message of a WebSocket whose client has to say who it is, and of all that waits to be read of it until
  /// then; beyond: close 1009 or 1013.
  public var greetingBytes = 16_384
  /// What waits for a slow WebSocket client (sent, not yet taken by TCP) or for a slow handler (received, not
  /// yet read); beyond: the waiting messages are dropped and the connection closes with 1013.
  public var queuedBytes = 4_194_304
  /// Bytes that each waiting message counts beside its own: what it takes in memory to wait.
  public var queuedOverhead = 64
  /// What waits on all WebSockets together of what their sessions begin or go on with, which `queuedBytes` doesn't bound;
  /// beyond: the one that would be more is closed with 1013.
  public var openingBytes = 268_435_456
  /// Messages that wait for a slow handler.
  public var queuedMessages = 1024
  /// How the silence of a WebSocket is noticed.
  public var ping = PingTimes()
  /// For what waits to be taken and the far end to answer, once a WebSocket is closed, however steadily it goes on; and for
  /// the far end to go once everything was said.
  public var closeTime: Duration = .seconds(2)

  public init() {}
}

/// TLS handshakes with one IPv4 address or IPv6 /64; beyond: the connection is closed before anything is made for it, since the
/// server's part of a handshake costs a hundred times the client's.
public struct HandshakeLimits: Equatable, Sendable {
  /// In a second.
  public var perAddress = 50.0
  public var atOncePerAddress = 256.0

  public init() {}
}

/// How many answers may be produced over time at once.
public struct StreamLimits: Equatable, Sendable {
  /// Over all listeners; one more is answered by 503. Fewer than there may be connections, as below, so that they leave room for
  /// others.
  public var total = 2000
  /// Of these, for one IPv4 address or IPv6 /64; one more is answered by 429.
  public var perAddress = 1000

  public init() {}
}

/// How long a WebSocket may be silent.
public struct PingTimes: Equatable, Sendable {
  /// Silence after which it is pinged.
  public var interval: Duration = .seconds(25)
  /// Further silence after which it counts as gone.
  public var answerTime: Duration = .seconds(15)

  public init() {}
}
