internal import Crypto
internal import Media
internal import Model

/// A slot's forwarder with what sealing its two streams needs.
struct SlotSender: ~Copyable {
  // What every packet needs comes first and close together.
  /// One index, one packet: for the media stream and its retransmissions.
  var mediaGuard = SealGuard()
  /// Sealed packets, for subscribers that ask again without a retransmission stream: the same bytes go out once
  /// more, because sealing anew under the same index is forbidden.
  var sealed: PacketHistory?
  var forwarder: Forwarder
  var rtxGuard = SealGuard()
  var section: SendSection

  init(_ section: SendSection, random: inout RandomSource) {
    self.section = section
    forwarder = Forwarder(section, random: &random)
    keepSealedIfNeeded()
  }

  mutating func apply(_ section: SendSection, random: inout RandomSource) {
    // A place held for an index that came later: the real section brings its own stream.
    guard section.ssrc == self.section.ssrc else {
      self = SlotSender(section, random: &random)
      return
    }
    self.section = section
    forwarder.apply(section)
    keepSealedIfNeeded()
  }

  private mutating func keepSealedIfNeeded() {
    let needed = section.codecs.contains { $0.nack && ($0.rtxPayloadType == nil || section.rtxSSRC == nil) }
    guard needed, sealed == nil else { return }
    sealed = PacketHistory(packets: 256, bytes: section.kind == .video ? 256 * 1_024 : 32 * 1_024)
  }

  func encode(into writer: inout StateWriter) {
    forwarder.encode(into: &writer)
    mediaGuard.encode(into: &writer)
    rtxGuard.encode(into: &writer)
  }

  /// The sealed packets themselves are not state: who asks for one from before gets none.
  init(_ section: SendSection, from reader: inout StateReader) throws(StateError) {
    var unused = RandomSource.seeded(state: 0)
    self.init(section, random: &unused)
    forwarder = try Forwarder(section, from: &reader)
    mediaGuard = try SealGuard(from: &reader)
    rtxGuard = try SealGuard(from: &reader)
  }
}
