import Codecs
import Model
import SyntheticPeers

/// Packets of one stream of real media, as a server may send them: what comes out is whole, in order and bounded.
///
/// The first byte says whether they are pictures (even) or sound; then each packet has its distance in numbers (signed), its
/// distance in time, a byte of marker (1), RED (2) and milliseconds (the upper six bits), its length, and its payload.
@Sendable public func fuzzEncodedStream(_ bytes: UnsafeRawBufferPointer) {
  guard let kind = bytes.first else { return }
  let isSound = kind & 1 == 1
  var pictures = PictureAssembler()
  var sound = SoundAssembler()
  var payload = EncodedPayload(
    stream: 0, codec: isSound ? .opus : .vp8, sequence: 1 << 16, timestamp: 0, marker: false, bytes: [],
    at: Instant(nanoseconds: 0))
  var place = 1
  var given = 0
  var out = 0
  while place + 4 <= bytes.count {
    let size = min(Int(bytes[place + 3]), bytes.count - place - 4)
    payload.sequence += Int64(Int8(bitPattern: bytes[place]))
    payload.timestamp &+= UInt32(bytes[place + 1]) &* (isSound ? 480 : 3_000)
    payload.marker = bytes[place + 2] & 1 == 1
    if isSound { payload.codec = bytes[place + 2] & 2 == 2 ? .red : .opus }
    payload.at = payload.at.advanced(byNanoseconds: Int64(bytes[place + 2] >> 2) * 1_000_000)
    payload.bytes = Array(bytes[place + 4..<place + 4 + size])
    place += 4 + size
    given += size
    if isSound {
      var lost = 0
      for piece in sound.take(payload, now: payload.at) {
        guard case .frame(let frame) = piece else {
          lost += 1
          continue
        }
        out += frame.count
      }
      // A silence counts as a second that was lost; the frames that wait at once may each end one.
      check(lost <= 64 * 50, "what is counted as lost is bounded")
    } else {
      for picture in pictures.take(payload, now: payload.at) {
        out += picture.bytes.count
        check(
          !picture.isKeyFrame || picture.bytes.first.map { $0 & 1 == 0 } == true, "a key frame begins as one")
      }
      _ = pictures.wantsKeyFrame(now: payload.at)
    }
    // RED's copies come out once.
    check(out <= given, "no byte comes out twice")
  }
}

/// Coded pictures, each behind its length in two bytes: what is decoded has the size that it says.
@Sendable public func fuzzVP8Decoder(_ bytes: UnsafeRawBufferPointer) {
  guard let decoder = try? VP8Decoder(longestSide: 256) else { return }
  for frame in frames(bytes) {
    guard let picture = try? decoder.decode(frame) else { continue }
    check(picture.width <= 256 && picture.height <= 256, "no picture is above the bound")
    check(picture.samples.count == picture.width * picture.height * 3 / 2, "every sample is there")
  }
}

/// Frames of Opus likewise; one of no bytes was lost.
@Sendable public func fuzzOpusDecoder(_ bytes: UnsafeRawBufferPointer) {
  guard let decoder = try? OpusDecoder() else { return }
  for frame in frames(bytes) {
    guard let samples = try? decoder.decode(frame.isEmpty ? nil : frame) else { continue }
    check(samples.count <= 5_760, "no packet holds more than 120 ms")
  }
}

private func frames(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
  var frames: [[UInt8]] = []
  var place = 0
  while place + 2 <= bytes.count {
    let size = min(Int(bytes[place]) << 8 | Int(bytes[place + 1]), bytes.count - place - 2)
    frames.append(Array(bytes[place + 2..<place + 2 + size]))
    place += 2 + size
  }
  return frames
}
