import Congestion
import Model
import Testing

@testable import Engine

/// From a packet's `video-layers-allocation00` to what is chosen from.
@Suite("Layers that a publisher's packets announce", .timeLimit(.minutes(1)))
struct AnnouncedLayersTests {
  /// Three encodings in two layers of frame rate.
  private static let streams: [[PublishedPictures.Layer]] = [
    [.init(rates: [60, 100])],
    [.init(rates: [200, 300], width: 640, height: 360)],
    [.init(rates: [700, 900], width: 1_280, height: 720)],
  ]

  private static func element(_ bytes: [UInt8]) -> [(id: UInt8, bytes: [UInt8])] {
    [(PublishedPictures.allocationID, bytes)]
  }

  private static func words(_ option: LayerOption) -> String {
    "\(option.encoding) T\(option.temporal): \(option.width)x\(option.height), \(Int(option.rate / 1_000))"
  }

  @Test func `one packet says what all streams have, whichever it is in and says that it is in`() throws {
    for carrier in 0..<3 {
      for number in 0..<3 {
        let stage = try PublishedPictures([(.vp8, 3)])
        stage.look()
        #expect(stage.options().isEmpty, "nothing has come")
        let bytes = PublishedPictures.allocation(number: number, Self.streams)
        #expect(stage.send(encoding: carrier, Self.element(bytes)) != nil)
        stage.look()
        let announced = stage.options().filter { Int($0.encoding) != carrier }.map(Self.words)
        let expected = [
          "0 T0: 320x180, 60", "0 T1: 320x180, 100", "1 T0: 640x360, 200", "1 T1: 640x360, 300",
          "2 T0: 1280x720, 700", "2 T1: 1280x720, 900",
        ].filter { !$0.hasPrefix("\(carrier) ") }
        #expect(announced == expected, "stream \(number) in \(carrier)")
        // The one that flows is measured, and has the size that is announced.
        let flowing = stage.options().filter { Int($0.encoding) == carrier }
        #expect(!flowing.isEmpty && flowing.allSatisfy { $0.width == UInt16(320 << carrier) })
      }
    }
  }

  @Test func `what is announced is what a target is spent on before it has ever flowed`() throws {
    let stage = try PublishedPictures([(.vp8, 3)])
    stage.send(Self.element(PublishedPictures.allocation(Self.streams)))
    stage.look()
    for (target, encoding) in [(90_000, 0), (400_000, 1), (2_000_000, 2)] as [(Double, UInt8)] {
      let demand = SlotDemand(slot: 0, kind: .video, options: stage.options())
      let shown = Allocator.allocate(target, [demand], now: stage.now).slots[0].option
      #expect(shown?.encoding == encoding, "\(target)")
    }
  }

  @Test func `what is malformed changes nothing, and its packet goes on`() throws {
    let stage = try PublishedPictures([(.vp8, 3)])
    let good = PublishedPictures.allocation(Self.streams)
    stage.send(Self.element(good))
    stage.look()
    func others() -> [String] { stage.options().filter { $0.encoding > 0 }.map(Self.words) }
    let before = others()
    #expect(before.count == 4)
    let malformed: [[UInt8]] = [
      [],
      // It cuts off what is active, a rate, a size.
      Array(good.prefix(1)), Array(good.prefix(4)), Array(good.dropLast()),
      // The third stream of two, and a rate of five bytes.
      [0x91, 0, 5, 5], [0x01, 0, 0x80, 0x80, 0x80, 0x80, 1],
    ]
    for bytes in malformed {
      #expect(stage.send(Self.element(bytes)) != nil, "\(bytes)")
      stage.look()
      #expect(others() == before, "\(bytes)")
    }
  }

  @Test func `of more streams and layers than there are those count that there are`() throws {
    let stage = try PublishedPictures([(.vp8, 2)])
    let layers = (0..<4).map { PublishedPictures.Layer(rates: [30, 50, 70, 90], width: 160 << $0) }
    let bytes = PublishedPictures.allocation(Array(repeating: layers, count: 4))
    #expect(bytes.count <= 255 && stage.send(Self.element(bytes)) != nil)
    stage.look()
    let others = stage.options().filter { $0.encoding == 1 }
    #expect(Set(stage.options().map(\.encoding)) == [0, 1])
    #expect(others.count == LayerCounts.spatial * LayerCounts.temporal)
    for option in others { #expect(option.width == UInt16(160 << Int(option.spatial))) }
    #expect(Set(others.map(\.spatial)) == [0, 1, 2] && Set(others.map(\.temporal)) == [0, 1, 2, 3])
  }

  @Test func `a track's packets announce nothing of another`() throws {
    let stage = try PublishedPictures([(.vp8, 2), (.vp8, 2)])
    let bytes = PublishedPictures.allocation(Array(Self.streams.prefix(2)))
    stage.send(track: 1, Self.element(bytes))
    stage.look()
    #expect(stage.options(0).isEmpty && Set(stage.options(1).map(\.encoding)) == [0, 1])
    // One that comes without a word has what comes of it, and no size.
    stage.send(track: 0)
    stage.look()
    #expect(stage.options(0).map { Int($0.encoding) } == [0])
    #expect(stage.options(0).allSatisfy { $0.width == 0 })
  }

  @Test func `a stream that is taken back is no choice any more, and is one again by the next word`() throws {
    let stage = try PublishedPictures([(.vp8, 2)])
    func say(_ streams: [[PublishedPictures.Layer]]) -> Set<UInt8> {
      for encoding in 0..<2 where !streams[encoding].isEmpty {
        stage.send(encoding: encoding, Self.element(PublishedPictures.allocation(streams)))
      }
      stage.look()
      return Set(stage.options().map(\.encoding))
    }
    let both = Array(Self.streams.prefix(2))
    for _ in 0..<3 { #expect(say(both) == [0, 1]) }
    #expect(say([both[0], []]) == [0])
    #expect(say(both) == [0, 1])
    #expect(say([[], both[1]]) == [1])
  }
}
