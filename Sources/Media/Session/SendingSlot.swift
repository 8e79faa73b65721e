internal import Congestion
internal import Model

/// What a subscriber gets in one of its sections: the forwarder, and what was agreed on.
@usableFromInline
struct SendingSlot: ~Copyable {
  @usableFromInline var forwarder: Forwarder
  private(set) var section: SendSection
  /// False once the section is gone: the stream is silent for good.
  var isAgreed = false
  /// No state: what is lost is heard again.
  @usableFromInline var redundancy = Redundancy()
  /// How its subscriber shows what it gets.
  var picture = PicturePreference()
  /// What the last allocation left; no state: it is learnt again.
  var memory = SlotMemory()
  /// What it may ask of its publisher. No state: it begins again.
  var keyFrames = KeyFrameAllowance()
  /// Pauses and cuts that end, other encodings and layers of size, each of which begins with a key frame. No state, like the one above.
  var beginnings = RateLimit(rate: 0.5, burst: 10)
  /// The last of them that leads to another encoding or layer, and until when it is good. No state.
  var crossing: (way: EncodingCrossing, until: Instant)?
  /// A choice that is in doubt goes to and fro for so long without paying again.
  static let doubt = Duration.seconds(1)
  /// It waits for a key frame of which its source could not be asked yet.
  var isUnasked = false
  /// No state: they are counted again.
  var cuts = StreamCuts()
  /// What leaves of it, as it was last weighed. No state: it is measured again.
  var left = LeavingRate()
  /// Since when there is no room for the encoding that it shows, while it waits for a lower one's key frame.
  var shedsSince: Instant?
  /// So long it may go on.
  static let patience = Duration.milliseconds(500)

  init(_ section: SendSection, random: inout RandomSource) {
    self.section = section
    forwarder = Forwarder(section, random: &random)
    redundancy.apply(section)
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
    redundancy.apply(section)
  }

  func encode(into writer: inout StateWriter) {
    writer.write(Forwarder.stateVersion)
    forwarder.encode(into: &writer)
    picture.encode(into: &writer)
  }

  init(_ section: SendSection, from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("slot", upTo: Forwarder.stateVersion)
    let read = try Forwarder(section, from: &reader, version: version)
    let picture = version > 1 ? try PicturePreference(from: &reader) : PicturePreference()
    self.section = section
    forwarder = read
    redundancy.apply(section)
    self.picture = picture
  }
}
