import Media
import Model
import Testing
import Wire

@Suite("Header extensions that go on to subscribers", .timeLimit(.minutes(2)))
struct CarriedExtensionTests {
  /// Ids of a publisher, and others of its subscriber.
  static let published: [HeaderExtension: UInt8] = [.colorSpace: 8, .playoutDelay: 5]
  static let taken: [HeaderExtension: UInt8] = [.colorSpace: 2, .playoutDelay: 11]

  static func map(_ ids: [HeaderExtension: UInt8]) -> HeaderExtensionMap {
    var map = HeaderExtensionMap()
    for (kind, id) in ids { map[kind] = id }
    return map
  }

  static func publisher(_ ids: [HeaderExtension: UInt8]) -> Person {
    var media = section(.video)
    media.extensions = map(ids)
    return Person(1, AgreedMedia(receive: [media]))
  }

  static func subscriber(_ ids: [HeaderExtension: UInt8], to source: Person) -> Person {
    let slot = SendSection(
      index: 0, mid: "s", kind: .video,
      codecs: [NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: 101, nack: true)],
      extensions: map(ids), ssrc: 7_000, rtxSSRC: 7_001, cname: "us", streamID: "s",
      allowsMixedExtensions: true)
    let subscriber = Person(9, AgreedMedia(send: [slot]))
    _ = subscriber.session.setSource(slot: 0, source.key, clock: nil)
    return subscriber
  }

  /// What the subscriber gets of a packet with these elements, by id; nil if it gets no packet.
  static func pass(
    _ number: Int, _ elements: [(UInt8, [UInt8])], from source: Person, to subscriber: Person
  ) -> [UInt8: [UInt8]]? {
    send(number, elements, from: source, to: subscriber)?.elements
  }

  /// As `pass`, and under which number it gets that.
  static func send(
    _ number: Int, _ elements: [(UInt8, [UInt8])], from source: Person, to subscriber: Person
  ) -> (sequence: UInt16, elements: [UInt8: [UInt8]])? {
    let packet = RTPPacket(
      sequence: UInt16(number), timestamp: UInt32(number) * 900, payload: vp8(key: true))
    guard let taken = source.publish(packet.bytes(with: elements), at: milliseconds(number * 10)),
      let selection = subscriber.session.select(taken.info, slot: 0)
    else { return nil }
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_600, alignment: 8)
    defer { room.deallocate() }
    guard
      let outgoing = subscriber.session.depart(
        selection, taken.packet, taken.info, slot: 0, now: taken.info.arrival, into: room,
        context: &subscriber.context),
      let found = Self.elements(UnsafeRawBufferPointer(rebasing: room[..<outgoing.size]))
    else { return nil }
    return (UInt16(truncatingIfNeeded: outgoing.index), found)
  }

  static func elements(_ packet: UnsafeRawBufferPointer) -> [UInt8: [UInt8]]? {
    guard let header = try? RTPHeader(packet) else { return nil }
    var found: [UInt8: [UInt8]] = [:]
    var reader = HeaderExtensionReader(packet, header)
    while let element = reader.next() {
      found[element.id] = Array(packet[element.offset..<element.offset + element.size])
    }
    return found
  }

  @Test func `what belongs to the media goes on under the subscriber's ids, as it is`() {
    let source = Self.publisher(Self.published)
    let subscriber = Self.subscriber(Self.taken, to: source)
    let sent: [(UInt8, [UInt8])] = [(8, [1, 9, 1, 2]), (5, [0, 16, 32])]
    #expect(Self.pass(100, sent, from: source, to: subscriber) == [2: [1, 9, 1, 2], 11: [0, 16, 32]])
  }

  @Test func `a subscriber that agreed to none gets none`() {
    let source = Self.publisher(Self.published)
    let subscriber = Self.subscriber([:], to: source)
    let sent: [(UInt8, [UInt8])] = [(8, [1, 9, 1, 2]), (5, [0, 16, 32])]
    #expect(Self.pass(100, sent, from: source, to: subscriber) == [:])
  }

  @Test func `what its publisher did not agree to is left out, and so is a value of another size`() {
    let source = Self.publisher([.playoutDelay: 5])
    let subscriber = Self.subscriber(Self.taken, to: source)
    #expect(Self.pass(100, [(8, [1]), (5, [0, 16])], from: source, to: subscriber) == [:])
    #expect(Self.pass(101, [(5, [0, 16, 32, 0])], from: source, to: subscriber) == [:])
    #expect(Self.pass(102, [(5, [0, 16, 32])], from: source, to: subscriber) == [11: [0, 16, 32]])
  }

  // MARK: - Times of capture

  /// A publisher whose clock is so far ahead of the server's says so in a report that took 5 ms.
  private func reportedClock(ahead: Int64) -> Person {
    let source = Self.publisher([.absoluteCaptureTime: 6])
    _ = Self.pass(99, [], from: source, to: Self.subscriber([:], to: source))
    report(source, ahead: ahead, at: milliseconds(1_000))
    return source
  }

  private func report(_ source: Person, ahead: Int64, at now: Instant) {
    let moment = epoch.ntp(at: now).advanced(byNanoseconds: ahead - 5_000_000)
    source.hear(at: now) {
      _ = $0.append(
        SenderReport(ssrc: 0x1111_1111, ntp: moment, rtpTimestamp: 90_000, packetCount: 1, octetCount: 1))
    }
  }

  private func bytes(_ time: NTPTime) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: time.rawValue >> (56 - 8 * $0)) }
  }

  /// What comes out for something captured 20 ms before packet 110 came, by a clock that is so far ahead of the
  /// publisher's.
  private func mapped(_ source: Person, ahead: Int64, foreign: Int64? = nil) -> [UInt8: [UInt8]]? {
    let subscriber = Self.subscriber([.absoluteCaptureTime: 3], to: source)
    let captured = epoch.ntp(at: milliseconds(1_080)).advanced(byNanoseconds: ahead + (foreign ?? 0))
    let estimate = foreign.map { bytes(NTPTime(rawValue: 0).advanced(byNanoseconds: $0)) } ?? []
    return Self.pass(110, [(6, bytes(captured) + estimate)], from: source, to: subscriber)
  }

  /// Nanoseconds of an outgoing element from the moment of capture; nil if it isn't one of the server's clock.
  private func error(_ element: [UInt8]?) -> Int64? {
    guard let element, element.count == 16, element[8...].allSatisfy({ $0 == 0 }) else { return nil }
    let time = element[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    return NTPTime(rawValue: time).nanoseconds(since: epoch.ntp(at: milliseconds(1_080)))
  }

  @Test(arguments: [0, 3_600_000_000_000, -86_400_000_000_000] as [Int64])
  func `a time of capture is put onto the server's time line`(ahead: Int64) throws {
    let source = reportedClock(ahead: ahead)
    let sent = try #require(mapped(source, ahead: ahead))
    #expect(Array(sent.keys) == [3])
    // As well as the publisher's clock is known: the report's journey is in it.
    let off = try #require(error(sent[3]))
    #expect((4_900_000...5_100_000).contains(off))
  }

  @Test(arguments: [90_500_000_000, -90_500_000_000] as [Int64])
  func `the offset of the clock that captured is taken out`(foreign: Int64) throws {
    let source = reportedClock(ahead: 7_000_000_000)
    let sent = try #require(mapped(source, ahead: 7_000_000_000, foreign: foreign))
    let off = try #require(error(sent[3]))
    #expect((4_900_000...5_100_000).contains(off))
  }

  @Test func `while its publisher's clock isn't known a time of capture goes no further`() {
    let source = Self.publisher([.absoluteCaptureTime: 6])
    #expect(mapped(source, ahead: 0) == [:])
  }

  @Test func `a time of capture of a clock that is none of its sender's goes no further`() {
    #expect(mapped(reportedClock(ahead: 0), ahead: 61_000_000_000) == [:])
    #expect(mapped(reportedClock(ahead: 0), ahead: -61_000_000_000) == [:])
    #expect(mapped(reportedClock(ahead: 0), ahead: 59_000_000_000)?.count == 1)
  }

  @Test func `a time of capture of another size goes no further`() {
    let source = reportedClock(ahead: 0)
    let subscriber = Self.subscriber([.absoluteCaptureTime: 3], to: source)
    for (number, size) in [0, 1, 7, 9, 15, 17, 200].enumerated() {
      let element = [UInt8](repeating: 0xE1, count: size)
      #expect(Self.pass(110 + number, [(6, element)], from: source, to: subscriber) == [:], "\(size) bytes")
    }
  }

  @Test func `a subscriber that did not agree to times of capture gets none`() {
    let source = reportedClock(ahead: 0)
    let subscriber = Self.subscriber([.colorSpace: 3], to: source)
    let captured = bytes(epoch.ntp(at: milliseconds(1_080)))
    #expect(Self.pass(110, [(6, captured)], from: source, to: subscriber) == [:])
  }

  @Test func `a retransmission says when its packet was captured`() throws {
    let source = reportedClock(ahead: 7_000_000_000)
    let subscriber = Self.subscriber([.absoluteCaptureTime: 3], to: source)
    let captured = epoch.ntp(at: milliseconds(1_080)).advanced(byNanoseconds: 7_000_000_000)
    let passed = Self.send(110, [(6, bytes(captured))], from: source, to: subscriber)
    let sent = try #require(passed)
    let found = subscriber.session.retransmission(
      slot: 0, sequence: sent.sequence, now: milliseconds(2_000))
    let request = try #require(found)
    let kept = source.history.find(request.source)
    let (packet, info) = try #require(kept)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_600, alignment: 8)
    defer { room.deallocate() }
    let again = subscriber.session.rewriteRetransmission(
      request, packet, info, slot: 0, into: room)
    let size = try #require(again).size
    #expect(Self.elements(UnsafeRawBufferPointer(rebasing: room[..<size]))?[3] == sent.elements[3])
    #expect(error(sent.elements[3]) != nil)
  }
}
