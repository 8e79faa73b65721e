/// What `roost-load --calls` was asked for.
public struct CallPlan: Equatable, Sendable {
  /// Calls in all, each of two people of its own: the server's limits are per person and per pair.
  public var count: Int
  /// Calls that are begun in a second.
  public var rate = 10.0
  /// Seconds for which the two of a call talk.
  public var talk = 5
  /// The server may be killed and started again meanwhile, by someone else: what isn't answered is asked again, and people come back.
  public var survivesRestarts = false

  public init(count: Int) { self.count = count }

  /// Two people each; one process has no more sockets to spare.
  static let limit = 100_000
  /// Seconds after which the media of a call has failed, where nothing else is asked for.
  static let joinTimeout = 30
}
