import Engine
import Model

/// The media that publishers sent to the server in the measured span, in order, to be sent once more elsewhere.
final class ArrivalTrace {
  struct Entry {
    /// Nanoseconds since the span began.
    var at: Int64
    /// Place in `streams`.
    var stream: Int
    /// As sealed, header and extensions in clear.
    var datagram: [UInt8]
  }

  /// A publisher's SSRC.
  struct Stream: Hashable {
    var participant: Int
    var ssrc: UInt32
  }

  private(set) var entries: [Entry] = []
  private(set) var streams: [Stream] = []
  private var places: [Stream: Int] = [:]
  private var isOpen = false
  private var start = Instant.never
  private let clock = Clock()

  func begin() {
    start = clock.now
    isOpen = true
  }

  func end() { isOpen = false }

  func note(_ participant: Int, _ datagram: [UInt8]) {
    guard isOpen, datagram.count >= 28, datagram[0] & 0xC0 == 0x80, !(192...223).contains(datagram[1]) else {
      return
    }
    let ssrc = datagram[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let stream = Stream(participant: participant, ssrc: ssrc)
    let place = places[stream] ?? streams.count
    if place == streams.count {
      streams.append(stream)
      places[stream] = place
    }
    entries.append(
      Entry(at: clock.now.nanoseconds - start.nanoseconds, stream: place, datagram: datagram))
  }
}
