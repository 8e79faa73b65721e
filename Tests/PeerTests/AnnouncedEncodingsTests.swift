import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// A simulcast whose encodings have no names: its description announces the streams of each (`a=ssrc-group:SIM`).
@Suite("Encodings that are announced by their SSRCs", .timeLimit(.minutes(1)))
struct AnnouncedEncodingsTests {
  /// Streams 1, 2 and 3, with their retransmissions in 4, 5 and 6.
  private func publisher() throws -> ConnectedPeer {
    var section = ConnectedPeer.section(0)
    section.encodings = (1...3 as ClosedRange<UInt32>).map { ReceiveEncoding(ssrc: $0, rtxSSRC: $0 + 3) }
    return try ConnectedPeer(AgreedMedia(receive: [section]))
  }

  @Test func `each stream is an encoding, and what repairs it is of that one`() throws {
    let far = try publisher()
    for isRebuilt in [false, true] {
      if isRebuilt { try far.rebuild() }
      let first: UInt16 = isRebuilt ? 200 : 100
      for ssrc in 1...3 as ClosedRange<UInt32> {
        let encoding = UInt8(ssrc - 1)
        for sequence in [first, first + 2] {
          let info = far.send(ssrc: ssrc, payloadType: 96, sequence: sequence)
          #expect(info?.encoding == encoding && info?.flags.contains(.recovered) == false)
        }
        let repeated: [UInt8] = [0, UInt8(first + 1), 0x10, 0x00, 1, 2, 3]
        let info = far.send(ssrc: ssrc + 3, payloadType: 97, sequence: first, payload: repeated)
        #expect(info?.encoding == encoding && info?.flags.contains(.recovered) == true)
        #expect(info.map { UInt16(truncatingIfNeeded: $0.extendedSequence) } == first + 1)
      }
      #expect(far.streamCount == 6)
    }
  }

  @Test func `a stream that isn't announced is of none, whatever it calls itself`() throws {
    let far = try publisher()
    #expect(far.send(ssrc: 9, payloadType: 96, extensions: [(1, "0")]) == nil)
    #expect(far.send(ssrc: 9, payloadType: 96, extensions: [(1, "0"), (2, "q")]) == nil)
    #expect(far.dropped(.streamUnmapped) == 2 && far.streamCount == 6)
  }

  @Test func `a key frame is asked of the one that is to be shown`() throws {
    let far = try publisher()
    for ssrc in 1...3 as ClosedRange<UInt32> {
      far.send(ssrc: ssrc, payloadType: 96, payload: [0x10, 0x01, 1])
    }
    far.peer.requestKeyFrame(receiver: 0, encoding: 1)
    for number in 0..<3 {
      let encoding = far.peer.session.receiving.pointer(0).pointee.encoding(number)
      let asked = encoding.pointee.receiver.keyFrameDue(now: far.now)
      #expect((asked == .pictureLoss) == (number == 1))
    }
  }
}
