internal import FoundationEssentials

/// What a load run saw. Packets are counted once a subscriber, in the measured span alone unless it says otherwise.
public struct LoadReport: Encodable, Equatable, Sendable {
  public var seconds = 0.0
  public var participants = 0
  public var joined = 0
  /// Why the others aren't in, each with how many.
  public var failures: [String: Int] = [:]
  /// What is counted as sent, expected and arrived: packets, or pictures in several encodings.
  var unit = "packets"
  /// Packets that publishers made.
  public var sent = 0
  /// Those times their subscribers.
  public var expected = 0
  public var arrivedFirstTime = 0
  /// Came as retransmissions.
  public var recovered = 0
  public var duplicates = 0
  /// Came behind a later one of their track, retransmissions apart.
  public var reordered = 0
  /// Datagrams whose authentication failed, at any time.
  public var corrupt = 0
  /// Tracks of which a subscriber got nothing at all.
  public var tracksNeverSeen = 0
  /// Packets that were never sent, of a wrong section, or to one that isn't subscribed; and the first of them.
  public var violations = 0
  public var firstViolations: [String] = []
  /// Packets of people who are not of the load.
  public var foreign = 0
  public var times = Times()
  /// With `--real`: pictures and tones, which are counted instead of packets.
  public var real: RealReport?
  /// With `--ramp`: step by step. What else is counted is the sum of all steps.
  public var ramp: RampReport?

  /// What took how long.
  public struct Times: Encodable, Equatable, Sendable {
    /// From the frame's making to the subscriber's socket, by way of the server.
    public var latency = Latency()
    /// From a ping on a WebSocket to its answer, at any time.
    public var ping = Latency()
    /// To a plain UDP echo in this process and back.
    public var reflector = Latency()
    /// From the first TCP packet to the end of the DTLS handshake, and to the first packet of media.
    public var join = Latency()
    public var firstMedia = Latency()
    /// To the first picture with which a decoder can begin, all of it; of packets that are made up alone.
    public var firstPicture = Latency()
    /// From the beginning of the first join to the end of the last one that succeeded; 0 if none did.
    public var joinSeconds = 0.0
  }

  /// Milliseconds; nil without samples.
  public struct Latency: Encodable, Equatable, Sendable {
    public var p50: Double?
    public var p99: Double?
    public var maximum: Double?

    init() {}

    init(_ histogram: LatencyHistogram) {
      p50 = histogram.percentile(0.5).map { $0 / 1_000 }
      p99 = histogram.percentile(0.99).map { $0 / 1_000 }
      maximum = histogram.count > 0 ? Double(histogram.maximum) / 1e6 : nil
    }
  }

  init() {}

  public var never: Int { max(expected - arrivedFirstTime - recovered, 0) }
  /// No participant failed, and nothing came that was never sent; of real media all came that should, and nothing was wrong.
  /// What breaks a ramp's later steps is what it looks for: its first has to hold.
  public var isGood: Bool {
    guard violations == 0 else { return false }
    if let ramp {
      return ramp.held != nil && real.map { $0.pictures.corrupt == 0 && $0.tones.wrong == 0 } ?? true
    }
    return joined == participants && failures.isEmpty && real?.isGood ?? true
  }

  mutating func finishPings(_ parts: [LatencyHistogram]) {
    var all = LatencyHistogram()
    for part in parts { all.merge(part) }
    times.ping = Latency(all)
  }

  mutating func finishJoins(
    _ joins: LatencyHistogram, _ media: LatencyHistogram, _ pictures: LatencyHistogram
  ) {
    times.join = Latency(joins)
    times.firstMedia = Latency(media)
    times.firstPicture = Latency(pictures)
  }
}

// MARK: - As people and programs read it

extension LoadReport {
  private enum CodingKeys: String, CodingKey {
    case seconds, participants, joined, failures, sent, expected, arrivedFirstTime, recovered, duplicates
    case reordered, corrupt, tracksNeverSeen, violations, firstViolations, foreign, real, ramp
  }

