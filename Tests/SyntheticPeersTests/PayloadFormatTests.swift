import Model
import Negotiation
import Testing
import Wire

@testable import SyntheticPeers

@Suite("What synthetic peers send in each codec", .timeLimit(.minutes(2)))
struct PayloadFormatTests {
  private static let marks: [FrameMark] = [true, false].flatMap { isKey -> [FrameMark] in
    [(true, true), (true, false), (false, false), (false, true)].flatMap { starts, ends -> [FrameMark] in
      ([0x7F, 0x7FFF] as [UInt16]).map { mask -> FrameMark in
        var mark = FrameMark()
        mark.isKeyFrame = isKey
        mark.isBase = isKey
        mark.startsFrame = starts
        mark.endsFrame = ends
        mark.pictureID = 0x5A5A & mask
        mark.pictureMask = mask
        mark.tl0PictureIndex = 9
        return mark
      }
    }
  }

  private func payload(_ codec: Codec, _ mark: FrameMark) -> [UInt8] {
    let stamp = PayloadStamp(
      publisher: 3, track: 1, packet: 7, frame: 2, length: 90, isKeyFrame: mark.isKeyFrame,
      isFrameStart: mark.startsFrame, isFrameEnd: mark.endsFrame)
    var bytes = PayloadFormat.head(codec, mark, stampSize: 90)
    stamp.write(to: &bytes)
    return bytes
  }

  @Test(arguments: [Codec.vp8, .vp9, .h264, .h265, .av1])
  func `video is read as it was written`(codec: Codec) throws {
    for mark in Self.marks {
      let bytes = payload(codec, mark)
      let (stamp, read) = try #require(bytes.withUnsafeBytes { PayloadFormat.read($0, codec) })
      #expect(
        stamp.packet == 7 && stamp.isFrameStart == mark.startsFrame && read.isKeyFrame == mark.isKeyFrame)
      guard codec == .vp8 || codec == .vp9 else { continue }
      #expect(
        read.pictureID == mark.pictureID && read.pictureMask == mark.pictureMask && read.tl0PictureIndex == 9)
    }
  }

  @Test(arguments: [Codec.vp8, .vp9, .h264, .h265, .av1, .opus, .pcmu, .g722])
  func `a payload that is cut or of another codec is none`(codec: Codec) {
    let bytes = payload(codec, FrameMark())
    for size in 0..<bytes.count {
      #expect(bytes[..<size].withUnsafeBytes { PayloadFormat.read($0, codec) } == nil)
    }
    let other: Codec = codec == .vp8 ? .opus : .vp8
    #expect(bytes.withUnsafeBytes { PayloadFormat.read($0, other) } == nil)
  }

  @Test func `RED holds the block before, and each block is held against its stamp`() throws {
    func block(_ packet: UInt32) -> [UInt8] {
      var bytes: [UInt8] = []
      PayloadStamp(publisher: 3, track: 0, packet: packet, frame: packet, length: 60).write(to: &bytes)
      return bytes
    }
    let red = PayloadFormat.red(block(5), older: (block(4), 960), payloadType: 111)
    let blocks = try red.withUnsafeBytes { try REDPayload($0) }
    #expect(blocks.olderBlocks == 1 && blocks.payloadType == 111 && red.count == 5 + 120)
    #expect(red.withUnsafeBytes { PayloadFormat.readRED($0, blocks: 111) }?.packet == 5)
    #expect(red.withUnsafeBytes { PayloadFormat.readRED($0, blocks: 96) } == nil)
    var changed = red
    changed[40] ^= 1
    #expect(changed.withUnsafeBytes { PayloadFormat.readRED($0, blocks: 111) } == nil)
    // Newer than the newest.
    let wrong = PayloadFormat.red(block(5), older: (block(6), 960), payloadType: 111)
    #expect(wrong.withUnsafeBytes { PayloadFormat.readRED($0, blocks: 111) } == nil)
    #expect(PayloadFormat.red(block(5), older: (block(4), 16_384), payloadType: 111).count == 61)
  }

  @Test func `dependency descriptors say what the frame is`() throws {
    for mark in Self.marks {
      for isLong in [true, false] {
        let bytes = SyntheticDependencies.bytes(mark, frameNumber: 0x1234, isLong: isLong)
        var structure = DependencyStructure()
        let read = try bytes.withUnsafeBytes { try DependencyDescriptor($0, &structure) }
        #expect(read.startsFrame == mark.startsFrame && read.endsFrame == mark.endsFrame)
        #expect(read.frameNumber == 0x1234)
        #expect(read.hasStructure == (mark.isKeyFrame && mark.startsFrame))
        #expect((bytes.count > 16) == (read.hasStructure && isLong))
      }
    }
  }

  @Test func `under other numbers both sides come to the same`() throws {
    var random = RandomSource.seeded(state: 5)
    for _ in 0..<50 {
      var dialect = Dialect()
      dialect.mixesExtensions = random.next() % 2 == 0
      dialect.reducesRTCP = random.next() % 2 == 0
      dialect.acceptsRTX = random.next() % 2 == 0
      dialect.lacks = [.red, .h264]
      dialect.shuffle(&random)
      var client = Negotiator(
        policy: NegotiationPolicy(
          usesTransportFeedback: true,
          offeredExtensions: [.audioLevel, .transportSequence, .mid, .dependencyDescriptor]))
      var server = Negotiator()
      let end = LocalTransport(
        credentials: ICECredentials(ufrag: "home", password: String(repeating: "p", count: 24)),
        fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32)),
        candidates: [SocketAddress(ipv4: 10, 0, 0, 1, port: 1)])
      let voice = TrackAnnouncement(
        kind: .audio, ssrc: 1, cname: "c", streamID: "s", trackID: "t")
      var offer = try client.offer(
        OfferPlan(tracks: [voice], audioReceivers: 1, videoReceivers: 1), local: end, random: &random)
      dialect.speak(&offer)
      let answer = try server.answer(to: SessionDescription(parsing: offer.text), local: end, random: &random)
      var heard = try SessionDescription(parsing: answer.sdp)
      dialect.understand(&heard)
      let media = dialect.translate(try client.accept(heard).media)
      let agreed = answer.agreement.media
      #expect(agreed.allowsReducedSizeRTCP == dialect.reducesRTCP)
      #expect(media.allowsReducedSizeRTCP == dialect.reducesRTCP)
      for (ours, theirs) in zip(media.receive, agreed.send) {
        #expect(ours.codecs.map(\.payloadType) == theirs.codecs.map(\.payloadType))
        #expect(ours.codecs.map(\.rtxPayloadType) == theirs.codecs.map(\.rtxPayloadType))
        #expect(ours.extensions == theirs.extensions)
        #expect(!theirs.codecs.contains { dialect.lacks.contains($0.codec) })
        #expect(theirs.allowsMixedExtensions == dialect.mixesExtensions)
        #expect(
          theirs.codecs.contains { $0.rtxPayloadType != nil } == (dialect.acceptsRTX && ours.kind == .video))
      }
      #expect(media.send.map(\.extensions) == agreed.receive.map(\.extensions))
      #expect(agreed.receive[0].codecs.contains { $0.codec == .red }, "it sends what it can't decode")
    }
  }
}
