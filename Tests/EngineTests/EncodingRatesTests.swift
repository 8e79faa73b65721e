import Congestion
import Media
import Model
import Testing

@testable import Engine

/// What an encoding is believed to take, whatever has been and whatever its publisher says.
@Suite("What encodings take", .timeLimit(.minutes(1)))
struct EncodingRatesTests {
  /// One encoding of three layers of frame rate at thirty pictures a second.
  private struct Encoding {
    var monitor = EncodingMonitor()
    var counts = LayerCounts()
    var frames: UInt64 = 0
    var description = EncodingDescription()
    var size = 1_000
    var now = Instant(nanoseconds: 1_000_000_000)

    mutating func run(tenths: Int, flows: Bool = true, isWatched: Bool = true) {
      for _ in 0..<tenths {
        now = now + .milliseconds(100)
        for _ in 0..<3 where flows {
          var layer = LayerID()
          layer.temporal = [0, 2, 1, 2][Int(frames % 4)]
          counts.note(size, layer, startsFrame: true)
          frames += 1
        }
        monitor.watch(isWatched, now: now)
        monitor.sample(counts, frames: frames, description, now: now)
        monitor.decide(siblings: now, now: now)
      }
    }
  }

  private func isAbout(_ rate: UInt32, _ expected: Double) -> Bool {
    abs(Double(rate) - expected) < expected / 8
  }

  @Test func `one that is off counts as it was, with all its layers, until it has come again for a second`() {
    var encoding = Encoding()
    encoding.run(tenths: 40)
    let before = encoding.monitor.layers
    #expect(before.layers.map(\.temporal) == [0, 1, 2] && isAbout(before.rate, 240_000))
    // Its publisher has word after 5 s, and takes a moment.
    encoding.run(tenths: 52, isWatched: false)
    #expect(encoding.monitor.isOff)
    for rest in [3, 10, 30, 600] {
      encoding.run(tenths: rest, flows: false, isWatched: false)
      let off = encoding.monitor.layers
      #expect(off.layers.map(\.temporal) == [0, 1, 2] && isAbout(off.rate, 240_000), "\(off.rate)")
      #expect(off.layers.allSatisfy { $0.peak >= $0.rate - $0.rate / 8 })
    }
    encoding.run(tenths: 5, flows: false)
    #expect(!encoding.monitor.isOff && isAbout(encoding.monitor.layers.rate, 240_000))
    for _ in 0..<40 {
      encoding.run(tenths: 1)
      #expect(isAbout(encoding.monitor.layers.rate, 240_000), "\(encoding.monitor.layers.rate)")
    }
  }

  /// A publisher by WHIP hears of no one who watches, nor does one whose streams have no names.
  @Test func `one that is off and is sent all the same counts as it comes, and behind its end as it came`() {
    var encoding = Encoding()
    encoding.run(tenths: 30)
    encoding.run(tenths: 60, isWatched: false)
    #expect(encoding.monitor.isOff && isAbout(encoding.monitor.layers.rate, 240_000))
    encoding.size = 3_000
    encoding.run(tenths: 60, isWatched: false)
    #expect(encoding.monitor.isOff && encoding.monitor.layers.isActive)
    #expect(isAbout(encoding.monitor.layers.rate, 720_000), "\(encoding.monitor.layers.rate)")
    encoding.run(tenths: 300, flows: false, isWatched: false)
    #expect(isAbout(encoding.monitor.layers.rate, 720_000), "\(encoding.monitor.layers.rate)")
    // Who comes to watch is shown it by what it takes.
    encoding.run(tenths: 2)
    #expect(!encoding.monitor.isOff && isAbout(encoding.monitor.layers.rate, 720_000))
  }

  @Test func `one that is off before it was ever measured counts as a picture of its size usually does`() {
    var encoding = Encoding()
    encoding.description.said = PictureSize(width: 640, height: 360)
    encoding.description.codec = .vp9
    // A monitor of before has counted it.
    encoding.counts.note(60_000, LayerID(), startsFrame: false)
    encoding.run(tenths: 60, flows: false, isWatched: false)
    #expect(encoding.monitor.isOff && encoding.monitor.layers.isActive)
    #expect(encoding.monitor.layers.layers.count == 1)
    #expect(isAbout(encoding.monitor.layers.rate, 420_000), "\(encoding.monitor.layers.rate)")
    #expect(encoding.monitor.layers.picture == PictureSize(width: 640, height: 360))
    encoding.run(tenths: 40)
    #expect(isAbout(encoding.monitor.layers.rate, 240_000), "it is measured once it comes")
  }

