internal import Congestion
internal import Model

/// What a subscriber gets in one of its sections: the forwarder, and what was agreed on.
@usableFromInline
struct SendingSlot: ~Copyable {
  @usableFromInline var forwarder: Forwarder
  private(set) var section: SendSection
  /// False once the section is gone: the stream is silent for good.
  var isAgreed = false
  /// How its subscriber shows what it gets.
  var picture = PicturePreference()
  /// What the last allocation left; no state: it is learnt again.
  var memory = SlotMemory()

  init(_ section: SendSection, random: inout RandomSource) {
    self.section = section
    forwarder = Forwarder(section, random: &random)
  }

  /// A place whose section may come later, and brings its stream's beginning.
  init() {
    var unused = RandomSource.seeded(state: 0)
    self.init(
      SendSection(
        index: 0, mid: "", kind: .audio, codecs: [], extensions: HeaderExtensionMap(), ssrc: 0, rtxSSRC: nil,
        cname: "", streamID: ""), random: &unused)
  }

  mutating func apply(_ section: SendSection, random: inout RandomSource) {
    // A place for an index that came later: the real section brings its own stream.
    guard section.ssrc == self.section.ssrc else {
      self = SendingSlot(section, random: &random)
      return
    }
    self.section = section
    forwarder.apply(section)
  }

  /// Since 2 with the encodings of the source, since 3 with its decode targets.
  private static let stateVersion: UInt8 = 3

  func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    forwarder.encode(into: &writer)
    picture.encode(into: &writer)
  }

  init(_ section: SendSection, from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("slot", upTo: Self.stateVersion)
    let read = try Forwarder(section, from: &reader, version: version)
    let picture = version > 1 ? try PicturePreference(from: &reader) : PicturePreference()
    self.section = section
    forwarder = read
    self.picture = picture
  }
}
