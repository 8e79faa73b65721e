/// Which messages a room keeps for those who come later, and how many of them.
public struct DataHistoryTerms: Equatable, Sendable {
  /// Messages of these topics, that go to everybody.
  public var topics: Set<String>
  /// The newest of them.
  public var max: Int
  /// Seconds for which one is kept.
  public var seconds: Int

  public static let mostTopics = 16
  public static let mostMessages = 200
  /// A day.
  public static let mostSeconds = 86_400

  public init(topics: Set<String>, max: Int, seconds: Int) {
    self.topics = topics
    self.max = max
    self.seconds = seconds
  }
}