  @Test func `what is announced without a rate counts as usual`() {
    var encoding = Encoding()
    var announcement = EncodingAnnouncement(arrival: encoding.now)
    announcement.layers[0].temporalCount = 2
    announcement.layers[0].frameRate = 30
    announcement.layers[0].picture = PictureSize(width: 640, height: 360)
    encoding.description.announced = announcement
    encoding.run(tenths: 1, flows: false)
    let rates = encoding.monitor.layers.layers.map(\.rate)
    #expect(rates.count == 2 && isAbout(rates[0], 300_000) && isAbout(rates[1], 500_000), "\(rates)")
  }

  /// Encodings that have just begun are each measured by the few packets that came first: the better may look cheaper.
  @Test
  func `what is measured for less than a second is assumed to take what is announced, or what is usual`() {
    for announced in [UInt32(0), 300] {
      var encoding = Encoding()
      encoding.description.said = PictureSize(width: 640, height: 360)
      if announced > 0 {
        var announcement = EncodingAnnouncement(arrival: encoding.now)
        announcement.layers[0].temporalCount = 3
        announcement.layers[0].rates[0] = announced
        encoding.description.announced = announcement
      }
      encoding.run(tenths: 4)
      let begun = encoding.monitor.layers.layers
      #expect(begun.count == 3 && isAbout(begun[0].assumed, announced > 0 ? 300_000 : 500_000), "\(begun)")
      #expect(begun.allSatisfy { $0.assumed >= $0.peak })
      encoding.run(tenths: 12)
      #expect(encoding.monitor.layers.layers.allSatisfy { $0.assumed == 0 })
    }
  }

  @Test
  func `of what has just begun the cheapest layer counts as it is measured, and what is better as assumed`() {
    let encodings = (0..<2).map { place in
      var encoding = EncodingLayers()
      encoding.isActive = true
      for temporal in 0..<2 {
        var layer = LayerRate(
          spatial: 0, temporal: UInt8(temporal), rate: UInt32(40_000 + 10_000 * temporal + 30_000 * place),
          peak: 90_000)
        layer.assumed = 500_000
        encoding.layers.append(layer)
      }
      return encoding
    }
    let options = TrackLayers(encodings: encodings).options
    #expect(options.map(\.rate) == [40_000, 500_000, 500_000, 500_000])
    #expect(options.map(\.peak) == [90_000, 500_000, 500_000, 500_000])
  }

  @Test func `a consumer that is there for one look alone has nothing sent that is off`() {
    var encoding = Encoding()
    encoding.run(tenths: 20)
    encoding.run(tenths: 60, isWatched: false)
    #expect(encoding.monitor.isOff)
    for _ in 0..<20 {
      encoding.run(tenths: 1, flows: false)
      encoding.run(tenths: 1, flows: false, isWatched: false)
      #expect(encoding.monitor.isOff)
    }
    encoding.run(tenths: 2, flows: false)
    #expect(!encoding.monitor.isOff)
  }

  /// A section that is agreed on with another number of encodings keeps its first feed, and what that has counted.
  @Test(arguments: [60_000_000, 1 << 40, Int.max / 2])
  func `what was counted before a monitor began is no rate`(bytes: Int) {
    var encoding = Encoding()
    encoding.counts.note(bytes, LayerID(), startsFrame: false)
    encoding.run(tenths: 1, flows: false)
    #expect(encoding.monitor.layers.layers.isEmpty)
    encoding.run(tenths: 20)
    #expect(isAbout(encoding.monitor.layers.rate, 240_000), "\(encoding.monitor.layers.rate)")
  }

  @Test func `a count that leaps is as much as can be said, and no more`() {
    var encoding = Encoding()
    encoding.run(tenths: 5)
    encoding.counts.note(1 << 50, LayerID(), startsFrame: true)
    encoding.run(tenths: 1)
    #expect(encoding.monitor.layers.rate == .max)
  }

  @Test func `an announced rate is believed up to what is believed of any path`() {
    var encoding = Encoding()
    var announcement = EncodingAnnouncement(arrival: encoding.now)
    announcement.layers[0].temporalCount = 1
    announcement.layers[0].rates[0] = (1 << 28) - 1
    encoding.description.announced = announcement
    encoding.run(tenths: 1, flows: false)
    #expect(Double(encoding.monitor.layers.rate) == BandwidthEstimator.bounds.upperBound)
  }
}
