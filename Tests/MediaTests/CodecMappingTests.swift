import Media
import Model
import Testing
import Wire

/// A track in any codec and a slot that takes what the test says.
private struct Passage: ~Copyable {
  static let red: [UInt8] = [0xEF, 0x1E, 0x00, 0x02, 0x6F, 1, 1, 3, 3, 3]

  var receiver: TrackReceiver
  var slot: Forwarder
  var section: SendSection
  var sequence: UInt16 = 100

  init(
    _ kind: MediaKind, from published: [NegotiatedCodec], to taken: [NegotiatedCodec],
    extensions: [HeaderExtension: UInt8] = [:], allowsMixed: Bool = true
  ) {
    receiver = TrackReceiver(
      ReceiveSection(
        index: 0, mid: "0", kind: kind, codecs: published, extensions: HeaderExtensionMap(), ssrc: 0x1111_1111
      ))
    var map = HeaderExtensionMap()
    for (kind, id) in extensions { map[kind] = id }
    section = SendSection(
      index: 0, mid: "7", kind: kind, codecs: taken, extensions: map, ssrc: 9, rtxSSRC: 10, cname: "c",
      streamID: "s", allowsMixedExtensions: allowsMixed)
    var random = RandomSource.seeded(state: 1)
    slot = Forwarder(section, random: &random)
    feed(peer: 1)
  }

  mutating func feed(peer: UInt64) {
    _ = slot.setSource(TrackKey(peer: PeerKey(rawValue: peer), index: 0), clock: nil)
  }

  mutating func read(
    _ payload: [UInt8], type: UInt8, carried: CarriedExtensions = CarriedExtensions(),
    elements: [(UInt8, [UInt8])] = []
  ) -> (packet: [UInt8], info: PacketInfo)? {
    let packet = RTPPacket(
      sequence: sequence, timestamp: UInt32(sequence) * 3_000, payloadType: type, payload: payload)
    sequence &+= 1
    var bytes = elements.isEmpty ? packet.bytes : packet.bytes(with: elements)
    let outcome = bytes.withUnsafeMutableBytes { buffer -> TrackReceiver.Outcome? in
      guard let header = try? RTPHeader(UnsafeRawBufferPointer(buffer)) else { return nil }
      return receiver.receive(
        buffer, header, isRTX: false, audioLevel: nil, carried: carried, arrival: milliseconds(Int(sequence)))
    }
    return outcome?.info.map { (bytes, $0) }
  }

  mutating func pass(
    _ payload: [UInt8], type: UInt8, carried: CarriedExtensions = CarriedExtensions(),
    elements: [(UInt8, [UInt8])] = []
  ) -> (payloadType: UInt8, sequence: UInt16, payload: [UInt8], extensions: [UInt8: [UInt8]])? {
    guard let (packet, info) = read(payload, type: type, carried: carried, elements: elements) else {
      return nil
    }
    return packet.withUnsafeBytes { packet in
      var room = [UInt8](repeating: 0, count: 1_600)
      return room.withUnsafeMutableBytes { buffer in
        guard let outgoing = slot.rewrite(packet, info, into: buffer, epoch: epoch) else { return nil }
        let sent = UnsafeRawBufferPointer(rebasing: buffer[..<outgoing.size])
        guard let header = try? RTPHeader(sent) else { return nil }
        var extensions: [UInt8: [UInt8]] = [:]
        var reader = HeaderExtensionReader(sent, header)
        while let element = reader.next() {
          extensions[element.id] = Array(sent[element.offset..<element.offset + element.size])
        }
        return (header.payloadType, header.sequence, Array(sent[header.headerSize...]), extensions)
      }
    }
  }

  mutating func rebuild() throws {
    var writer = StateWriter()
    slot.encode(into: &writer)
    receiver.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    slot = try Forwarder(section, from: &reader)
  }
}

