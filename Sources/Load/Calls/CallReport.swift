internal import FoundationEssentials

/// What a load of calls saw.
public struct CallReport: Encodable, Equatable, Sendable {
  /// From the first start until the last call was over.
  public var seconds = 0.0
  /// Calls that were asked for; whose start was answered; whose two people heard each other; that are over by the server's word.
  public var calls = 0
  public var started = 0
  public var connected = 0
  public var ended = 0
  /// How they ended, by the server's word.
  public var outcomes: [String: Int] = [:]
  /// Calls that didn't go as they should, by what went wrong.
  public var failures: [String: Int] = [:]
  public var wrong = Wrong()
  public var again = Again()
  public var sound = Sound()
  public var times = Times()
  /// The first of what is wrong.
  public var firstProblems: [String] = []

  /// What must not be.
  public struct Wrong: Encodable, Equatable, Sendable {
    /// Calls that weren't over 5 s after one had hung up, or at the end of the run.
    public var stuck = 0
    /// Histories of people that don't tell what happened.
    public var histories = 0
    /// Calls whose start was answered, and that the server doesn't know.
    public var lost = 0
    /// Rings that one device heard twice, or that ended twice, ends that weren't heard, and the like.
    public var events = 0
    /// Packets that were never sent, or that came to one who should not get them.
    public var violations = 0

    public var sum: Int { stuck + histories + lost + events + violations }
  }

  /// What was done more than once.
  public struct Again: Encodable, Equatable, Sendable {
    /// Requests that weren't answered, or put off by the server (429 and 503).
    public var requests = 0
    /// Event streams that were opened again.
    public var streams = 0
    /// Joins of people whose media was gone.
    public var joins = 0
  }

  /// Packets of sound, of which one who is in a call hears 50 a second.
  public struct Sound: Encodable, Equatable, Sendable {
    public var received = 0
    /// Between the first and the last that came.
    public var lost = 0
  }

  public struct Times: Encodable, Equatable, Sendable {
    /// From the beginning of the request until the callee's event has come.
    public var startToRing = LoadReport.Latency()
    /// From the beginning of the request to join until the caller's first packet of sound has come.
    public var answerToSound = LoadReport.Latency()
    /// From the beginning of the request that starts a call to its answer.
    public var start = LoadReport.Latency()
  }

  /// A call whose server was killed may be missed or failed, where that fits.
  var survivesRestarts = false

  private enum CodingKeys: String, CodingKey {
    case seconds, calls, started, connected, ended, outcomes, failures, wrong, again, sound, times,
      firstProblems
  }

  public init() {}

  public var isGood: Bool {
    guard wrong.sum == 0, failures.isEmpty, started == calls, ended == calls else { return false }
    return survivesRestarts || connected == calls
  }
}

// MARK: - As people and programs read it

extension CallReport {
  /// One object; latencies in milliseconds.
  public var json: String {
    struct Whole: Encodable {
      let report: CallReport
      enum Extra: String, CodingKey { case ok }
      func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var extra = encoder.container(keyedBy: Extra.self)
        try extra.encode(report.isGood, forKey: .ok)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return (try? encoder.encode(Whole(report: self))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  public var table: String {
    var rows: [(String, String)] = [
      ("calls started", "\(started) of \(calls)"),
      ("connected", "\(connected)"),
      ("ended", "\(ended)\(list(outcomes))"),
      ("took", "\(Decimals.text(seconds, 1)) s"),
      ("start to ring, ms", times.startToRing.text),
      ("answer to sound, ms", times.answerToSound.text),
      ("start to its answer, ms", times.start.text),
      ("packets of sound", "\(sound.received), \(sound.lost) lost"),
      ("asked again", "\(again.requests) requests, \(again.streams) streams, \(again.joins) joins"),
      ("stuck", "\(wrong.stuck)"),
      ("wrong histories", "\(wrong.histories)"),
      ("lost", "\(wrong.lost)"),
      ("wrong events", "\(wrong.events)"),
      ("violations", "\(wrong.violations)"),
    ]
    for (reason, count) in failures.sorted(by: { $0.key < $1.key }) {
      rows.append(("failed", "\(count): \(reason)"))
    }
    for text in firstProblems { rows.append(("WRONG", text)) }
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + value
    }.joined(separator: "\n")
  }

  private func list(_ counts: [String: Int]) -> String {
    guard !counts.isEmpty else { return "" }
    return " (" + counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      + ")"
  }
}
