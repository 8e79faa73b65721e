internal import AccessTokens

/// The event log, page by page, as far as it reaches by now.
struct EventsTask: OperatorTask {
  private var source: EventSource
  private let limit: Int
  private var shown = 0
  private var isDone = false
  private var lines: EventLines
  private var output = Output()
  static let pageSize = 500
  /// Unless another number is wanted.
  static let usualLimit = 10_000

  init(_ source: EventSource, limit: Int?, style: Style) {
    self.source = source
    self.limit = limit ?? Self.usualLimit
    lines = EventLines(style: style, namesRooms: source.room == nil)
  }

  var ask: Ask? { isDone ? nil : source.page(limit: min(Self.pageSize, limit - shown)) }

  mutating func take(_ answer: OperatorAnswer) throws(OperatorError) {
    let (events, isLast) = try source.take(page: answer)
    for event in events.prefix(limit - shown) {
      output.text += lines.line(event)
      shown += 1
    }
    isDone = isLast || shown >= limit
    if isDone, !isLast {
      output.notes.append("there are more: raise --limit, or go on with \(source.goingOn)")
    }
  }

  mutating func takeOutput() -> Output { output.take() }
}