extension RTPPacket {
  func bytes(with elements: [(UInt8, [UInt8])]) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 8)
    defer { buffer.deallocate() }
    guard
      var writer = RTPWriter(
        into: buffer, marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp,
        ssrc: ssrc, form: .twoByte)
    else { return [] }
    for (id, data) in elements {
      data.withUnsafeBytes { if let base = $0.baseAddress { writer.append(id: id, base, size: data.count) } }
    }
    let size = writer.finish()
    return Array(buffer[..<size]) + payload
  }
}

private func h264(_ profile: H264Profile, _ mode: UInt8, _ payloadType: UInt8) -> NegotiatedCodec {
  NegotiatedCodec(format: .h264(profile, mode: mode) ?? .vp8, payloadType: payloadType, nack: true, pli: true)
}
private let parameterSet: [UInt8] = [0x67, 0x42, 0xE0, 0x1F]
private let opus = NegotiatedCodec(codec: .opus, payloadType: 111)
private let red = NegotiatedCodec(codec: .red, payloadType: 63)

@Suite("What a subscriber gets of each codec", .timeLimit(.minutes(5)))
struct CodecMappingTests {
  // MARK: - RED

  @Test func `RED goes on with its blocks under the subscriber's payload types`() throws {
    var passage = Passage(
      .audio, from: [opus, red],
      to: [
        NegotiatedCodec(codec: .opus, payloadType: 96), NegotiatedCodec(codec: .red, payloadType: 97),
      ])
    let sent = passage.pass(Passage.red, type: 63)
    #expect(sent?.payloadType == 97)
    #expect(sent?.payload == [0xE0, 0x1E, 0x00, 0x02, 0x60, 1, 1, 3, 3, 3])
  }

  @Test func `a subscriber without RED gets its newest block alone`() throws {
    var passage = Passage(.audio, from: [opus, red], to: [NegotiatedCodec(codec: .opus, payloadType: 96)])
    let sent = passage.pass(Passage.red, type: 63)
    #expect(sent?.payloadType == 96)
    #expect(sent?.payload == [3, 3, 3])
    // A packet without redundancy between the others is one of the same stream.
    let plain = passage.pass([7, 7], type: 111)
    #expect(plain?.payload == [7, 7] && plain?.sequence == sent.map { $0.sequence &+ 1 })
  }

  @Test func `RED around a codec that the subscriber lacks is left out`() throws {
    var passage = Passage(
      .audio, from: [opus, red], to: [NegotiatedCodec(codec: .pcmu, payloadType: 0), red])
    let sent = passage.pass(Passage.red, type: 63)
    #expect(sent == nil)
    let missing = passage.slot.counters.codecMissing
    #expect(missing == 1)
  }

  @Test func `RED that lies, or holds what the section hasn't, is dropped`() throws {
    var passage = Passage(.audio, from: [opus, red], to: [opus])
    for payload: [UInt8] in [[0xEF, 0, 0, 9, 0x6F, 1], [0x60, 1, 2], [0x3F, 1, 2]] {
      let sent = passage.pass(payload, type: 63)
      #expect(sent == nil)
    }
  }

  @Test func `the format of RED is that of its blocks`() throws {
    var passage = Passage(
      .audio, from: [opus, red, NegotiatedCodec(codec: .pcmu, payloadType: 0)], to: [opus])
    let unknown = passage.receiver.format
    #expect(unknown == nil)
    _ = passage.read(Passage.red, type: 63)
    let first = passage.receiver.format
    #expect(first == .opus)
    _ = passage.read([1, 2, 3], type: 0)
    let second = passage.receiver.format
    #expect(second == CodecFormat(.pcmu))
  }

  // MARK: - Video

