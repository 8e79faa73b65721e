internal import Media
internal import Model
internal import Wire

/// What is received in one section of the description: its track, and by what its packets are known to be its own.
///
/// A section has its place for life. One that is gone keeps it, without a description.
struct ReceivingSection: ~Copyable {
  // What a packet that names its section is compared with comes first and close together.
  private(set) var midBytes: MIDBytes?
  /// The encoding that the section takes; nil where it has only one.
  private(set) var ridBytes: MIDBytes?
  /// As agreed on last; nil while the section is gone.
  private(set) var section: ReceiveSection?
  /// When its stream last got another SSRC.
  var reboundAt = Instant(nanoseconds: .min / 2)
  /// Among its transport's clocks.
  var clockIndex = 0
  var receiver: TrackReceiver

  /// A place whose section may come later.
  init() {
    receiver = TrackReceiver(
      ReceiveSection(index: 0, mid: "", kind: .audio, codecs: [], extensions: HeaderExtensionMap()))
  }

  var isAgreed: Bool { section != nil }

  /// Takes what was agreed on, or that the section is gone.
  mutating func describe(_ agreed: ReceiveSection?) {
    section = agreed
    midBytes = agreed.flatMap { MIDBytes($0.mid) }
    ridBytes = agreed?.rid.flatMap { MIDBytes($0) }
  }
}
