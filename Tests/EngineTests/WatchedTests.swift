import Media
import Model
import Polling
import Testing

@testable import Engine

@Suite("What of a track is watched", .timeLimit(.minutes(1)))
struct WatchedTests {
  /// Two encodings of a publisher at worker 0, which come or not, and slots that show them there and at worker 1.
  private final class Owner {
    let exchange = Exchange(count: 2, ringSize: 65_536, wake: { _ in })
    var home: TrackFeeds
    var away: TrackFeeds
    var now = Instant(nanoseconds: 1_000_000_000)
    var isSent = true
    /// Slots that show nothing because their subscribers want nothing, by worker and place.
    var off: Set<[Int]> = []
    /// Slots that have yet to begin, likewise.
    var waiting: Set<[Int]> = []
    /// Encodings of which the publisher has heard that they are watched.
    private(set) var watched: UInt8 = 0b11
    private var sequence: Int64 = 0

    private let publisher = PeerKey(home: 0, serial: 7)
    func track(_ encoding: UInt8) -> TrackKey { TrackKey(peer: publisher, index: 0, encoding: encoding) }

    init() {
      home = TrackFeeds(index: 0, places: 4, exchange: exchange, samples: SampleTable())
      away = TrackFeeds(index: 1, places: 4, exchange: exchange, samples: SampleTable())
      for place in 0..<4 {
        home.enter(place, tracks: 1, slots: 1)
        away.enter(place, tracks: 1, slots: 1)
      }
      for encoding in [0, 1] as [UInt8] { _ = home.publish(track(encoding), kind: .video, at: 0) }
      home.groups.publish(track(0), encodings: 2, now: now)
    }

    func show(_ encoding: UInt8, at place: Int) {
      home.subscribe(.here(.slot(place: place, slot: 0)), to: home.find(track(encoding))!)
    }

    /// A slot goes on to another encoding once that comes.
    func goOn(to encoding: UInt8, at place: Int) {
      home.subscribe(.here(.slot(place: place, slot: 0)), to: home.find(track(encoding))!, isNext: true)
    }

    /// A slot at worker 1 shows an encoding, which is relayed to there.
    func showAway(_ encoding: UInt8, at place: Int) {
      home.subscribe(.relay(worker: 1), to: home.find(track(encoding))!)
      let feed = away.find(track(encoding)) ?? away.expect(track(encoding), kind: .video, from: 0)
      away.subscribe(.here(.slot(place: place, slot: 0)), to: feed)
    }

    func begins(with encoding: UInt8) -> Bool {
      home.pointer(home.find(track(encoding))!).pointee.picture.range != nil
    }

    func beginsAway(with encoding: UInt8) -> Bool {
      away.pointer(away.find(track(encoding))!).pointee.picture.range != nil
    }

    private func send(_ encoding: UInt8) {
      var info = PacketInfo()
      info.payloadOffset = 12
      info.flags = [.frameStart, .keyFrame]
      info.extendedSequence = sequence
      info.arrival = now
      [UInt8](repeating: 1, count: 12).withUnsafeBytes {
        home.pointer(home.find(track(encoding))!).pointee.keep($0, info)
        if let feed = away.find(track(encoding)) { away.pointer(feed).pointee.keep($0, info) }
      }
    }

    func run(_ tenths: Int) {
      let (off, waiting) = (off, waiting)
      let isOff = { (slot: [Int], goesOn: Bool) in off.contains(slot) || goesOn && waiting.contains(slot) }
      for _ in 0..<tenths {
        now = now + .milliseconds(100)
        sequence += 1
        for encoding in [0, 1] as [UInt8] where isSent && watched & 1 << encoding != 0 { send(encoding) }
        for changed in home.sampleGroups(now: now, description: { _, _ in EncodingDescription() }) {
          home.sendLayers(changed, home.groups.layers(of: changed)!)
        }
        for (_, encodings) in home.watchGroups(now: now, isOff: { isOff([0, $0], $2) }) {
          watched = encodings & 0b11
        }
        home.forgetPictures(now: now)
        for case .track(let message) in exchange.mailboxes[1].take() {
          switch message {
          case .layers(let track, let layers): away.groups.hear(track, layers, now: now)
          case .over(let track): away.pointer(away.find(track)!).pointee.picture.forget()
          default: break
          }
        }
        away.sayWatched(now: now, isOff: { isOff([1, $0], $2) })
        for case .track(.watched(let track)) in exchange.mailboxes[0].take() {
          home.pointer(home.find(track)!).pointee.watchedElsewhere = now
        }
      }
    }
  }

