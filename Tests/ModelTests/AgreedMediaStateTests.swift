import Model
import Testing

@Suite("State of agreed media", .timeLimit(.minutes(2)))
struct MediaSectionStateTests {
  static func extensions(_ ids: [HeaderExtension: UInt8]) -> HeaderExtensionMap {
    var map = HeaderExtensionMap()
    for (kind, id) in ids { map[kind] = id }
    return map
  }

  let full = AgreedMedia(
    receive: [
      ReceiveSection(
        index: 3, mid: "0", kind: .video,
        codecs: [
          NegotiatedCodec(
            codec: .vp8, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true, transportCC: true,
            formatParameters: "max-fr=30")
        ], extensions: extensions([.mid: 4, .rid: 10, .repairedRid: 11]), rid: "hi"),
      ReceiveSection(
        index: 1_023, mid: "é", kind: .audio, codecs: [], extensions: HeaderExtensionMap(), ssrc: 0,
        rtxSSRC: .max, cname: "someone", rid: ""),
    ],
    send: [
      SendSection(
        index: 7, mid: "2", kind: .audio,
        codecs: [NegotiatedCodec(codec: .opus, payloadType: 111, formatParameters: "useinbandfec=1")],
        extensions: extensions([.audioLevel: 255]), ssrc: 1, rtxSSRC: nil, cname: "c", streamID: "s"),
      SendSection(
        index: 8, mid: "3", kind: .video, codecs: [], extensions: HeaderExtensionMap(), ssrc: 2, rtxSSRC: 0,
        cname: "", streamID: ""),
    ], allowsReducedSizeRTCP: true)

  func bytes(_ media: AgreedMedia) -> [UInt8] {
    var writer = StateWriter()
    media.encode(into: &writer)
    return writer.bytes
  }

  @Test func `every field comes back, also the absent ones`() throws {
    for media in [full, AgreedMedia()] {
      var reader = StateReader(bytes(media))
      let read = try AgreedMedia(from: &reader)
      try reader.finish()
      #expect(read == media)
    }
  }

  @Test
  func
    `sizes of pictures come back, of one encoding and of several, and without any nothing is written of them`()
    throws
  {
    var media = full
    let before = bytes(media).count
    media.receive[0].encodings[0].picture = PictureSize(width: 640, height: 360)
    #expect(bytes(media).count > before)
    var reader = StateReader(bytes(media))
    #expect(try AgreedMedia(from: &reader) == media)
    media.receive[0].encodings = [1, 2, 3].map { size in
      var encoding = ReceiveEncoding(rid: "\(size)", ssrc: UInt32(size))
      if size != 2 { encoding.picture = PictureSize(width: UInt16(size) * 100, height: .max) }
      return encoding
    }
    reader = StateReader(bytes(media))
    #expect(try AgreedMedia(from: &reader) == media)
  }

  @Test func `texts as long as a line of a description come back`() throws {
    var media = full
    let long = String(repeating: "x", count: 8 * 1_024)
    media.receive[0].cname = long
    media.receive[0].encodings[0].rid = long
    media.receive[0].codecs[0].formatParameters = long
    var reader = StateReader(bytes(media))
    #expect(try AgreedMedia(from: &reader) == media)
  }

  @Test func `cut anywhere it is refused`() {
    let whole = bytes(full)
    for size in 0..<whole.count {
      #expect(throws: StateError.self) {
        var reader = StateReader(Array(whole[..<size]))
        _ = try AgreedMedia(from: &reader)
      }
    }
  }

  @Test func `with any byte changed it is read or refused, and what is read is written alike`() {
    let whole = bytes(full)
    for position in whole.indices {
      for flip: UInt8 in [1, 0x80, 0xFF] {
        var changed = whole
        changed[position] ^= flip
        var reader = StateReader(changed)
        guard let media = try? AgreedMedia(from: &reader) else { continue }
        // Only an absent number may differ: it isn't kept.
        #expect(bytes(media).count == reader.offset)
      }
    }
  }

  @Test func `unknown codecs, kinds and counts over the limit are named`() {
    func error(_ build: (inout StateWriter) -> Void) -> StateError? {
      var writer = StateWriter()
      build(&writer)
      var reader = StateReader(writer.bytes)
      do throws(StateError) {
        _ = try AgreedMedia(from: &reader)
        return nil
      } catch { return error }
    }
    #expect(error { $0.write(UInt32(1_025)) } == .invalid(field: "count 1025 over 1024", offset: 0))
    #expect(
      error {
        $0.write(UInt32(1))
        $0.write(UInt16(0))
        $0.write("0")
        $0.write(UInt8(2))
      } == .invalid(field: "media kind", offset: 12))
    #expect(
      error {
        $0.write(UInt32(1))
        $0.write(UInt16(0))
        $0.write("0")
        $0.write(UInt8(0))
        $0.write(UInt32(1))
        $0.write(UInt8(99))
      } == .invalid(field: "codec format", offset: 17))
  }

  @Test func `fingerprints come back, and unknown algorithms don't`() throws {
    let list = [
      Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32)),
      Fingerprint(algorithm: .sha512, digest: Array(repeating: 2, count: 64)),
    ]
    var writer = StateWriter()
    list.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    #expect(try [Fingerprint](from: &reader) == list)
    var bad = writer.bytes
    bad[4] = 3
    var badReader = StateReader(bad)
    #expect(throws: StateError.invalid(field: "fingerprint algorithm", offset: 5)) {
      _ = try [Fingerprint](from: &badReader)
    }
  }
}