  @Test func `a slot begins with a key frame, whatever the codec`() throws {
    let codecs: [(NegotiatedCodec, delta: [UInt8], key: [UInt8])] = [
      (NegotiatedCodec(codec: .vp9, payloadType: 98), [0xC8, 0x05, 1], [0x88, 0x06, 1]),
      (h264(.constrainedBaseline, 1, 102), [0x41, 0x9A, 1], parameterSet),
      (NegotiatedCodec(codec: .h265, payloadType: 49), [0x02, 0x01, 0x9A], [0x40, 0x01, 0x0C]),
      (NegotiatedCodec(codec: .av1, payloadType: 45), [0x10, 0x30, 1], [0x18, 0x08, 1]),
    ]
    for (codec, delta, key) in codecs {
      var passage = Passage(.video, from: [codec], to: [codec])
      let early = passage.pass(delta, type: codec.payloadType)
      let waits = passage.slot.needsKeyFrame
      #expect(early == nil && waits)
      let first = passage.pass(key, type: codec.payloadType)
      let next = passage.pass(delta, type: codec.payloadType)
      #expect(first != nil && next != nil)
      #expect(next?.sequence == first.map { $0.sequence &+ 1 })
    }
  }

  @Test func `VP9's picture ids and base layer indices go on from source to source`() throws {
    let vp9 = NegotiatedCodec(codec: .vp9, payloadType: 98)
    var passage = Passage(.video, from: [vp9], to: [NegotiatedCodec(codec: .vp9, payloadType: 35)])
    let a = passage.pass([0xA8, 0x81, 0x00, 0x00, 0x10, 1], type: 98)
    passage.feed(peer: 2)
    let b = passage.pass([0xA8, 0xF0, 0x00, 0x00, 0x70, 1], type: 98)
    try passage.rebuild()
    let c = passage.pass([0xE8, 0xF0, 0x01, 0x00, 0x71, 1], type: 98)
    #expect(a?.payload == [0xA8, 0x81, 0x00, 0x00, 0x10, 1] && a?.payloadType == 35)
    #expect(b?.payload == [0xA8, 0x81, 0x01, 0x00, 0x11, 1])
    #expect(c?.payload == [0xE8, 0x81, 0x02, 0x00, 0x12, 1])
  }

  @Test func `H.264 takes the payload type of its profile and mode, else one that allows more`() throws {
    let published = h264(.constrainedBaseline, 0, 102)
    let cases: [([NegotiatedCodec], UInt8?)] = [
      ([h264(.high, 1, 35), h264(.constrainedBaseline, 1, 36), h264(.constrainedBaseline, 0, 37)], 37),
      ([h264(.high, 1, 35), h264(.main, 0, 36)], 35), ([h264(.high444, 1, 35)], nil),
    ]
    for (taken, expected) in cases {
      var passage = Passage(.video, from: [published], to: taken)
      let sent = passage.pass(parameterSet, type: 102)
      #expect(sent?.payloadType == expected)
    }
    // Mode 1 may have fragments, which mode 0 can't read.
    var passage = Passage(.video, from: [h264(.main, 1, 102)], to: [h264(.main, 0, 35)])
    let sent = passage.pass(parameterSet, type: 102)
    #expect(sent == nil)
  }

  @Test func `a codec that the subscriber lacks leaves no gap and asks for nothing`() throws {
    let vp8Codec = NegotiatedCodec(codec: .vp8, payloadType: 96)
    let vp9 = NegotiatedCodec(codec: .vp9, payloadType: 98)
    var passage = Passage(.video, from: [vp8Codec, vp9], to: [vp8Codec])
    let first = passage.pass(vp8(key: true), type: 96)
    for _ in 0..<5 {
      let sent = passage.pass([0x88, 0x06, 1], type: 98)
      let asks = passage.slot.needsKeyFrame
      #expect(sent == nil && !asks)
    }
    try passage.rebuild()
    let early = passage.pass(vp8(), type: 96)
    let asks = passage.slot.needsKeyFrame
    #expect(early == nil && asks)
    let again = passage.pass(vp8(key: true), type: 96)
    #expect(again?.sequence == first.map { $0.sequence &+ 1 })
  }

