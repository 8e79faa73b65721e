internal import AccessTokens
internal import HTTPClient

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Events as they happen, as a machine: what is asked, what a break means, and the lines that come of it. It has no socket and no clock.
///
/// A server that has streams of events gives one; another answers with a page, and is asked again once a second.
struct Follower {
  /// What to do next.
  enum Step: Equatable {
    /// Ask after so many milliseconds.
    case ask(Ask, after: Int)
    /// There is nothing more.
    case done
  }

  private(set) var source: EventSource
  private let limit: Int?
  /// Whether tokens are made here, so that another can take the place of one that expires.
  private let signs: Bool
  private var lines: EventLines
  private var reader = EventStreamReader()
  private var shown = 0
  private var hasBegun = false
  private var failures = 0
  private var end: StreamEnd?
  private var output = Output()
  private var wait = 1_000
  static let pollMilliseconds = 1_000
  static let longestWait = 30_000

  init(_ source: EventSource, limit: Int?, signs: Bool, style: Style) {
    self.source = source
    self.limit = limit
    self.signs = signs
    lines = EventLines(style: style, namesRooms: source.room == nil)
  }

  private var isFull: Bool { limit.map { shown >= $0 } ?? false }
  private var next: Step { isFull ? .done : .ask(source.stream, after: 0) }

  mutating func takeOutput() -> Output { output.take() }

  /// What is asked first.
  func begin() -> Step { next }

  // MARK: A page

  /// A page came where a stream was asked for, or nothing, because nothing more will.
  mutating func take(_ answer: OperatorAnswer) throws(OperatorError) -> Step {
    if answer.status == 204 {
      output.notes.append("the room is over, and nothing more has happened in it")
      return .done
    }
    let (items, isLast) = try source.take(page: answer)
    hear()
    for item in items where show(item) { return .done }
    return isFull ? .done : .ask(source.stream, after: isLast ? Self.pollMilliseconds : 0)
  }

  // MARK: A stream

  /// A stream has begun.
  mutating func began() {
    reader = EventStreamReader()
    end = nil
    hear()
  }

  /// - Returns: nil: the stream goes on.
  mutating func came(_ bytes: [UInt8]) throws(OperatorError) -> Step? {
    let events: [ServerSentEvent]
    do throws(EventStreamError) { events = try reader.read(bytes) } catch {
      throw .notRoost(status: 200, type: "text/event-stream with a line that is too long")
    }
    if let milliseconds = reader.retryMilliseconds { wait = min(max(100, milliseconds), Self.longestWait) }
    for event in events {
      switch event.type {
      case "end":
        let json = StrictJSON.parse(Array(event.data.utf8)) ?? .object([:])
        end = StreamEnd(reason: json["reason"]?.string ?? "", json: json)
      case "draining":
        output.notes.append("the server is about to stop; those who are in may stay for a while")
      default: if let item = source.take(event), show(item) { return .done }
      }
    }
    return nil
  }

  /// A stream is over.
  mutating func ended() throws(OperatorError) -> Step {
    guard let end else { return again("the stream of events was cut off") }
    switch end.reason {
    case "roomFinished": return .done
    case "tokenExpired" where signs: return .ask(source.stream, after: wait)
    case "tokenExpired", "removed", "notAllowed", "eventsGone": throw .streamEnded(end)
    default: return again("the stream of events ended: \(end.reason)")
    }
  }

  // MARK: What fails

  /// A request has no answer, or one that refuses.
  mutating func failed(_ error: OperatorError) throws(OperatorError) -> Step {
    // What fails at first is an error at once: the address may be wrong.
    guard hasBegun else { throw error }
    switch error {
    case .unreachable(.connection, _), .unreachable(.timeout, _): return again(error.title)
    case .problem(let problem) where problem.exitCode == 7:
      return again(error.title, after: problem.retryAfter.map { min($0, 300) * 1_000 })
    case .notRoost(let status, _) where status >= 500: return again(error.title)
    default: throw error
    }
  }

  private mutating func again(_ why: String, after least: Int? = nil) -> Step {
    let doubled = wait << min(failures, 5)
    failures += 1
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.waitsTheSame) { failures = 0 }
    #endif
    let milliseconds = max(min(doubled, Self.longestWait), least ?? 0)
    output.notes.append("\(why); asking again in \((milliseconds + 999) / 1_000) s")
    return .ask(source.stream, after: milliseconds)
  }

  private mutating func hear() {
    hasBegun = true
    failures = 0
  }

  /// - Returns: whether it is the last that is wanted.
  private mutating func show(_ item: EventSource.Item) -> Bool {
    output.text += lines.line(item)
    shown += 1
    return isFull
  }
}
