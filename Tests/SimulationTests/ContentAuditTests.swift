import Model
import Negotiation
import Testing

@testable import Simulation
@testable import SyntheticPeers

@Suite("What a packet has to be where it arrives", .timeLimit(.minutes(2)))
struct ContentAuditTests {
  @Test func `a packet in the wrong form is found`() {
    var extensions = HeaderExtensionMap()
    extensions[.dependencyDescriptor] = 5
    let codecs = [Codec.opus, .vp8, .av1].map { NegotiatedCodec(codec: $0, payloadType: $0.rawValue) }
    let section = ReceiveSection(index: 0, mid: "0", kind: .video, codecs: codecs, extensions: extensions)
    var dialect = Dialect()
    func problem(_ sent: Codec, _ come: Codec, _ left: [UInt8] = [], _ arrived: [UInt8] = []) -> String? {
      let packet = PublishedTrack.Packet(
        sequence: 0, timestamp: 0, run: 0, pictureID: 0, tl0PictureIndex: 0, frame: 0, startsFrame: true,
        isKeyFrame: true, codec: sent, descriptor: left, sentAt: Instant(nanoseconds: 0))
      var entry = ReceivedStream.Entry()
      entry.codec = come
      entry.isVideo = sent.kind == .video
      entry.descriptor = arrived
      return ContentAudit(section: section, dialect: dialect).problem(packet, entry, Journal())
    }
    #expect(problem(.red, .opus) == nil && problem(.vp8, .vp8) == nil)
    #expect(problem(.red, .red) != nil && problem(.vp8, .av1) != nil && problem(.h264, .vp8) != nil)
    let short: [UInt8] = [0x80, 0, 1, 7]
    let long = short + Array(repeating: 0, count: 16)
    #expect(problem(.av1, .av1, short, [0x80, 9, 9, 7]) == nil, "frame numbers are the subscriber's own")
    #expect(problem(.av1, .av1, short, []) != nil && problem(.av1, .av1, [], short) != nil)
    #expect(problem(.av1, .av1, short, [0x80, 0, 1, 6]) != nil)
    #expect(problem(.av1, .av1, long, long) == nil)
    dialect.mixesExtensions = false
    #expect(problem(.av1, .av1, long, []) == nil && problem(.av1, .av1, long, long) != nil)
  }
}