  @Test
  func `a late packet of the codec before, which the subscriber lacks, does not stop the one that flows`() {
    let vp8Codec = NegotiatedCodec(codec: .vp8, payloadType: 96)
    let vp9 = NegotiatedCodec(codec: .vp9, payloadType: 98)
    var passage = Passage(.video, from: [vp8Codec, vp9], to: [vp8Codec])
    let before = passage.pass([0x88, 0x06, 1], type: 98)
    passage.sequence = 102
    let first = passage.pass(vp8(key: true), type: 96)
    passage.sequence = 101
    let late = passage.pass([0x88, 0x06, 1], type: 98)
    passage.sequence = 103
    let next = passage.pass(vp8(), type: 96)
    #expect(before == nil && first != nil && late == nil)
    #expect(next?.sequence == first.map { $0.sequence &+ 1 })
    let counters = passage.slot.counters
    #expect(counters.codecMissing == 1 && counters.late == 1)
    // What comes after the codec that flows is a change of codec again.
    let after = passage.pass([0x88, 0x06, 1], type: 98)
    let resumed = passage.pass(vp8(), type: 96)
    let missing = passage.slot.counters.codecMissing
    #expect(after == nil && resumed == nil && missing == 2)
  }

  @Test func `payloads that are none of their codec are dropped`() throws {
    let codecs: [(NegotiatedCodec, [UInt8])] = [
      (NegotiatedCodec(codec: .vp9, payloadType: 98), [0x80]), (h264(.main, 1, 102), [0x7C]),
      (NegotiatedCodec(codec: .h265, payloadType: 49), [0x62, 0x01, 0x93]),
      (NegotiatedCodec(codec: .av1, payloadType: 45), [0x98, 0x30]),
    ]
    for (codec, payload) in codecs {
      var passage = Passage(.video, from: [codec], to: [codec])
      let read = passage.read(payload, type: codec.payloadType)
      #expect(read == nil)
    }
  }

  @Test func `a codec with another clock starts the stream's time over`() throws {
    let pcmu = NegotiatedCodec(codec: .pcmu, payloadType: 0)
    var passage = Passage(.audio, from: [opus, pcmu], to: [opus, pcmu])
    let before = passage.pass([1], type: 111)
    let restarts = passage.receiver.restarts
    let after = passage.pass([2], type: 0)
    let now = passage.receiver.restarts
    #expect(now == restarts + 1)
    #expect(after?.payloadType == 0 && after?.sequence == before.map { $0.sequence &+ 1 })
  }

  // MARK: - Header extensions

  private let descriptor: [UInt8] = [0xBC, 0x12, 0x34, 0x87, 0x81, 0x1E, 0xA8, 0x51, 0x40, 0x00]
  private var carried: CarriedExtensions {
    var carried = CarriedExtensions()
    carried.descriptorOffset = 18
    carried.descriptorSize = 10
    return carried
  }

  @Test func `a dependency descriptor goes on under the subscriber's id, its frames counted on`() throws {
    let av1 = NegotiatedCodec(codec: .av1, payloadType: 45)
    var passage = Passage(
      .video, from: [av1], to: [av1],
      extensions: [.mid: 3, .dependencyDescriptor: 12, .absoluteSendTime: 2])
    let a = passage.pass([0x18, 0x08, 1], type: 45, carried: carried, elements: [(5, descriptor)])
    #expect(a?.extensions[12] == descriptor)
    #expect(a?.extensions[3] == Array("7".utf8))
    #expect(a?.extensions[2]?.count == 3)
    passage.feed(peer: 2)
    let jumped: [UInt8] = [0xBC, 0x77, 0x77] + descriptor[3...]
    let b = passage.pass([0x18, 0x08, 1], type: 45, carried: carried, elements: [(5, jumped)])
    #expect(b?.extensions[12] == [0xBC, 0x12, 0x35] + descriptor[3...])
  }

