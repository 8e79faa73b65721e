import Model
import Testing

@testable import Load
@testable import SyntheticPeers

@Suite("Which pictures roost-load takes for whole", .timeLimit(.minutes(1)))
struct PictureCountTests {
  /// Pictures of three packets each: picture 0 has the packets 0 to 2.
  private func packet(
    _ number: Int, isKey: Bool = false, viaRTX: Bool = false, publisher: Int = 4, at milliseconds: Int64 = 0
  ) -> SyntheticPeer.MediaArrival {
    SyntheticPeer.MediaArrival(
      publisher: publisher, track: 0, packet: number,
      frame: SyntheticPeer.MediaArrival.Frame(
        number: number / 3, isKey: isKey, isStart: number % 3 == 0, isEnd: number % 3 == 2),
      viaRTX: viaRTX, isRepeat: false, at: Instant(nanoseconds: milliseconds * 1_000_000))
  }

  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 0, 2, 2, 1]])
  func `a picture is whole with its last packet, whatever the order, and once`(order: [Int]) {
    var parts = PictureParts()
    for number in order.dropLast() { #expect(parts.note(packet(number)) == nil) }
    let whole = parts.note(packet(order.last ?? 0, isKey: true))
    #expect(whole == PictureParts.Whole(publisher: 4, track: 0, frame: 0, isKey: true, viaRTX: false))
    #expect(parts.note(packet(1)) == nil)
  }

  @Test func `of a picture that lacks a packet nothing is said, nor are two publishers' mixed`() {
    var parts = PictureParts()
    #expect(parts.note(packet(0)) == nil && parts.note(packet(2)) == nil)
    #expect(parts.note(packet(1, publisher: 5)) == nil)
    for number in 3...4 { #expect(parts.note(packet(number)) == nil) }
    #expect(parts.note(packet(5))?.frame == 1)
    let late = parts.note(packet(1, viaRTX: true))
    #expect(late?.frame == 0 && late?.viaRTX == true)
  }

  @Test func `of pictures that never come whole the oldest make room`() {
    var parts = PictureParts()
    for picture in 0...PictureParts.limit {
      for place in 0...1 { #expect(parts.note(packet(picture * 3 + place)) == nil) }
    }
    #expect(parts.note(packet(2)) == nil, "its beginning is forgotten")
    // That one has taken the next one's place.
    #expect(parts.note(packet(8))?.frame == 2)
    #expect(parts.note(packet(PictureParts.limit * 3 + 2))?.frame == PictureParts.limit)
  }

  @Test func `the first picture is the first key frame of which all has come`() {
    var first = FirstMedia()
    // The end of a picture that it came in the middle of, then one that refers to it.
    for number in 1...5 { first.note(packet(number, at: Int64(number)), isPicture: true) }
    #expect(first.packetAt == Instant(nanoseconds: 1_000_000) && first.pictureAt == .never)
    for number in [6, 8] { first.note(packet(number, isKey: true, at: Int64(number)), isPicture: true) }
    #expect(first.pictureAt == .never)
    first.note(packet(7, isKey: true, viaRTX: true, at: 20), isPicture: true)
    #expect(first.pictureAt == Instant(nanoseconds: 20_000_000))
    for number in 9...11 { first.note(packet(number, isKey: true, at: 30), isPicture: true) }
    #expect(first.pictureAt == Instant(nanoseconds: 20_000_000))
  }

  @Test func `a sound is no picture`() {
    var first = FirstMedia()
    first.note(
      SyntheticPeer.MediaArrival(
        publisher: 0, track: 0, packet: 0, frame: .init(isKey: true), viaRTX: false, isRepeat: false,
        at: Instant(nanoseconds: 5)), isPicture: false)
    #expect(first.packetAt == Instant(nanoseconds: 5) && first.pictureAt == .never)
  }

  // MARK: - Several encodings

  /// Two encodings: each moment is shown in two pictures, 0 and 1 of the first moment, and so on.
  private func layers(moments: Int) -> LayeredTrack {
    let video = LayeredVideo(
      encodings: [
        .init(rid: "f", width: 640, height: 360, rate: 400_000),
        .init(rid: "q", width: 320, height: 180, rate: 100_000),
      ], structure: LayerStructure(codec: .vp8, temporalLayers: 1))
    let track = LayeredTrack(video, now: Instant(nanoseconds: 0))
    for moment in 0..<moments {
      track.noteMoment(Instant(nanoseconds: Int64(moment) * 33_000_000))
      for encoding in 0...1 {
        _ = track.append(
          LayerFrame(
            encoding: encoding, picture: moment, spatial: 0, temporal: 0, isKey: moment == 0, references: [],
            packets: 3, timestamp: 0, pictureID: 0, tl0PictureIndex: 0, sentAt: Instant(nanoseconds: 0),
            bytes: 0, moment: moment))
      }
    }
    return track
  }

  @Test func `a moment counts once, by whichever encoding it came whole in`() {
    let track = layers(moments: 3)
    var count = MomentCount()
    func pictures(_ numbers: [Int]) -> [Int] {
      numbers.flatMap { number in (0...2).compactMap { count.note(packet(number * 3 + $0), track)?.packet } }
    }
    // The larger of the first moment; both of the second, where the server goes from one to the other; the smaller of the third.
    #expect(pictures([0, 2, 3, 5]) == [0, 1, 2])
    #expect(pictures([100]).isEmpty, "a picture that was never sent")
  }

  @Test func `one that came by a retransmission is counted as recovered`() {
    let track = layers(moments: 1)
    var count = MomentCount()
    #expect(count.note(packet(0), track) == nil && count.note(packet(1, viaRTX: true), track) == nil)
    let whole = count.note(packet(2), track)
    #expect(whole?.viaRTX == true && whole?.packet == 0 && whole?.isRepeat == false)
  }

  @Test func `a publisher's layers are halves at a quarter of the rate, and only what is watched is sent`() {
    var video = LoadOptions.Video()
    (video.bitrate, video.encodings) = (1_600_000, 3)
    let layers = video.simulcast
    #expect(layers.encodings.map(\.rid) == ["f", "h", "q"])
    #expect(layers.encodings.map(\.width) == [1_280, 640, 320])
    #expect(layers.encodings.map(\.rate) == [1_600_000, 400_000, 100_000])
    #expect(layers.obeysPublish && layers.structure.temporalLayers == 3)
    (video.bitrate, video.encodings) = (30_000, 2)
    #expect(video.simulcast.encodings.map(\.rate) == [30_000, 8_000])
  }
}
