package import Model

/// What a simulation saw: what was sent where, what fired how often, and what was wrong.
public final class Journal {
  /// More are counted but not kept.
  static let violationLimit = 50

  public private(set) var violations: [String] = []
  public private(set) var violationCount = 0
  public var mechanisms = MechanismCounts()
  /// What happened to whom, in order, if that is wanted.
  public private(set) var trace: [String] = []
  private let traces: Bool
  /// Tracks that synthetic peers publish, by `DatagramMark.log`.
  package private(set) var tracks: [PublishedTrack] = []
  private var trackNumbers: [TrackName: Int] = [:]
  /// Streams as they left the server, likewise.
  package var departures: [DepartureLog] = []
  private var departureNumbers: [Stream: Int] = [:]

  private struct Stream: Hashable {
    var subscriber: Int
    var ssrc: UInt32
  }

  public init(traces: Bool = false) { self.traces = traces }

  package func violation(_ now: Instant, _ text: @autoclosure () -> String) {
    violationCount += 1
    guard violations.count < Self.violationLimit else { return }
    violations.append("\(Self.seconds(now)): \(text())")
  }

  package func trace(_ now: Instant, _ text: @autoclosure () -> String) {
    if traces { trace.append("\(Self.seconds(now)): \(text())") }
  }

  private static func seconds(_ now: Instant) -> String {
    let milliseconds = now.nanoseconds / 1_000_000
    return "\(milliseconds / 1_000).\(threeDigits(milliseconds % 1_000)) s"
  }

  private static func threeDigits(_ value: Int64) -> String {
    String(repeating: "0", count: max(0, 3 - String(value).count)) + String(value)
  }

  /// The log of a stream to a subscriber.
  package func departureLog(subscriber: Int, ssrc: UInt32) -> Int {
    let stream = Stream(subscriber: subscriber, ssrc: ssrc)
    if let number = departureNumbers[stream] { return number }
    let number = departures.count
    departures.append(DepartureLog(number: number, subscriber: subscriber, ssrc: ssrc))
    departureNumbers[stream] = number
    return number
  }

  /// Tracks that were held before their first packet, and since when.
  package var heldEarly: [TrackName: Instant] = [:]

  /// A publisher begins a track.
  package func begin(_ track: PublishedTrack, now: Instant) {
    trackNumbers[track.trackName] = tracks.count
    tracks.append(track)
    if let since = heldEarly.removeValue(forKey: TrackName(track.publisher, track.index)) {
      track.noteHold(now: since)
    }
  }

  /// What tracks in encodings or layers have beside.
  package private(set) var layered: [TrackName: LayeredTrack] = [:]
  package func begin(_ layers: LayeredTrack, of track: PublishedTrack) { layered[track.trackName] = layers }

  package func track(_ name: TrackName) -> PublishedTrack? { trackNumbers[name].map { tracks[$0] } }

  package func count(_ mechanism: Mechanism, _ times: Int = 1) { mechanisms[mechanism] += UInt64(times) }

  /// Takes what the network lost.
  package func note(lost tags: [UInt64]) {
    for tag in tags {
      guard let mark = DatagramMark(tag: tag) else { continue }
      if mark.isDeparture {
        departures[mark.log].noteLost(mark.number)
      } else {
        tracks[mark.log].noteLost(mark.number)
      }
    }
  }
}

/// What a media datagram is, in the number that the network carries along with it.
package struct DatagramMark: Equatable {
  /// On its way from the server to a subscriber, else from a publisher to the server.
  package var isDeparture: Bool
  /// Index in the journal.
  package var log: Int
  /// The packet's number in that log.
  package var number: Int

  package init(isDeparture: Bool, log: Int, number: Int) {
    self.isDeparture = isDeparture
    self.log = log
    self.number = number
  }

  package init?(tag: UInt64) {
    guard tag != 0 else { return nil }
    isDeparture = tag >> 62 & 1 == 1
    log = Int(tag >> 32 & 0xFF_FFFF)
    number = Int(tag & 0xFFFF_FFFF)
  }

  package var tag: UInt64 { 1 << 63 | (isDeparture ? 1 << 62 : 0) | UInt64(log) << 32 | UInt64(number) }
}
