/// What flows each way, in bits per second, as the server sees it: received from clients, sent to them.
///
/// Of SRTP and SRTCP datagrams with their headers, without those of UDP and IP.
public struct Bitrates: BitwiseCopyable, Equatable, Sendable {
  public var received: Int
  public var sent: Int

  public init(received: Int = 0, sent: Int = 0) {
    self.received = received
    self.sent = sent
  }

  public static func + (a: Self, b: Self) -> Self {
    Self(received: a.received &+ b.received, sent: a.sent &+ b.sent)
  }
}
