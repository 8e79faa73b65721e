import Crypto
import ICE
import Model
import Testing
import Wire

@testable import Simulation
@testable import SyntheticPeers

@Suite("The simulation finds what is wrong", .timeLimit(.minutes(2)))
struct StreamAuditTests {
  /// One publisher's track, one subscriber's slot, and what happened between them, packet by packet.
  private final class Story {
    let journal = Journal()
    let kind: MediaKind
    let track: PublishedTrack
    /// Of another publisher, which takes the slot over.
    let successor: PublishedTrack
    let departures = DepartureLog(number: 0, subscriber: 0, ssrc: 9)
    let stream: ReceivedStream
    let subscriber: Participant

    init(_ kind: MediaKind = .audio) throws {
      self.kind = kind
      track = PublishedTrack(publisher: 1, index: 0, kind: kind)
      successor = PublishedTrack(publisher: 2, index: 0, kind: kind)
      let codec = NegotiatedCodec(codec: kind == .audio ? .opus : .vp8, payloadType: 111)
      let section = ReceiveSection(
        index: 0, mid: "0", kind: kind, codecs: [codec], extensions: HeaderExtensionMap(), ssrc: 9)
      stream = ReceivedStream(section: section, log: 0)
      let address = SocketAddress(ipv4: 10, 0, 0, 1, port: 1)
      let certificate = try DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_000_000_000)
      let peer = SyntheticPeer(
        PeerConfiguration(number: 0), address: address,
        dtls: try DTLSContext(certificate: certificate), ice: ControllingAgent.Configuration(),
        journal: journal, now: Self.at(0), random: .seeded(state: 1))
      peer.connectedAt = Self.at(0)
      subscriber = Participant(
        peer: peer,
        client: RoomClient(room: "room", token: SimulatedToken(identity: "person", issued: 0)), room: 0,
        link: 0, inside: address, now: Self.at(0))
      subscriber.noteFeed(0, TrackName(1, 0), now: Self.at(0))
      track.startRun(base: 0, ssrc: 5, now: Self.at(0))
    }

    static func at(_ number: Int) -> Instant {
      Instant(nanoseconds: 1_000_000_000 + Int64(number) * 20_000_000)
    }

    func publish(_ number: Int, arrives: Bool = true) {
      let now = Self.at(number + 1)
      track.append(
        PublishedTrack.Packet(
          sequence: UInt16(number), timestamp: UInt32(number) * 960, run: 0, pictureID: 0,
          tl0PictureIndex: 0, frame: UInt32(number), startsFrame: true, isKeyFrame: false, sentAt: now))
      if arrives { track.noteArrival(number, now: now, isDue: true) }
    }

    func depart(_ number: Int, as sequence: UInt16, isLost: Bool = false) {
      let (index, _) = departures.note(
        sequence: sequence, timestamp: 0, fingerprint: UInt64(sequence), now: Self.at(number + 1))
      if isLost { departures.noteLost(index) }
    }

    func receive(_ number: Int, as sequence: UInt16, timestamp: UInt32? = nil) {
      var entry = ReceivedStream.Entry()
      entry.publisher = 1
      entry.packet = UInt32(number)
      entry.frame = UInt32(number)
      entry.timestamp = timestamp ?? UInt32(number) * 960 &+ 77
      entry.sentAt = Self.at(number + 1)
      _ = stream.receive(sequence, entry, now: Self.at(number + 2))
    }

    /// All three for a packet that goes through.
    func pass(_ number: Int, as sequence: UInt16, timestamp: UInt32? = nil) {
      publish(number)
      depart(number, as: sequence)
      receive(number, as: sequence, timestamp: timestamp)
    }

    /// A packet of a track, through to the subscriber.
    /// - Parameters:
    ///   - number: of all packets, by which it has its time.
    ///   - arrives: at the subscriber.
    func pass(
      _ track: PublishedTrack, at number: Int, as sequence: UInt16, timestamp: UInt32, isKeyFrame: Bool,
      arrives: Bool = true
    ) {
      let packet = track.nextPacket
      let codec = stream.codec.codec
      track.append(
        PublishedTrack.Packet(
          sequence: UInt16(packet), timestamp: UInt32(packet) * 960, run: 0, pictureID: 0, tl0PictureIndex: 0,
          frame: UInt32(packet), startsFrame: true, isKeyFrame: isKeyFrame, codec: codec,
          sentAt: Self.at(number + 1)))
      track.noteArrival(packet, now: Self.at(number + 1), isDue: true)
      let (index, _) = departures.note(
        sequence: sequence, timestamp: timestamp, fingerprint: UInt64(sequence), now: Self.at(number + 1))
      if !arrives { return departures.noteLost(index) }
      var entry = ReceivedStream.Entry()
      entry.publisher = Int32(track.publisher)
      entry.packet = UInt32(packet)
      entry.frame = UInt32(packet)
      entry.timestamp = timestamp
      entry.isVideo = kind == .video
      entry.codec = codec
      entry.startsFrame = true
      entry.isKeyFrame = isKeyFrame
      entry.sentAt = Self.at(number + 1)
      _ = stream.receive(sequence, entry, now: Self.at(number + 2))
    }

