internal import Codecs
internal import Model
internal import SyntheticPeers

/// One publisher's camera and microphone: pictures and sound at their times, encoded.
final class PublisherEncoder {
  let publisher: Int
  var wantsKeyFrame = true
  private let tone: Tone
  private let frame: [Int16]
  private let video: VP8Encoder
  private let audio: OpusEncoder
  private var picture: Picture
  private var number = 0
  private var nextPicture: Instant
  private var nextSound: Instant
  private var keyFrameAt = Instant(nanoseconds: .min / 2)

  static let picturesPerSecond = 15
  static let pictureInterval: Int64 = 1_000_000_000 / 15
  static let soundInterval: Int64 = 20_000_000
  /// Bits per second.
  static let videoRate = 250_000
  static let audioRate = 32_000
  /// Requests that come closer together are answered by one.
  private static let keyFrameInterval: Int64 = 250_000_000

  /// - Parameter at: when it begins. Publishers begin their pictures at different parts of an interval, as people do.
  init(publisher: Int, place: Int, at: Instant) throws(CodecError) {
    self.publisher = publisher
    tone = Tone(place: place)
    frame = tone.samples
    video = try VP8Encoder(
      width: MarkedPicture.width, height: MarkedPicture.height, bitrate: Self.videoRate,
      framesPerSecond: Self.picturesPerSecond)
    audio = try OpusEncoder(bitrate: Self.audioRate)
    picture = try Picture(width: MarkedPicture.width, height: MarkedPicture.height)
    nextPicture = at.advanced(byNanoseconds: Int64(publisher) * 17_000_000 % Self.pictureInterval)
    nextSound = at
  }

  var due: Instant { min(nextPicture, nextSound) }

  /// What is due; a picture or a frame of sound. Times of capture are those at which they were due, however late it is: delay
  /// counts from there.
  func makeNext(now: Instant) throws(CodecError) -> [Made] {
    var made: [Made] = []
    if nextSound <= nextPicture {
      made.append(
        .sound(
          publisher: publisher,
          EncodedFrame(
            .audio, try audio.encode(frame), capturedAt: nextSound, attenuation: Tone.attenuation)))
      nextSound = nextSound.advanced(byNanoseconds: Self.soundInterval)
      return made
    }
    while now.nanoseconds - nextPicture.nanoseconds >= Self.pictureInterval {
      made.append(.missed(publisher: publisher))
      nextPicture = nextPicture.advanced(byNanoseconds: Self.pictureInterval)
    }
    MarkedPicture(publisher: publisher, number: number).draw(into: &picture)
    let isKeyFrame =
      wantsKeyFrame && nextPicture.nanoseconds - keyFrameAt.nanoseconds >= Self.keyFrameInterval
    let coded = try video.encode(picture, isKeyFrame: isKeyFrame)
    if coded.isKeyFrame {
      wantsKeyFrame = false
      keyFrameAt = nextPicture
    }
    made.append(
      .picture(
        publisher: publisher, number: number, EncodedFrame(.video, coded.bytes, capturedAt: nextPicture)))
    number += 1
    nextPicture = nextPicture.advanced(byNanoseconds: Self.pictureInterval)
    return made
  }
}
