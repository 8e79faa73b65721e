internal import Model
internal import Wire

/// What is received in one section of the description: its track, and by what its packets are known to be its own.
///
/// A section keeps its place. One that is gone has no description.
struct ReceivingSection: ~Copyable {
  /// The encoding that the section takes; nil where it has only one.
  private(set) var ridBytes: MIDBytes?
  /// As agreed on last; nil while the section is gone.
  private(set) var section: ReceiveSection?
  /// When its stream last got another SSRC.
  var reboundAt = Instant(nanoseconds: .min / 2)
  /// Its place among the session's clocks.
  private(set) var clock = 0
  var receiver: TrackReceiver

  /// A place whose section may come later.
  init() {
    self.init(
      TrackReceiver(
        ReceiveSection(index: 0, mid: "", kind: .audio, codecs: [], extensions: HeaderExtensionMap())))
  }

  private init(_ receiver: TrackReceiver) { self.receiver = receiver }

  var isAgreed: Bool { section != nil }

  /// Takes what was agreed on, or that the section is gone.
  mutating func describe(_ agreed: ReceiveSection?, clock: Int) {
    section = agreed
    self.clock = clock
    ridBytes = agreed?.rid.flatMap { MIDBytes($0) }
  }

  private static let stateVersion: UInt8 = 1

  /// Everything but the section, which the session keeps.
  func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    receiver.encode(into: &writer)
  }

  init(_ agreed: ReceiveSection, from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("receiving section", upTo: Self.stateVersion)
    self.init(try TrackReceiver(agreed, from: &reader))
  }
}