  /// As one object: times stand beside counts. Of real media there are no counts of packets.
  public func encode(to encoder: any Encoder) throws {
    var counts = encoder.container(keyedBy: CodingKeys.self)
    try counts.encode(seconds, forKey: .seconds)
    try counts.encode(participants, forKey: .participants)
    try counts.encode(joined, forKey: .joined)
    try counts.encode(failures, forKey: .failures)
    if real == nil {
      try counts.encode(sent, forKey: .sent)
      try counts.encode(expected, forKey: .expected)
      try counts.encode(arrivedFirstTime, forKey: .arrivedFirstTime)
      try counts.encode(recovered, forKey: .recovered)
      try counts.encode(duplicates, forKey: .duplicates)
      try counts.encode(reordered, forKey: .reordered)
      try counts.encode(tracksNeverSeen, forKey: .tracksNeverSeen)
    }
    try counts.encode(corrupt, forKey: .corrupt)
    try counts.encode(violations, forKey: .violations)
    try counts.encode(firstViolations, forKey: .firstViolations)
    try counts.encode(foreign, forKey: .foreign)
    try counts.encodeIfPresent(real, forKey: .real)
    try counts.encodeIfPresent(ramp, forKey: .ramp)
    try times.encode(to: encoder)
  }

  /// One object; latencies in milliseconds, `never` beside what is counted.
  public var json: String {
    struct Whole: Encodable {
      let report: LoadReport
      enum Extra: String, CodingKey { case never, ok }
      func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var extra = encoder.container(keyedBy: Extra.self)
        if report.real == nil { try extra.encode(report.never, forKey: .never) }
        try extra.encode(report.isGood, forKey: .ok)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return (try? encoder.encode(Whole(report: self))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  public var table: String {
    var rows: [(String, String)] = [
      ("participants in", "\(joined) of \(participants)"),
      ("measured", "\(Decimals.text(seconds, 1)) s"),
    ]
    rows += real?.rows ?? packetRows
    rows += [
      ("UDP reflector, ms", times.reflector.text),
      ("WebSocket ping, ms", times.ping.text),
      ("join, ms", times.join.text),
      ("first media, ms", times.firstMedia.text),
    ]
    if times.firstPicture.p50 != nil { rows.append(("first whole picture, ms", times.firstPicture.text)) }
    rows += [
      ("all in after", "\(Decimals.text(times.joinSeconds, 2)) s")
    ]
    rows += ramp?.rows ?? []
    if real != nil, corrupt > 0 { rows.append(("damaged datagrams", "\(corrupt)")) }
    if foreign > 0 { rows.append(("of others", "\(foreign)")) }
    if tracksNeverSeen > 0 { rows.append(("tracks never seen", "\(tracksNeverSeen)")) }
    for (reason, count) in failures.sorted(by: { $0.key < $1.key }) {
      rows.append(("failed", "\(count): \(reason)"))
    }
    if violations > 0 { rows.append(("WRONG", "\(violations) packets that should not have come")) }
    for text in firstViolations { rows.append(("", text)) }
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + value
    }.joined(separator: "\n")
  }

  private var packetRows: [(String, String)] {
    [
      ("\(unit) sent", "\(sent)"),
      ("expected", "\(expected)"),
      ("arrived first time", "\(arrivedFirstTime)\(share(arrivedFirstTime))"),
      ("recovered", "\(recovered)\(share(recovered))"),
      ("never", "\(never)\(share(never))"),
      ("duplicates", "\(duplicates)"),
      ("reordered", "\(reordered)"),
      ("corrupt", "\(corrupt)"),
      ("one-way latency, ms", times.latency.text),
    ]
  }

  private func share(_ count: Int) -> String {
    expected == 0 ? "" : " (\(Decimals.text(Double(count) / Double(expected) * 100, 3)) %)"
  }

}

extension LoadReport.Latency {
  /// Milliseconds, in a line.
  var text: String {
    guard let p50, let p99, let maximum else { return "none" }
    return "p50 \(Decimals.text(p50, 2)), p99 \(Decimals.text(p99, 2)), max \(Decimals.text(maximum, 2))"
  }
}
