import Media
import Model
import Polling
import Testing

@testable import Engine

@Suite("The tracks of a worker", .timeLimit(.minutes(1)))
struct TrackFeedsTests {
  /// Feeds of worker 0 of three, with places for four peers; what is said to the others is looked at by hand.
  final class Owner {
    let exchange = Exchange(count: 3, ringSize: 65_536, wake: { _ in })
    var feeds: TrackFeeds

    init() {
      feeds = TrackFeeds(index: 0, places: 4, exchange: exchange, samples: SampleTable())
      for place in 0..<4 { feeds.enter(place, tracks: 2, slots: 2) }
    }

    func feed(ofSlot slot: Int, at place: Int) -> Int? { feeds.feed(ofSlot: slot, at: place) }
    func feed(ofTrack track: Int, at place: Int) -> Int? {
      feeds.feed(ofTrack: track, encoding: 0, at: place)
    }
    func find(_ track: TrackKey) -> Int? { feeds.find(track) }
    func findPublished(_ track: TrackKey) -> Int? { feeds.findPublished(track) }
    func findRelayed(_ track: TrackKey) -> Int? { feeds.findRelayed(track) }
    func arrived(_ track: TrackKey, from worker: Int) -> Int? { feeds.arrived(track, from: worker) }
    func publish(_ track: TrackKey, at place: Int) -> Int { feeds.publish(track, kind: .video, at: place) }
    func insert(_ sink: TrackSink, feed: Int) -> Int? { feeds.sinks.insert(sink, feed: feed) }
    func isFound(_ packet: PacketReference) -> Bool { feeds.find(packet) != nil }
    var sinkCount: Int { feeds.sinks.count }
    var touched: UInt64 { feeds.touched }
    var counters: TrackCounters { feeds.counters }

    func messages(_ worker: Int) -> [String] {
      exchange.mailboxes[worker].take().compactMap {
        guard case .track(let message) = $0 else { return nil }
        switch message {
        case .ended(let track): return "ended \(track.index)"
        case .muted(let track, let incarnation): return "muted \(track.index) \(incarnation)"
        case .clock(let track, _, let from): return "clock \(track.index) from \(from)"
        default: return "other"
        }
      }
    }
  }

  private let key = PeerKey(home: 0, serial: 7)
  private func track(_ index: UInt16) -> TrackKey { TrackKey(peer: key, index: index) }
  private func slot(_ place: Int, _ slot: Int = 0) -> TrackFeed.Consumer {
    .here(.slot(place: place, slot: slot))
  }

  @Test func `what waits of a track that is over is not found, whatever has its place`() throws {
    let owner = Owner()
    let over = owner.feeds.publish(track(0), kind: .video, at: 0)
    owner.feeds.subscribe(slot(1), to: over)
    var info = PacketInfo()
    info.payloadOffset = 12
    [UInt8](repeating: 1, count: 12).withUnsafeBytes { owner.feeds.pointer(over).pointee.keep($0, info) }
    let waiting = owner.feeds.reference(0, of: over)
    #expect(owner.isFound(waiting))
    _ = owner.feeds.end(over)
    #expect(!owner.isFound(waiting))
    let next = owner.feeds.publish(track(1), kind: .video, at: 0)
    owner.feeds.subscribe(slot(1), to: next)
    [UInt8](repeating: 2, count: 12).withUnsafeBytes { owner.feeds.pointer(next).pointee.keep($0, info) }
    #expect(next == over && !owner.isFound(waiting) && owner.isFound(owner.feeds.reference(0, of: next)))
  }

  @Test
  func `a slot that is the only consumer of what it goes on to takes that feed before it leaves the former`()
  {
    let owner = Owner()
    let far = (0..<3 as Range<UInt8>).map {
      owner.feeds.expect(
        TrackKey(peer: PeerKey(home: 1, serial: 1), index: 0, encoding: $0), kind: .video, from: 1)
    }
    owner.feeds.subscribe(slot(1), to: far[0])
    owner.feeds.subscribe(slot(1), to: far[1], isNext: true)
    #expect(owner.feeds.move(1, slot: 0, to: far[1]) == [far[0]])
    #expect(owner.feed(ofSlot: 0, at: 1) == far[1] && owner.feeds.nextFeed(ofSlot: 0, at: 1) == nil)
    #expect(owner.feeds.pointer(far[1]).pointee.consumers.count == 1)
    // To one that it had nothing to do with it goes from both.
    owner.feeds.subscribe(slot(1), to: far[0], isNext: true)
    #expect(owner.feeds.move(1, slot: 0, to: far[2]) == [far[1], far[0]])
    #expect(owner.feed(ofSlot: 0, at: 1) == far[2] && owner.feeds.nextFeed(ofSlot: 0, at: 1) == nil)
    #expect(owner.feeds.pointer(far[2]).pointee.consumers.count == 1)
    #expect(owner.feeds.move(1, slot: 0, to: far[2]) == [])
    #expect(owner.feeds.unsubscribe(slot(1), from: far[2]) == far[2], "it was the only one")
  }

  @Test func `a published track stays without consumers, a relayed one is given up with its last`() {
    let owner = Owner()
    let own = owner.feeds.publish(track(0), kind: .audio, at: 0)
    let far = owner.feeds.expect(TrackKey(peer: PeerKey(home: 1, serial: 1), index: 0), kind: .video, from: 1)
    for feed in [own, far] {
      owner.feeds.subscribe(slot(1, feed == own ? 0 : 1), to: feed)
      owner.feeds.subscribe(slot(2, feed == own ? 0 : 1), to: feed)
    }
    #expect(owner.feed(ofSlot: 1, at: 2) == far && owner.feed(ofSlot: 0, at: 2) == own)
    for (feed, number) in [(own, 0), (far, 1)] {
      let first = owner.feeds.unsubscribe(slot(1, number), from: feed)
      let second = owner.feeds.unsubscribe(slot(2, number), from: feed)
      #expect(first == nil && second == (feed == far ? far : nil))
      #expect(owner.feed(ofSlot: number, at: 1) == nil)
    }
  }