  @Test func `what needs the two-byte form is left out where the forms may not mix`() throws {
    let av1 = NegotiatedCodec(codec: .av1, payloadType: 45)
    let long = descriptor + Array(repeating: 0, count: 16)
    var far = carried
    far.descriptorSize = UInt8(long.count)
    for mixed in [true, false] {
      var passage = Passage(
        .video, from: [av1], to: [av1], extensions: [.mid: 3, .dependencyDescriptor: 12], allowsMixed: mixed)
      let sent = passage.pass([0x18, 0x08, 1], type: 45, carried: far, elements: [(5, long)])
      #expect((sent?.extensions[12] == long) == mixed)
      #expect(sent?.extensions[3] == Array("7".utf8))
    }
  }

  @Test func `the descriptor tells key frames and what may be left out, whatever the payload says`() throws {
    let av1 = NegotiatedCodec(codec: .av1, payloadType: 45)
    var passage = Passage(.video, from: [av1], to: [av1])
    let key = passage.read([0x10, 0x08, 1], type: 45, carried: carried, elements: [(5, descriptor)])
    #expect(key?.info.flags.contains([.keyFrame, .frameStart]) == true)
    var short = carried
    short.descriptorSize = 3
    let delta = passage.read([0x10, 0x30, 1], type: 45, carried: short, elements: [(5, [0xFE, 0x12, 0x35])])
    #expect(delta?.info.flags.contains([.frameStart, .discardable]) == true)
    let rest = passage.read([0x10, 0x30, 1], type: 45, carried: short, elements: [(5, [0x7E, 0x12, 0x35])])
    #expect(rest?.info.flags.contains(.frameStart) == false)
  }

  // MARK: - Feedback

  @Test func `a publisher without PLI is asked by FIR, each request with its number`() throws {
    var receiver = TrackReceiver(
      ReceiveSection(
        index: 0, mid: "0", kind: .video,
        codecs: [NegotiatedCodec(format: .vp8, payloadType: 96, fir: true)], extensions: HeaderExtensionMap(),
        ssrc: 0x1111_1111))
    _ = receiver.take(RTPPacket(payload: vp8(key: true)).bytes)
    var requests: [TrackReceiver.KeyFrameRequest?] = []
    for second in [1, 2] {
      receiver.requestKeyFrame()
      requests.append(receiver.keyFrameDue(now: milliseconds(second * 1_000)))
      requests.append(receiver.keyFrameDue(now: milliseconds(second * 1_000 + 499)))
    }
    #expect(requests == [.fullIntra(1), nil, .fullIntra(2), nil])
  }

  @Test func `a source that said goodbye is neither reported nor asked for packets until it comes back`()
    throws
  {
    var receiver = TrackReceiver(section(.video))
    _ = receiver.take(RTPPacket(sequence: 1, payload: vp8(key: true)).bytes)
    _ = receiver.take(RTPPacket(sequence: 4, payload: vp8()).bytes)
    receiver.goodbye()
    let silent = receiver.reportBlock(now: milliseconds(5))
    #expect(silent == nil)
    receiver.requestKeyFrame()
    let request = receiver.keyFrameDue(now: milliseconds(3_000))
    #expect(request == nil)
    _ = receiver.take(RTPPacket(sequence: 5, payload: vp8()).bytes)
    let block = receiver.reportBlock(now: milliseconds(6))
    #expect(block != nil)
  }

  @Test func `a late packet behind a goodbye asks for nothing that has come`() throws {
    var receiver = TrackReceiver(section(.video))
    for number in [1, 2] + Array(4...20) as [UInt16] {
      _ = receiver.take(RTPPacket(sequence: number, payload: vp8(key: number == 1)).bytes)
    }
    receiver.goodbye()
    _ = receiver.take(RTPPacket(sequence: 3, payload: vp8()).bytes)
    _ = receiver.take(RTPPacket(sequence: 21, payload: vp8()).bytes)
    var asked: [UInt16] = []
    receiver.missing(now: milliseconds(500), roundTrip: .milliseconds(20)) { asked.append($0) }
    #expect(asked == [])
    _ = receiver.take(RTPPacket(sequence: 23, payload: vp8()).bytes)
    receiver.missing(now: milliseconds(500), roundTrip: .milliseconds(20)) { asked.append($0) }
    #expect(asked == [22])
  }
}
