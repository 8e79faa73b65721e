import Model
import Testing
import Wire

@testable import Media
@testable import Peer
@testable import Transport

@Suite("RTCP of a peer", .timeLimit(.minutes(2)))
struct PeerRTCPTests {
  private func section(_ codec: NegotiatedCodec, ssrc: UInt32 = 50) -> ReceiveSection {
    var section = ConnectedPeer.section(0, ssrc: ssrc)
    section.codecs = [codec]
    return section
  }
  private let key: [UInt8] = [0x10, 0x00, 1, 2, 3]
  private let delta: [UInt8] = [0x10, 0x01, 1, 2, 3]

  @Test func `a publisher that adapts by nothing else gets to know what it may send`() throws {
    let far = try ConnectedPeer(
      AgreedMedia(receive: [section(NegotiatedCodec(format: .vp8, payloadType: 96, remb: true))]))
    far.reportsAreDue()
    #expect(
      try !far.said(after: .milliseconds(1)).contains { if case .estimate = $0 { true } else { false } })
    far.send(ssrc: 50, payloadType: 96)
    #expect(
      try far.said(after: .seconds(1)) == [
        .receiverReport(blocks: 1), .name, .estimate(3_000_000 / 16 * 16, [50]),
      ])
    let plain = try ConnectedPeer(
      AgreedMedia(receive: [
        section(NegotiatedCodec(format: .vp8, payloadType: 96, pli: true, transportCC: true))
      ]))
    plain.reportsAreDue()
    plain.send(ssrc: 50, payloadType: 96)
    #expect(try plain.said(after: .seconds(1)) == [.receiverReport(blocks: 1), .name])
  }

  @Test func `a key frame is asked for once in half a second, in the way that was agreed on`() throws {
    let ways: [(NegotiatedCodec, [Said])] = [
      (NegotiatedCodec(format: .vp8, payloadType: 96, pli: true, fir: true), [.pictureLoss(50)]),
      (NegotiatedCodec(format: .vp8, payloadType: 96, fir: true), [.fullIntra(50, 1)]),
      (NegotiatedCodec(format: .vp8, payloadType: 96), []),
    ]
    for (codec, wanted) in ways {
      let far = try ConnectedPeer(AgreedMedia(receive: [section(codec)], allowsReducedSizeRTCP: true))
      far.send(ssrc: 50, payloadType: 96, payload: delta)
      var asked: [Said] = []
      for _ in 0..<9 {
        far.peer.requestKeyFrame(receiver: 0)
        asked += try far.said(after: .milliseconds(50))
      }
      #expect(asked == wanted)
      #expect(try far.said(after: .milliseconds(100)).count == wanted.count)
    }
  }

  @Test func `each encoding is asked for key frames by itself`() throws {
    var section = section(NegotiatedCodec(format: .vp8, payloadType: 96, pli: true))
    section.encodings = ["q", "f"].map { ReceiveEncoding(rid: $0) }
    let far = try ConnectedPeer(AgreedMedia(receive: [section], allowsReducedSizeRTCP: true))
    for (ssrc, rid) in [(50, "q"), (60, "f")] as [(UInt32, String)] {
      far.send(ssrc: ssrc, payloadType: 96, extensions: [(1, "0"), (2, rid)], payload: delta)
    }
    var asked: [Said] = []
    for _ in 0..<9 {
      far.peer.requestKeyFrame(receiver: 0, encoding: 0)
      far.peer.requestKeyFrame(receiver: 0, encoding: 1)
      asked += try far.said(after: .milliseconds(50))
    }
    #expect(asked == [.pictureLoss(50), .pictureLoss(60)])
  }

  @Test func `a raised loss is reported, no higher than encoders have a use for, and lapses`() throws {
    var receiver = TrackReceiver(ConnectedPeer.section(0, .audio, ssrc: 50))
    let start = Instant(nanoseconds: 1_000_000_000)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 20, alignment: 8)
    defer { bytes.deallocate() }
    for number in 0..<20 as Range<UInt16> where number != 7 {
      let writer = RTPWriter(
        into: bytes, marker: false, payloadType: 111, sequence: number, timestamp: UInt32(number) * 960,
        ssrc: 50)
      guard let writer else { return }
      _ = writer.finish()
      let header = try RTPHeader(UnsafeRawBufferPointer(bytes))
      _ = receiver.receive(bytes, header, isRTX: false, audioLevel: nil, arrival: start)
    }
    func block(_ seconds: Int) -> ReportBlock? { receiver.reportBlock(now: start + .seconds(seconds)) }
    let own = try #require(block(0))
    #expect(own.fractionLost == 12 && own.cumulativeLost == 1)
    receiver.raiseLoss(50, now: start)
    #expect(block(1)?.fractionLost == 50 && block(1)?.cumulativeLost == 1)
    receiver.raiseLoss(200, now: start + .seconds(1))
    #expect(block(2)?.fractionLost == 77)
    #expect(block(6)?.fractionLost == 0, "it is no longer said")
  }

  // MARK: - Compounds

  /// One for a lost packet, one for a key frame, one for arrival times.
  private func feedback(agreed: Bool) throws -> [[Said]] {
    var section = self.section(NegotiatedCodec(format: .vp8, payloadType: 96, nack: true, pli: true))
    section.extensions[.transportSequence] = 5
    let far = try ConnectedPeer(AgreedMedia(receive: [section], allowsReducedSizeRTCP: agreed))
    try far.rebuild()
    for (sequence, number) in [(100, "\0\u{1}"), (103, "\0\u{2}")] as [(UInt16, String)] {
      far.send(ssrc: 50, payloadType: 96, sequence: sequence, extensions: [(5, number)])
    }
    far.now = far.now + .milliseconds(500)
    far.peer.requestKeyFrame(receiver: 0)
    far.peer.poll(now: far.now, context: &far.context)
    return try far.compounds()
  }

  @Test func `feedback stands alone where that was agreed on`() throws {
    #expect(try feedback(agreed: true) == [[.nack, .pictureLoss(50)], [.arrivals]])
  }

  @Test func `elsewhere a report and a name go before it`() throws {
    #expect(
      try feedback(agreed: false) == [
        [.receiverReport(blocks: 0), .name, .nack, .pictureLoss(50)],
        [.receiverReport(blocks: 0), .name, .arrivals],
      ])
  }

  @Test func `with nothing to say nothing is sent`() throws {
    let far = try ConnectedPeer(AgreedMedia(receive: [ConnectedPeer.section(0, ssrc: 50)]))
    far.send(ssrc: 50, payloadType: 96)
    #expect(try far.said(after: .milliseconds(500)) == [])
  }

  @Test func `however many streams there are, each compound begins with a report and has a name`() throws {
    for agreed in [true, false] {
      for count in [1, 30, 31, 32, 46, 47, 48, 49, 90, 200] as [UInt32] {
        let codec = NegotiatedCodec(format: .vp8, payloadType: 96, remb: true)
        let sections = (0..<count).map { number in
          var section = ConnectedPeer.section(UInt16(number), ssrc: 50 + number)
          section.codecs = [codec]
          return section
        }
        let far = try ConnectedPeer(AgreedMedia(receive: sections, allowsReducedSizeRTCP: agreed))
        for number in 0..<count { far.send(ssrc: 50 + number, payloadType: 96) }
        far.reportsAreDue()
        far.peer.poll(now: far.now, context: &far.context)
        let compounds = try far.compounds()
        #expect(!compounds.isEmpty)
        for compound in compounds {
          let beginsWithReport = if case .receiverReport? = compound.first { true } else { false }
          #expect(beginsWithReport && compound.contains(.name), "\(count) streams: \(compound)")
        }
        let blocks = compounds.joined().reduce(0) { sum, said in
          if case .receiverReport(let blocks) = said { sum + blocks } else { sum }
        }
        #expect(blocks == Int(count))
        #expect(compounds.joined().contains { if case .estimate = $0 { true } else { false } })
      }
    }
  }

  @Test func `a source that said goodbye is not reported until it is heard again`() throws {
    let far = try ConnectedPeer(AgreedMedia(receive: [ConnectedPeer.section(0, ssrc: 50)]))
    far.send(ssrc: 50, payloadType: 96)
    let ssrcs: [UInt32] = [50, 777]
    try far.sendRTCP { writer in
      writer.append(ReceiverReport(ssrc: 50))
      writer.append(goodbye: ssrcs.span)
    }
    try far.rebuild()
    far.reportsAreDue()
    #expect(try far.said(after: .milliseconds(1)) == [])
    far.send(ssrc: 50, payloadType: 96)
    #expect(try far.said(after: .seconds(1)) == [.receiverReport(blocks: 1), .name])
  }

  @Test
  func
    `a key frame of a sender that said goodbye is asked for when it is heard again, and wakes no timer before`()
    throws
  {
    let far = try ConnectedPeer(
      AgreedMedia(
        receive: [section(NegotiatedCodec(format: .vp8, payloadType: 96, pli: true))],
        allowsReducedSizeRTCP: true))
    far.send(ssrc: 50, payloadType: 96)
    let ssrcs: [UInt32] = [50]
    try far.sendRTCP { writer in
      writer.append(ReceiverReport(ssrc: 50))
      writer.append(goodbye: ssrcs.span)
    }
    far.peer.requestKeyFrame(receiver: 0)
    #expect(try far.said(after: .seconds(2)) == [])
    let due = far.peer.feedbackDeadline
    #expect(due > far.now)
    far.send(ssrc: 50, payloadType: 96, payload: delta)
    #expect(try far.said(after: .milliseconds(1)) == [.pictureLoss(50)])
  }

  @Test func `a slot that goes says goodbye, and so does a peer that is closed`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0), ConnectedPeer.slot(1)]))
    far.apply(AgreedMedia(send: [ConnectedPeer.slot(1)]))
    #expect(try far.taken() == [.receiverReport(blocks: 0), .name, .goodbye([7_000])])
    far.peer.sayGoodbye(context: &far.context)
    #expect(try far.taken() == [.receiverReport(blocks: 0), .name, .goodbye([7_001, 9])])
  }

  @Test func `of a request for very many packets the first are taken, the rest counted`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0)]))
    let lost = (0..<200).map { UInt16($0) }
    try far.sendRTCP { $0.append(nack: lost.span, FeedbackSources(sender: 50, media: 7_000)) }
    #expect(far.context.media.effects.nackCount == 128)
    #expect(far.context.media.counters.nackedPackets == 200 && far.dropped(.nackOverflow) == 72)
  }

  @Test func `key-frame requests are counted, and so is what nothing here acts on`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0)]))
    for _ in 0..<3 {
      try far.sendRTCP { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 7_000)) }
    }
    #expect(far.context.media.counters.keyFrameRequestsReceived == 3)
    let ssrcs: [UInt32] = [7_000]
    try far.sendRTCP { writer in
      writer.append(ReceiverReport(ssrc: 50))
      writer.append(cname: "far", ssrc: 50)
      writer.append(estimate: 1_000, for: ssrcs.span, sender: 50)
    }
    #expect(far.dropped(.rtcpUnused) == 0 && far.dropped(.rtcpForeignStream) == 0)
    let gone: [UInt32] = [1_234]
    try far.sendRTCP { writer in
      writer.append(ReceiverReport(ssrc: 50))
      writer.append(goodbye: gone.span)
    }
    #expect(far.dropped(.rtcpForeignStream) == 1)
  }

  @Test func `of very many new pictures the last wait, and none of them is asked for meanwhile`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0)]))
    _ = far.peer.setSource(slot: 0, TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1), clock: nil)
    var begun = 0
    while far.peer.beginsNewPicture(slot: 0, now: far.now) { begun += 1 }
    #expect(begun == 192)
    func asked() throws -> [Int] {
      _ = far.context.takeEffects()
      try far.sendRTCP { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 7_000)) }
      return far.keyFrameRequests
    }
    // Once, as of one that flows.
    #expect(try asked() == [0])
    #expect(try asked() == [] && far.dropped(.keyFrameAskedOften) == 1)
    let tooSoon = far.peer.takesUpPicture(slot: 0, now: far.now)
    far.now = far.now + .seconds(1)
    let inTime = far.peer.takesUpPicture(slot: 0, now: far.now)
    let again = far.peer.takesUpPicture(slot: 0, now: far.now)
    #expect(!tooSoon && inTime && !again)
    for _ in 0..<3 { #expect(try asked() == [0], "one that waits for its key frame is heard") }
  }

  @Test func `a slot begins ten pictures at once, and then one in two seconds`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0), ConnectedPeer.slot(1)]))
    var begun = [0, 0]
    for _ in 0..<200 {
      if far.peer.beginsPicture(slot: 0, now: far.now) { begun[0] += 1 }
      far.now = far.now + .milliseconds(100)
    }
    if far.peer.beginsPicture(slot: 1, now: far.now) { begun[1] += 1 }
    #expect((19...20).contains(begun[0]) && begun[1] == 1)
  }

  @Test func `the same way to another encoding is paid for once in a second, until it is left`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0)]))
    func begins(_ crossing: EncodingCrossing) -> Bool {
      far.peer.beginsPicture(slot: 0, crossing: crossing, now: far.now)
    }
    let (up, down) = (EncodingCrossing(from: 1, to: 0), EncodingCrossing(from: 0, to: 1))
    // The choice goes to and fro while the key frame hasn't come.
    for _ in 0..<100 {
      #expect(begins(up))
      far.peer.setNextEncoding(slot: 0, 0, clock: nil)
      far.peer.setNextEncoding(slot: 0, nil, clock: nil)
    }
    far.now = far.now + .seconds(1)
    #expect(begins(up))
    // Eight more, down and up in turn, and none of them is for nothing.
    for turn in 0..<8 { #expect(begins(turn % 2 == 0 ? down : up)) }
    #expect(!begins(down) && !begins(EncodingCrossing(from: 2, to: 0)))
    far.now = far.now + .seconds(4)
    #expect(begins(up))
    // Sent back without being asked, it pays again.
    far.peer.setNextEncoding(slot: 0, 1, clock: nil)
    #expect(begins(up) && !begins(down))
  }

  @Test func `a publisher's clock that steps is counted until it is believed`() throws {
    let far = try ConnectedPeer(AgreedMedia(receive: [ConnectedPeer.section(0, ssrc: 50)]))
    far.send(ssrc: 50, payloadType: 96)
    for (seconds, steps) in [(100, 0), (40, 1), (41, 1)] as [(UInt64, UInt64)] {
      try far.sendRTCP {
        $0.append(
          SenderReport(
            ssrc: 50, ntp: NTPTime(rawValue: (4_000_000_000 + seconds) << 32), rtpTimestamp: 0,
            packetCount: 1,
            octetCount: 1))
      }
      #expect(far.dropped(.clockStepped) == steps)
      far.now = far.now + .seconds(1)
    }
  }

  @Test func `feedback moves one's own slot alone`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0), ConnectedPeer.slot(1, .audio)]))
    func request(_ write: (inout RTCPWriter) -> Void) throws -> [Int] {
      far.context.media.effects.clear()
      try far.sendRTCP(write)
      return far.keyFrameRequests
    }
    #expect(try request { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 7_000)) } == [0])
    // Again a moment later: its stream flows.
    #expect(try request { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 7_000)) } == [])
    #expect(far.dropped(.keyFrameAskedOften) == 1)
    far.now = far.now + .seconds(2)
    #expect(
      try request {
        $0.append(fullIntraRequest: FullIntraRequest.Entry(ssrc: 7_000, sequence: 1), sender: 50)
      }
        == [0])
    // Somebody else's, and sound, which has no key frames.
    #expect(far.dropped(.rtcpForeignStream) == 0)
    #expect(try request { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 8_000)) } == [])
    #expect(
      try request {
        $0.append(fullIntraRequest: FullIntraRequest.Entry(ssrc: 8_000, sequence: 2), sender: 50)
      }
        == [])
    let lost: [UInt16] = [1, 2]
    #expect(
      try request { $0.append(nack: lost.span, FeedbackSources(sender: 50, media: 8_000)) } == []
        && far.context.media.effects.nackCount == 0)
    #expect(far.dropped(.rtcpForeignStream) == 3)
    #expect(try request { $0.append(pictureLoss: FeedbackSources(sender: 50, media: 7_001)) } == [])
  }
}
