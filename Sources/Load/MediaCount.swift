internal import Model

/// What a load run sends and counts: packets that carry stamps (`PacketCount`), or pictures and tones (`RealMedia`).
///
/// It belongs to the run's thread. Spans are measured one after the other: `begin`, `end`, and once nothing is on its way,
/// `finish`.
protocol MediaCount: AnyObject {
  /// Second by second, over all spans.
  var timeline: Timeline { get }
  /// What came at any time, for progress.
  var progress: String { get }
  /// Readable when `poll` has something to do; nil: never.
  var descriptor: Int32? { get }
  /// When `poll` has something to do in any case.
  var deadline: Instant { get }
  /// Takes a participant that has not joined yet; they come in the order of their numbers.
  func add(_ participant: Participant)
  func poll(now: Instant)
  /// Something of each track that it should get has come.
  func hasHeardAll(_ participant: Int) -> Bool
  /// Participants that are connected count from here on.
  func begin(now: Instant)
  func end(now: Instant)
  /// Nothing of the span is on its way any more, as far as one can know.
  var isComplete: Bool { get }
  /// Adds the span to the report.
  func finish(_ report: inout LoadReport) -> MeasuredSpan
  func stop()
}