  @Test func `a track that ends falls silent in its slots, at its sinks and at other workers`() {
    let owner = Owner()
    let feed = owner.feeds.publish(track(1), kind: .video, at: 0)
    let sink = TrackSink(track(1), ringSize: 4_096, wake: {})
    let number = owner.feeds.sinks.insert(sink, feed: feed)
    for consumer in [slot(1), .relay(worker: 2), slot(3, 1), .here(.sink(number ?? -1))] {
      owner.feeds.subscribe(consumer, to: feed)
    }
    let silent = owner.feeds.end(feed).map { [$0.place, $0.slot] }
    #expect(silent == [[1, 0], [3, 1]])
    #expect(owner.messages(2) == ["ended 1"] && owner.messages(1) == [])
    #expect(sink.isEnded && owner.sinkCount == 0)
    #expect(owner.find(track(1)) == nil && owner.feed(ofTrack: 1, at: 0) == nil)
    #expect(owner.feed(ofSlot: 0, at: 1) == nil && owner.feed(ofSlot: 1, at: 3) == nil)
  }

  @Test func `a peer that goes takes its relays along, and is relayed to here where it is wanted`() {
    let owner = Owner()
    let first = owner.feeds.publish(track(0), kind: .audio, at: 0)
    let second = owner.feeds.publish(track(1), kind: .video, at: 0)
    owner.feeds.subscribe(.relay(worker: 2), to: first)
    owner.feeds.subscribe(slot(1), to: second)
    let relays = owner.feeds.handOn(0, to: 1)
    #expect(relays.map(\.0) == [track(0), track(1)] && relays.map(\.1) == [0b100, 0b001])
    #expect(owner.find(track(0)) == nil && owner.findRelayed(track(1)) == second)
    let source = owner.feeds.pointer(second).pointee.source
    #expect(source == .relay(worker: 1) && owner.messages(2) == [])
    // It comes back: the same feed, with its consumers.
    #expect(owner.publish(track(1), at: 2) == second)
    #expect(owner.findPublished(track(1)) == second && owner.findRelayed(track(1)) == nil)
  }

  @Test func `mutes and clocks go to the workers that get the track`() {
    let owner = Owner()
    let feed = owner.feeds.publish(track(0), kind: .audio, at: 0)
    for worker in [1, 2] { owner.feeds.subscribe(.relay(worker: worker), to: feed) }
    owner.feeds.mute(feed, incarnation: 3)
    owner.feeds.sendClock(feed, now: Instant(nanoseconds: 0))
    #expect(owner.messages(1) == ["muted 0 3"] && owner.messages(2) == ["muted 0 3"], "no clock is known yet")
  }

  @Test func `a relayed packet names the worker that the track comes from, unless its publisher is here`() {
    let owner = Owner()
    let far = TrackKey(peer: PeerKey(home: 1, serial: 1), index: 0)
    let feed = owner.feeds.expect(far, kind: .video, from: 1)
    let own = owner.feeds.publish(track(0), kind: .video, at: 0)
    #expect(owner.arrived(far, from: 2) == feed && owner.arrived(track(0), from: 2) == own)
    #expect(owner.arrived(track(5), from: 2) == nil)
    let sources = [feed, own].map { owner.feeds.pointer($0).pointee.source }
    #expect(sources == [.relay(worker: 2), .peer(place: 0)] && owner.counters.relayReceived == 3)
  }

  @Test func `a packet is written once for each other worker, and dropped where the ring is full`() {
    let owner = Owner()
    let feed = owner.feeds.publish(track(0), kind: .video, at: 0)
    for worker in [1, 2] { owner.feeds.subscribe(.relay(worker: worker), to: feed) }
    for sequence in 0..<100 as Range<Int64> {
      var info = PacketInfo()
      info.extendedSequence = sequence
      [UInt8](repeating: 1, count: 1_000).withUnsafeBytes { owner.feeds.relay($0, info, feed: feed) }
    }
    #expect(owner.touched == 0b110)
    let counters = owner.counters
    #expect(counters.relayed + counters.relayDropped == 200 && counters.relayDropped > 50)
    for worker in [1, 2] {
      let ring = owner.exchange.ring(to: worker, from: 0)
      var next: Int64 = 0
      while let record = ring.peek() {
        let crossing = record.header.load(as: Crossing.self)
        #expect(crossing.track == track(0) && crossing.info.extendedSequence == next)
        ring.advance(past: record)
        next += 1
      }
      #expect(UInt64(next) == counters.relayed / 2)
    }
  }

  @Test func `sinks have a bound`() {
    let owner = Owner()
    let feed = owner.feeds.publish(track(0), kind: .video, at: 0)
    let sinks = (0...SinkTable.limit).map { _ in TrackSink(track(0), ringSize: 4_096, wake: {}) }
    for (number, sink) in sinks.enumerated() {
      #expect(owner.insert(sink, feed: feed) == (number < SinkTable.limit ? number : nil))
    }
    _ = owner.feeds.sinks.remove(7)
    #expect(owner.insert(sinks[SinkTable.limit], feed: feed) == 7)
  }
}
