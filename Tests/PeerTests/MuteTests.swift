import Model
import Testing
import Wire

@testable import Media
@testable import Peer
@testable import Transport

@Suite("Muted tracks and the quality of a path", .timeLimit(.minutes(2)))
struct MuteTests {
  typealias Far = ConnectedPeer

  @Test func `what is muted goes no further, and begins again when it is let go, also in a rebuilt peer`()
    throws
  {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1), Far.section(1, .audio, ssrc: 2)]))
    #expect(far.send(ssrc: 1, payloadType: 96)?.restart == 0)
    far.peer.setMuted(receiver: 0, true)
    far.peer.setMuted(receiver: 0, true)
    far.peer.setMuted(receiver: 7, true)
    try far.rebuild()
    #expect(far.send(ssrc: 1, payloadType: 96) == nil && far.dropped(.trackMuted) == 1)
    #expect(far.send(ssrc: 2, payloadType: 111) != nil, "only that one")
    far.peer.setMuted(receiver: 0, false)
    far.peer.setMuted(receiver: 0, false)
    try far.rebuild()
    let first = try #require(far.send(ssrc: 1, payloadType: 96))
    // Numbers go on, so that what was before isn't taken for new; streams are anchored again.
    #expect(first.restart == 1 && first.extendedSequence & 0xFFFF == 102)
  }

  @Test func `a mute is the track's: encodings that it has new, under names or sources, are muted too`()
    throws
  {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1), Far.section(1, .audio, ssrc: 2)]))
    var traits = TrackTraits()
    traits.insert(.encrypted)
    far.peer.session.setTraits(track: 0, traits)
    far.peer.setMuted(receiver: 0, true)
    for encodings in [
      [1, 3, 4].map { ReceiveEncoding(ssrc: $0) }, ["f", "h", "q"].map { ReceiveEncoding(rid: $0) },
      [ReceiveEncoding(ssrc: 1)],
    ] {
      var section = Far.section(0)
      section.encodings = encodings
      far.apply(AgreedMedia(receive: [section, Far.section(1, .audio, ssrc: 2)]))
      for index in encodings.indices {
        let receiver = far.peer.session.receiving.pointer(0).pointee.encoding(index).pointee.receiver
        #expect(receiver.isMuted && receiver.word.isEncrypted)
      }
      for ssrc in encodings.compactMap(\.ssrc) { #expect(far.send(ssrc: ssrc, payloadType: 96) == nil) }
    }
    #expect(far.dropped(.trackMuted) == 4 && far.send(ssrc: 2, payloadType: 111) != nil)
    far.peer.setMuted(receiver: 0, false)
    #expect(far.send(ssrc: 1, payloadType: 96) != nil)
  }

  @Test func `sound at more than any codec takes goes no further, and no other track suffers`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1), Far.section(1, .audio, ssrc: 2)]))
    let payload = [UInt8](repeating: 7, count: 1_000)
    var (sound, pictures) = (0, 0)
    // 4 Mbit/s of each for three seconds.
    for _ in 0..<1_500 {
      far.now = far.now + .milliseconds(2)
      if far.send(ssrc: 2, payloadType: 111, payload: payload) != nil { sound += 1 }
      if far.send(ssrc: 1, payloadType: 96, payload: [0x10, 0x00] + payload) != nil { pictures += 1 }
    }
    // 70 kB a second, and a fifth of that at once.
    #expect(sound > 210 && sound < 235 && pictures == 1_500)
    #expect(far.dropped(.soundOverRate) == UInt64(1_500 - sound))
    far.now = far.now + .seconds(1)
    #expect(far.send(ssrc: 2, payloadType: 111) != nil, "it comes back by itself")
  }

  @Test func `what was lost while a track was muted is not asked for afterwards`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    far.send(ssrc: 1, payloadType: 96, sequence: 100)
    far.peer.setMuted(receiver: 0, true)
    far.send(ssrc: 1, payloadType: 96, sequence: 110)
    #expect(far.peer.session.receiving.pointer(0).pointee.encoding(0).pointee.receiver.deadline < .never)
    far.peer.setMuted(receiver: 0, false)
    // A key frame is requested, nothing else.
    var asked = 0
    far.peer.session.receiving.pointer(0).pointee.encoding(0).pointee.receiver.missing(
      now: far.now + .seconds(1), roundTrip: .zero
    ) {
      _ in
      asked += 1
    }
    #expect(asked == 0)
    let isDue = far.peer.session.receiving.pointer(0).pointee.encoding(0).pointee.receiver.keyFrameDue(
      now: far.now + .seconds(1))
    #expect(isDue == .pictureLoss)
  }

  @Test func `a late packet behind an unmute makes nothing missing that has come`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    for sequence in [100, 102, 103, 104] as [UInt16] {
      far.send(ssrc: 1, payloadType: 96, sequence: sequence)
    }
    far.peer.setMuted(receiver: 0, true)
    far.peer.setMuted(receiver: 0, false)
    far.send(ssrc: 1, payloadType: 96, sequence: 101)
    far.send(ssrc: 1, payloadType: 96, sequence: 105)
    var asked: [UInt16] = []
    far.peer.session.receiving.pointer(0).pointee.encoding(0).pointee.receiver.missing(
      now: far.now + .seconds(1), roundTrip: .zero
    ) {
      asked.append($0)
    }
    #expect(asked.isEmpty)
  }

  @Test func `the codec of a track is that of its last packet`() throws {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    #expect(far.peer.format(ofReceiver: 0) == nil && far.peer.format(ofReceiver: 3) == nil)
    far.send(ssrc: 1, payloadType: 96)
    try far.rebuild()
    #expect(far.peer.format(ofReceiver: 0) == .vp8)
  }

  @Test func `a peer's bit rates count what came and what went, and are given when all falls silent`() throws
  {
    let far = try Far(AgreedMedia(receive: [Far.section(0, ssrc: 1)]))
    for number in 0..<50 { far.send(ssrc: 1, payloadType: 96, sequence: UInt16(100 + number)) }
    #expect(far.peer.quality.bitrates == Bitrates())
    far.now = far.now + .seconds(1)
    far.reportsAreDue()
    far.peer.poll(now: far.now, context: &far.context)
    let rates = far.peer.quality.bitrates
    #expect(rates.received > 50 * 30 * 8 / 2)
    far.now = far.now + .seconds(1)
    far.reportsAreDue()
    far.peer.poll(now: far.now, context: &far.context)
    #expect(far.peer.quality.bitrates.received == 0)
  }
}
