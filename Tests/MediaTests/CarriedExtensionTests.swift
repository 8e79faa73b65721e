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
    _ number: Int = 100, _ elements: [(UInt8, [UInt8])], from source: Person, to subscriber: Person
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
        selection, taken.packet, taken.info, slot: 0, into: room, context: &subscriber.context),
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
    #expect(Self.pass(sent, from: source, to: subscriber) == [2: [1, 9, 1, 2], 11: [0, 16, 32]])
  }

  @Test func `a subscriber that agreed to none gets none`() {
    let source = Self.publisher(Self.published)
    let subscriber = Self.subscriber([:], to: source)
    let sent: [(UInt8, [UInt8])] = [(8, [1, 9, 1, 2]), (5, [0, 16, 32])]
    #expect(Self.pass(sent, from: source, to: subscriber) == [:])
  }

  @Test func `what its publisher did not agree to is left out, and so is a value of another size`() {
    let source = Self.publisher([.playoutDelay: 5])
    let subscriber = Self.subscriber(Self.taken, to: source)
    #expect(Self.pass(100, [(8, [1]), (5, [0, 16])], from: source, to: subscriber) == [:])
    #expect(Self.pass(101, [(5, [0, 16, 32, 0])], from: source, to: subscriber) == [:])
    #expect(Self.pass(102, [(5, [0, 16, 32])], from: source, to: subscriber) == [11: [0, 16, 32]])
  }
}