    /// Ten packets of a hostile publisher, whose timestamps alternate and end behind the latest of them, and ten of another.
    /// - Parameters:
    ///   - sequence: the successor's first; 110 is right.
    ///   - timestamp: the successor's first; the latest before it is 1,000,000.
    ///   - isHidden: the packet with the latest timestamp never comes to the subscriber.
    func takeOver(as sequence: UInt16, timestamp: UInt32, isKeyFrame: Bool = true, isHidden: Bool = false) {
      track.isHostile = true
      for number in 0..<10 {
        pass(
          track, at: number, as: 100 + UInt16(number),
          timestamp: number == 8 ? 1_000_000 : UInt32(number) * 7,
          isKeyFrame: number == 0, arrives: !(isHidden && number == 8))
      }
      subscriber.noteFeed(0, TrackName(2, 0), now: Self.at(11))
      successor.startRun(base: 0, ssrc: 6, now: Self.at(11))
      for number in 0..<10 {
        pass(
          successor, at: 12 + number, as: sequence + UInt16(number),
          timestamp: timestamp + UInt32(number) * 960,
          isKeyFrame: isKeyFrame && number == 0)
      }
    }

    func violations() -> [String] {
      StreamAudit(
        journal: journal, subscriber: subscriber, stream: stream, departures: departures,
        track: { [track, successor] publisher, index in
          index != 0 ? nil : publisher == 1 ? track : publisher == 2 ? successor : nil
        },
        isExcused: { _, _ in false }, isCutOff: { _, _, _ in false }, end: Self.at(10_000)
      ).run()
      return journal.violations
    }
  }

  @Test func `a stream that goes through is fine`() throws {
    let story = try Story()
    for number in 0..<50 { story.pass(number, as: 100 + UInt16(number)) }
    #expect(story.violations() == [])
  }

  @Test func `a packet that the network lost on either side is fine`() throws {
    let story = try Story()
    for number in 0..<50 {
      switch number {
      case 10: story.publish(number, arrives: false)
      case 20:
        story.publish(number)
        story.depart(number, as: 120, isLost: true)
      default: story.pass(number, as: 100 + UInt16(number))
      }
    }
    #expect(story.violations() == [])
  }

  @Test func `a packet that the server swallowed is found`() throws {
    let story = try Story()
    for number in 0..<50 {
      if number == 30 { story.publish(number) } else { story.pass(number, as: 100 + UInt16(number)) }
    }
    let found = story.violations()
    #expect(found.count == 1 && found[0].contains("packet 30 of audio of 1"))
  }

  @Test func `a packet that vanished from a network that lost nothing is found`() throws {
    let story = try Story()
    for number in 0..<50 {
      if number == 30 {
        story.publish(number)
        story.depart(number, as: 130)
      } else {
        story.pass(number, as: 100 + UInt16(number))
      }
    }
    let found = story.violations()
    #expect(found.count == 1 && found[0].contains("was delivered and is missing"))
  }

  @Test func `numbers that shift within a source are found`() throws {
    let story = try Story()
    for number in 0..<50 { story.pass(number, as: (number < 25 ? 100 : 101) + UInt16(number)) }
    let found = story.violations()
    #expect(found.contains { $0.contains("numbers of audio of 1 shift by 1") })
  }

  @Test(arguments: [100, 101])
  func `numbers that jump where a source takes over are found`(start: UInt16) throws {
    let story = try Story()
    for number in 0..<50 {
      if number == 25 {
        story.subscriber.noteFeed(0, nil, now: Story.at(25))
        story.subscriber.noteFeed(0, TrackName(1, 0), now: Story.at(25))
      }
      story.pass(number, as: (number < 25 ? 100 : start) + UInt16(number))
    }
    let found = story.violations()
    #expect(found.isEmpty == (start == 100))
    #expect(found.allSatisfy { $0.contains("numbers jump from") })
  }

  @Test(arguments: [MediaKind.audio, .video])
  func `a stream that goes on behind a hostile source is no violation, and that source is not judged`(
    kind: MediaKind
  ) throws {
    for isHidden in [false, true] {
      let story = try Story(kind)
      story.takeOver(as: 110, timestamp: 1_000_960, isHidden: isHidden)
      #expect(story.violations() == [])
      #expect(story.journal.mechanisms[.hostileTakenOver] == 1)
    }
  }

  @Test(arguments: [MediaKind.audio, .video])
  func `numbers that jump behind a hostile source are found`(kind: MediaKind) throws {
    let story = try Story(kind)
    story.takeOver(as: 111, timestamp: 1_000_960)
    let found = story.violations()
    #expect(found.count == 1 && found[0].contains("takes over from a hostile one"), "\(found)")
    #expect(found[0].contains("numbers jump from"))
  }

  /// Behind the last of them it would be later; behind the latest, which may not even have come, it isn't.
  @Test(arguments: [960, 999_999, 1_000_000] as [UInt32], [false, true])
  func `a source that goes on earlier than what a hostile one showed is found`(
    timestamp: UInt32, isHidden: Bool
  ) throws {
    let story = try Story(.video)
    story.takeOver(as: 110, timestamp: timestamp, isHidden: isHidden)
    let found = story.violations()
    #expect(
      found.count == 1 && found[0].contains("timestamps go back by \(1_000_000 - timestamp)"), "\(found)")
  }

  @Test func `a picture that takes over from a hostile one without a key frame is found`() throws {
    let story = try Story(.video)
    story.takeOver(as: 110, timestamp: 1_000_960, isKeyFrame: false)
    let found = story.violations()
    #expect(found.count == 1 && found[0].contains("in the middle of things"), "\(found)")
  }

  @Test func `timestamps that shift within a source are found`() throws {
    let story = try Story()
    for number in 0..<50 {
      story.pass(number, as: 100 + UInt16(number), timestamp: UInt32(number) * 960 + (number == 40 ? 1 : 0))
    }
    #expect(story.violations().contains { $0.contains("timestamps of audio of 1 shift at") })
  }

  @Test func `an index with two ciphertexts is found, and one that comes again is not`() {
    let log = DepartureLog(number: 0, subscriber: 0, ssrc: 1)
    let now = Instant(nanoseconds: 1)
    #expect(log.note(sequence: 65_535, timestamp: 0, fingerprint: 1, now: now).1 == .first)
    // The next cycle's numbers are other indices.
    #expect(log.note(sequence: 0, timestamp: 0, fingerprint: 2, now: now).1 == .first)
    #expect(log.note(sequence: 65_535, timestamp: 0, fingerprint: 1, now: now).1 == .repeated)
    #expect(log.note(sequence: 0, timestamp: 0, fingerprint: 3, now: now).1 == .conflict)
    // Older than the first.
    #expect(log.note(sequence: 65_530, timestamp: 0, fingerprint: 4, now: now).1 == .first)
    #expect(log.note(sequence: 65_530, timestamp: 0, fingerprint: 5, now: now).1 == .conflict)
  }

  @Test func `a changed byte of a payload is found`() {
    var bytes: [UInt8] = []
    PayloadStamp(publisher: 3, track: 1, packet: 9, frame: 4, length: 77).write(to: &bytes)
    #expect(bytes.count == 77)
    #expect(bytes.withUnsafeBytes { PayloadStamp($0) }?.packet == 9)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      let read = changed.withUnsafeBytes { PayloadStamp($0) }
      // Flags and frame number are held against what was sent.
      #expect(read == nil || (12...17).contains(index), "byte \(index)")
    }
    #expect(Array(bytes.dropLast()).withUnsafeBytes { PayloadStamp($0) } == nil)
  }

  @Test func `the tap reports media to an address that answered no check`() {
    var tap = NetworkTap()
    let address = SocketAddress(ipv4: 192, 0, 2, 1, port: 9)
    tap.noteArrival(Array(repeating: 0, count: 100), from: address)
    #expect(tap.noteDeparture(Array(repeating: 0, count: 300), to: address) == nil)
    #expect(tap.noteDeparture([0], to: address) != nil)
    #expect(tap.noteDeparture([128], to: address) != nil)
    tap.noteArrival([1, 1] + Array(repeating: 0, count: 18), from: address)
    #expect(tap.noteDeparture(Array(repeating: 128, count: 1_000), to: address) == nil)
  }
}
