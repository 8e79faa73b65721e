public import Model

/// What a transport asks of its ICE agent, be it the server's or a controlling one.
///
/// Datagrams that the agent wants sent are in the `output` of each call; `poll` is to be called at `deadline`.
public protocol ICEAgent: ~Copyable {
  /// Takes a datagram whose first byte is STUN's.
  mutating func receive(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, random: inout RandomSource,
    output: inout ICEOutput
  ) -> STUNOutcome

  /// Does what is due, one event a call; further ones leave `deadline` where it was.
  mutating func poll(now: Instant, random: inout RandomSource, output: inout ICEOutput) -> ICEPoll

  /// A packet came on a path that isn't the selected one, new and authentic by the keys that DTLS gave.
  /// - Returns: whether the path is selected now and wasn't before.
  mutating func mediaCame(on path: NetworkPath, now: Instant, random: inout RandomSource) -> Bool

  var deadline: Instant { get }

  /// When the last valid STUN message came, on any path.
  var lastHeard: Instant { get }

  /// Whether the path is proven to lead to the far end.
  func isValidated(_ path: NetworkPath) -> Bool

  /// Whether the path is about to be proven: what follows on it may be kept for a moment.
  func hasValidCheck(_ path: NetworkPath) -> Bool

  func encode(into writer: inout StateWriter)

  init(from reader: inout StateReader) throws(StateError)
}

extension ServerAgent: ICEAgent {}

extension ControllingAgent: ICEAgent {
  /// Paths are this side's to choose, so no packet chooses one.
  public mutating func mediaCame(on path: NetworkPath, now: Instant, random: inout RandomSource) -> Bool {
    false
  }

  public func hasValidCheck(_ path: NetworkPath) -> Bool {
    pairs.contains { $0.path == path && $0.state == .inProgress }
  }
}