  @Test
  func `what all have turned off goes off, the cheapest as well, and is back with the first who wants it`() {
    let owner = Owner()
    owner.show(0, at: 1)
    owner.show(0, at: 2)
    owner.run(70)
    #expect(owner.watched == 0b01, "the other has no viewer")
    owner.off = [[0, 1]]
    owner.run(100)
    #expect(owner.watched == 0b01, "one still watches")
    owner.off = [[0, 1], [0, 2]]
    owner.run(49)
    #expect(owner.watched == 0b01, "not at once")
    owner.run(3)
    #expect(owner.watched == 0)
    owner.off = [[0, 1]]
    owner.run(2)
    #expect(owner.watched == 0b01)
  }

  @Test func `who watches at another worker counts, and who has turned it off there doesn't`() {
    let owner = Owner()
    owner.showAway(0, at: 1)
    owner.run(200)
    #expect(owner.watched == 0b01)
    owner.off = [[1, 1]]
    owner.run(49)
    #expect(owner.watched == 0b01)
    owner.run(24)
    #expect(owner.watched == 0, "five seconds, and two for which the last word is believed")
    owner.off = []
    owner.run(4)
    #expect(owner.watched == 0b01)
    owner.run(200)
    #expect(owner.watched == 0b01)
  }

  @Test func `what comes again begins with no picture of before, here and at other workers`() {
    let owner = Owner()
    owner.show(0, at: 1)
    owner.showAway(0, at: 1)
    owner.run(20)
    #expect(owner.begins(with: 0) && owner.beginsAway(with: 0))
    owner.off = [[0, 1], [1, 1]]
    owner.run(90)
    #expect(owner.watched == 0)
    #expect(!owner.begins(with: 0) && !owner.beginsAway(with: 0))
    owner.off = []
    owner.run(5)
    #expect(owner.begins(with: 0) && owner.beginsAway(with: 0), "it has sent a key frame since")
  }

  @Test func `a picture that stands still with viewers stays the one to begin with`() {
    let owner = Owner()
    owner.show(0, at: 1)
    owner.run(70)
    owner.isSent = false
    owner.run(100)
    #expect(owner.watched & 0b01 == 0b01 && owner.begins(with: 0))
  }

  @Test func `an encoding that is off isn't sent for a slot that begins with another`() {
    let owner = Owner()
    owner.show(0, at: 1)
    owner.run(20)
    owner.off = [[0, 1]]
    owner.run(90)
    #expect(owner.watched == 0)
    (owner.off, owner.waiting) = ([], [[0, 1]])
    owner.goOn(to: 1, at: 1)
    owner.run(3)
    #expect(owner.watched == 0b10)
    // It shows the one that it stands at until the other is there.
    owner.waiting = []
    owner.run(3)
    #expect(owner.watched == 0b11)
  }

  @Test func `one at another worker who looks at an encoding for a moment has nothing sent`() {
    let owner = Owner()
    owner.showAway(0, at: 1)
    owner.run(20)
    owner.off = [[1, 1]]
    owner.run(90)
    #expect(owner.watched == 0)
    for _ in 0..<5 {
      owner.off = []
      owner.run(1)
      owner.off = [[1, 1]]
      owner.run(3)
      #expect(owner.watched == 0)
    }
    owner.off = []
    owner.run(4)
    #expect(owner.watched == 0b01)
  }
}
