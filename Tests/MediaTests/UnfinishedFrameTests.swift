import Model
import Testing
import Wire

@testable import Media

/// A frame whose last packet its encoder never sends: no number is missing, so nothing asks for it.
@Suite("Frames that end too soon", .timeLimit(.minutes(1)))
struct UnfinishedFrameTests {
  private struct Source {
    var receiver: TrackReceiver
    var sequence: UInt16 = 65_530
    var frame: UInt16 = 65_530

    init(asksForKeyFrames: Bool = true) {
      var media = section(.video)
      media.codecs = [
        NegotiatedCodec(
          format: CodecFormat.h264(.constrainedBaseline, mode: 1)!, payloadType: 96, nack: true,
          pli: asksForKeyFrames)
      ]
      receiver = TrackReceiver(media)
    }

    /// A packet of the present frame, by the three bytes that every descriptor has.
    mutating func send(begins: Bool, ends: Bool, after missing: UInt16 = 0) {
      if begins { frame &+= 1 }
      sequence &+= 1 &+ missing
      deliver(sequence, begins: begins, ends: ends)
    }

    mutating func deliver(_ number: UInt16, begins: Bool, ends: Bool) {
      let element: [UInt8] = [
        (begins ? 0x80 : 0) | (ends ? 0x40 : 0) | 1, UInt8(truncatingIfNeeded: frame >> 8),
        UInt8(truncatingIfNeeded: frame),
      ]
      let packet = RTPPacket(
        sequence: number, timestamp: UInt32(frame) &* 3_000, marker: ends, payload: [0x41, 0x9A, 1])
      var carried = CarriedExtensions()
      // Behind the header, that of the extensions, and the element's, which has two bytes.
      (carried.descriptorOffset, carried.descriptorSize) = (18, 3)
      var bytes = packet.bytes(with: [(7, element)])
      bytes.withUnsafeMutableBytes { buffer in
        guard let header = try? RTPHeader(UnsafeRawBufferPointer(buffer)) else {
          Issue.record("the test makes no RTP")
          return
        }
        _ = receiver.receive(
          buffer, header, isRTX: false, audioLevel: nil, carried: carried, arrival: start)
      }
    }

    var wantsKeyFrame: Bool { receiver.keyFrames.deadline != .never }
  }

  @Test func `the beginning of the next one asks the publisher for a key frame`() {
    var source = Source()
    for _ in 0..<10 {
      source.send(begins: true, ends: false)
      source.send(begins: false, ends: true)
      source.send(begins: true, ends: true)
    }
    #expect(!source.wantsKeyFrame)
    source.send(begins: true, ends: false)
    source.send(begins: false, ends: false)
    #expect(!source.wantsKeyFrame, "its end may come")
    source.send(begins: true, ends: false)
    #expect(source.wantsKeyFrame)
  }

  @Test func `an end that is missing on the way is asked for by its number, and needs no key frame`() {
    var source = Source()
    source.send(begins: true, ends: true)
    source.send(begins: true, ends: false)
    source.send(begins: true, ends: false, after: 1)
    let late = source.sequence &- 1
    source.deliver(late, begins: false, ends: true)
    source.send(begins: false, ends: true)
    source.send(begins: true, ends: true)
    #expect(!source.wantsKeyFrame)
  }

  @Test func `the end of an earlier one, which comes late, is not its end`() {
    var source = Source()
    source.send(begins: true, ends: false)
    source.send(begins: true, ends: false, after: 1)
    source.deliver(source.sequence &- 1, begins: false, ends: true)
    #expect(!source.wantsKeyFrame)
    source.send(begins: true, ends: true)
    #expect(source.wantsKeyFrame)
  }

  @Test func `a publisher that takes no requests is asked for nothing`() {
    var source = Source(asksForKeyFrames: false)
    source.send(begins: true, ends: false)
    source.send(begins: true, ends: false)
    #expect(!source.wantsKeyFrame)
  }
}
