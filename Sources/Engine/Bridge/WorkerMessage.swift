internal import Model
internal import Peer

/// What a worker's mailbox takes: from the control plane, and from the other workers about peers and about tracks.
enum WorkerMessage: Sendable {
  case command(Command)
  case report(@Sendable (WorkerReport) -> Void)
  /// - Parameter answer: nil: the worker has ended.
  case explain(MediaQuestion, answer: @Sendable (WorkerExplanation?) -> Void)
  /// - Parameter answer: nil: the peer isn't here, or the worker has ended.
  case recording(PeerKey, answer: @Sendable (FlightRecording?) -> Void)
  case routing(RoutingMessage)
  case track(TrackMessage)
}
