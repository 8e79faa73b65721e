import Media
import Model
import Polling
import Testing

@testable import Engine
@testable import Recording

@Suite("Sinks of several recordings", .timeLimit(.minutes(1)))
struct SharedSinkTests {
  /// What a worker was asked.
  private struct Asked {
    var added: [TrackSink] = []
    var removed: [TrackSink] = []

    mutating func take(_ bridge: Bridge) {
      for case .track(let message) in bridge.exchange.mailboxes[0].take() {
        switch message {
        case .sinkAdded(let sink, _): added.append(sink)
        case .sinkRemoved(let sink): removed.append(sink)
        default: break
        }
      }
    }
  }

  private let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
  private let key = TrackKey(peer: PeerKey(home: 0, serial: 1), index: 0)

  private func supply(
    _ sinks: SharedSinks, encodings: Int = 1, serial: UInt64 = 1, index: UInt16 = 0, in room: String = "RM_1"
  ) -> SinkSupply {
    let key = TrackKey(peer: PeerKey(home: 0, serial: serial), index: index)
    return SinkSupply(
      key, RecordingStudioTests.track("TR_1", encodings: encodings), in: room, sinks: sinks)
  }

  private func write(_ numbers: ClosedRange<Int64>, to sink: TrackSink) {
    for number in numbers {
      let packet = FramePacket(
        sequence: number, timestamp: 0, marker: true, format: CodecFormat(.vp8), arrival: at(0), payload: [1])
      var crossing = Crossing(kind: .packet, from: 0)
      crossing.info = GivenSupply.info(of: packet)
      let isWritten = withUnsafeBytes(of: &crossing) { header in
        GivenSupply.bytes(of: packet).withUnsafeBytes {
          sink.ring.write(header: header.baseAddress!, payload: $0)
        }
      }
      #expect(isWritten)
    }
  }

  private func taken(_ supply: SinkSupply) -> [Int64] {
    var numbers: [Int64] = []
    supply.take { _, info, _ in numbers.append(info.extendedSequence) }
    return numbers
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func `four recordings of a track take one sink of an encoding, and each gets every packet once`()
    throws
  {
    let sinks = SharedSinks(bridge)
    let supplies = (0..<4).map { _ in supply(sinks, encodings: 2) }
    for supply in supplies { supply.listen(now: at(0)) }
    var asked = Asked()
    asked.take(bridge)
    #expect(asked.added.map(\.track.encoding) == [0, 1])
    for range in [1...5, 6...9] as [ClosedRange<Int64>] {
      write(range, to: asked.added[0])
      for supply in supplies { #expect(taken(supply) == Array(range)) }
    }
    // One that has left gets what had come, and the others go on.
    write(10...12, to: asked.added[0])
    supplies[0].stop()
    #expect(taken(supplies[0]) == [10, 11, 12] && taken(supplies[0]).isEmpty)
    write(13...13, to: asked.added[0])
    for supply in supplies.dropFirst() { #expect(taken(supply) == [10, 11, 12, 13]) }
    for supply in supplies.dropFirst() { supply.stop() }
    asked.take(bridge)
    #expect(asked.added.count == 2 && asked.removed.map(\.track.encoding) == [0, 1])
  }

  @Test func `who comes later gets what comes from then on`() throws {
    let sinks = SharedSinks(bridge)
    let first = supply(sinks)
    first.listen(now: at(0))
    var asked = Asked()
    asked.take(bridge)
    write(1...3, to: asked.added[0])
    let second = supply(sinks)
    write(4...5, to: asked.added[0])
    #expect(taken(second) == [4, 5] && taken(first) == [1, 2, 3, 4, 5])
  }

  @Test func `a sink that ended is replaced, and what it had is taken first`() throws {
    let sinks = SharedSinks(bridge)
    let supply = supply(sinks)
    supply.listen(now: at(0))
    var asked = Asked()
    asked.take(bridge)
    write(1...2, to: asked.added[0])
    asked.added[0].end()
    supply.listen(now: at(500))
    asked.take(bridge)
    #expect(asked.added.count == 1)
    supply.listen(now: at(1_000))
    asked.take(bridge)
    #expect(asked.added.count == 2)
    write(3...3, to: asked.added[1])
    #expect(taken(supply) == [1, 2, 3])
  }

  @Test func `one that a worker has no room for says so until it has, and is counted once`() throws {
    let sinks = SharedSinks(bridge)
    let supply = supply(sinks)
    var asked = Asked()
    for second in 0..<3 as Range<Int64> {
      supply.listen(now: at(second * 1_000))
      asked.take(bridge)
      #expect(asked.added.count == Int(second) + 1)
      asked.added.last?.refuse()
      for turn in 1..<20 as Range<Int64> {
        supply.listen(now: at(second * 1_000 + turn * 50))
        #expect(supply.isRefused && sinks.refused == 1)
      }
    }
    supply.listen(now: at(3_000))
    for turn in 0...20 as ClosedRange<Int64> { supply.listen(now: at(3_000 + turn * 50)) }
    #expect(!supply.isRefused && sinks.refused == 1)
  }

  @Test func `one participant takes its share of a worker, and one room its own; who leaves gives it back`()
    throws
  {
    let sinks = SharedSinks(bridge)
    // Of each participant more than it may have, of a room as many of them as are too many.
    let crowd = (1...5 as ClosedRange<UInt64>).map { serial in
      (0..<70 as Range<UInt16>).map { supply(sinks, serial: serial, index: $0) }
    }
    for supplies in crowd { for supply in supplies { supply.listen(now: at(0)) } }
    var asked = Asked()
    asked.take(bridge)
    let byPeer = Dictionary(grouping: asked.added, by: { $0.track.peer.rawValue }).mapValues(\.count)
    #expect(byPeer == [1: 64, 2: 64, 3: 64])
    #expect(crowd.map { $0.filter(\.isRefused).count } == [6, 6, 6, 70, 70] && sinks.refused == 158)
    // Another room's don't wait for them.
    let other = supply(sinks, serial: 9, in: "RM_2")
    other.listen(now: at(0))
    #expect(!other.isRefused)
    // A place that comes free goes to one of those that wait.
    crowd[0][0].stop()
    for supplies in crowd { for supply in supplies.dropFirst() { supply.listen(now: at(50)) } }
    asked.take(bridge)
    #expect(crowd.joined().filter(\.isRefused).count == 157 && asked.removed.count == 1)
    #expect(asked.added.count == 64 * 3 + 2)
  }
}
