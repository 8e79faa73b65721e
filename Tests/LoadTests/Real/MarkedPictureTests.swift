import Codecs
import Testing

@testable import Load

@Suite("Pictures that say which they are", .timeLimit(.minutes(2)))
struct MarkedPictureTests {
  private func drawn(_ publisher: Int, _ number: Int) throws -> Picture {
    var picture = try Picture(width: MarkedPicture.width, height: MarkedPicture.height)
    MarkedPicture(publisher: publisher, number: number).draw(into: &picture)
    return picture
  }

  private func fault(_ picture: Picture) -> MarkedPicture.Fault? {
    do throws(MarkedPicture.Fault) {
      _ = try MarkedPicture(reading: picture)
      return nil
    } catch { return error }
  }

  @Test(arguments: [0, 1, 2, 7, 4_000, 65_535], [0, 1, 14, 999, 1 << 20, Int(UInt32.max)])
  func `what is drawn can be read`(publisher: Int, number: Int) throws {
    let mark = MarkedPicture(publisher: publisher, number: number)
    #expect(try MarkedPicture(reading: try drawn(publisher, number)) == mark)
  }

  @Test func `it can be read behind an encoder and a decoder, picture by picture`() throws {
    for publisher in [0, 5] {
      let encoder = try VP8Encoder(
        width: MarkedPicture.width, height: MarkedPicture.height, bitrate: PublisherEncoder.videoRate,
        framesPerSecond: PublisherEncoder.picturesPerSecond)
      let decoder = try VP8Decoder()
      for number in 0..<60 {
        let frame = try encoder.encode(try drawn(publisher, number), isKeyFrame: number == 40)
        let decoded = try #require(try decoder.decode(frame.bytes))
        #expect(try MarkedPicture(reading: decoded) == MarkedPicture(publisher: publisher, number: number))
      }
    }
  }

  @Test func `a picture without the one that it refers to is found to be wrong`() throws {
    let encoder = try VP8Encoder(
      width: MarkedPicture.width, height: MarkedPicture.height, bitrate: PublisherEncoder.videoRate,
      framesPerSecond: PublisherEncoder.picturesPerSecond)
    let decoder = try VP8Decoder()
    let frames = try (0..<12).map { try encoder.encode(try drawn(3, $0), isKeyFrame: false).bytes }
    for number in 0..<8 { _ = try decoder.decode(frames[number]) }
    // Numbers 8 to 10 are left out.
    let decoded: Picture?
    do throws(CodecError) {
      decoded = try decoder.decode(frames[11])
    } catch .damaged {
      return  // libvpx noticed by itself.
    }
    #expect(fault(try #require(decoded)) != nil)
  }

  @Test func `another picture's pattern or colours behind a number are found`() throws {
    for (publisher, number) in [(3, 101), (3, 102), (3, 90), (4, 100), (7, 100)] {
      var picture = try drawn(publisher, number)
      let own = try drawn(3, 100)
      // The rows and columns of the squares.
      for y in 16..<80 {
        for x in 32..<288 { picture.samples[y * 320 + x] = own.samples[y * 320 + x] }
      }
      guard number != 101 else { continue }
      guard case .pattern = fault(picture) else {
        Issue.record("\(publisher), \(number): \(String(describing: fault(picture)))")
        continue
      }
    }
  }

  @Test func `one square that is grey, or of the other colour, is found`() throws {
    for bit in [0, 17, 40, 63] {
      var picture = try drawn(3, 100)
      let (left, top) = (32 + bit % 16 * 16, 16 + bit / 16 * 16)
      func fill(_ value: (UInt8) -> UInt8) {
        for y in top..<top + 16 {
          for x in left..<left + 16 { picture.samples[y * 320 + x] = value(picture.samples[y * 320 + x]) }
        }
      }
      fill { $0 > 128 ? 16 : 235 }
      #expect(fault(picture) == .checksum)
      fill { _ in 120 }
      #expect(fault(picture) == .square(bit: bit, mean: 120))
    }
  }

  @Test func `a picture of another size, and one that was never drawn, are none`() throws {
    #expect(fault(try Picture(width: 640, height: 360)) == .size(width: 640, height: 360))
    #expect(fault(try Picture(width: 320, height: 180)) == .square(bit: 0, mean: 128))
    var black = try Picture(width: 320, height: 180)
    for index in black.luma { black.samples[index] = 16 }
    #expect(fault(black) == .checksum)
  }
}
