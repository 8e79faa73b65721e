public import Congestion
public import Model
internal import Wire

/// What one peer publishes and gets: its tracks by their sections, its slots with their forwarders, and the RTCP that
/// speaks of both.
///
/// Plain packets come in, plain packets go out; whose keys seal them, and on which path they travel, is another's matter.
/// So a conference's media logic runs without a handshake.
///
///     RTP  ──▶ section ──▶ track ──▶ to be forwarded          slot ──▶ select ──▶ depart ──▶ RTP
///     RTCP ──▶ reports, requests ──▶ effects                  what is due ──▶ RTCP
public struct MediaSession: ~Copyable {
  /// Tracks, and slots, that one session ever has; sections beyond are ignored.
  public static let sectionLimit = 1_024

  /// What was agreed on last.
  public internal(set) var agreed = AgreedMedia()
  /// The source under which reports and requests are sent that are no stream's.
  let reportSSRC: UInt32

  var receiving = OwnedArray<ReceivingSection>()
  @usableFromInline var slots = OwnedArray<SendingSlot>()
  var streams = StreamMap()
  /// The names of the sections that are there, apart from them: a stream that isn't known is compared with all.
  var mids: [NamedSection] = []
  /// SSRCs that we send under, with their slots.
  var ours: [UInt32: Int] = [:]
  var clocks = PublisherClocks()
  /// Ids of all extensions that come in, whatever the section: in one bundle an id means one thing.
  var incoming = HeaderExtensionMap()
  /// Some of them go on to subscribers.
  var carriesExtensions = false
  var arrivals = ArrivalFeedback()
  /// The same by stream, for peers that know no transport-wide numbers.
  var streamArrivals = StreamFeedback()
  /// Transport-wide feedback names some stream of the sender.
  var feedbackSSRC: UInt32 = 0
  @usableFromInline var timers = SessionTimers()
  /// To the peer and back, from its reports or our checks.
  public internal(set) var roundTrip = Duration.milliseconds(100)
  var losses = LossTally()
  /// What the path to the peer carries, where it reports on what is sent to it.
  public internal(set) var estimator = BandwidthEstimator()
  /// What else is known of the path, either way.
  var path = PathWord()
  /// What is sent has transport-wide numbers.
  var numbersPackets = false
  /// The peer says of its streams what arrived of each (RFC 8888).
  public private(set) var hearsStreams = false

  /// - Parameter reportSSRC: of our reports and requests.
  public init(reportSSRC: UInt32) { self.reportSSRC = reportSSRC }

  /// Takes what was agreed on. A track or slot is its section's index: sections that are still there keep
  /// their streams, those that are gone fall silent for good, new ones are added.
  /// - Returns: the slots that are gone.
  public mutating func apply(
    _ new: AgreedMedia, random: inout RandomSource, context: inout MediaContext
  ) -> [Int] {
    for section in new.receive where section.index < Self.sectionLimit {
      makeTracks(below: Int(section.index) + 1)
      receiving.pointer(Int(section.index)).pointee.apply(section)
    }
    for section in new.send where section.index < Self.sectionLimit {
      makeSlots(below: Int(section.index) + 1)
      slots.pointer(Int(section.index)).pointee.apply(section, random: &random)
    }
    let gone = (0..<slots.count).filter { slot in
      slots.pointer(slot).pointee.isAgreed && !new.send.contains { Int($0.index) == slot }
    }
    sayGoodbye(gone, isAll: false, &context)
    describe(new, &context.streamChanges)
    return gone
  }

  /// Makes places for tracks, which are no section's until theirs comes.
  mutating func makeTracks(below count: Int) {
    while receiving.count < count { receiving.append(ReceivingSection()) }
  }
  mutating func makeSlots(below count: Int) {
    while slots.count < count { slots.append(SendingSlot()) }
  }

  /// Everything that is derived from the sections.
  mutating func describe(_ said: AgreedMedia, _ changes: inout [StreamChange]) {
    let new = said.keepingSizes(of: agreed)
    agreed = new
    incoming = HeaderExtensionMap()
    let oldClocks = clocks
    clocks = PublisherClocks()
    for index in 0..<receiving.count { receiving.pointer(index).pointee.describe(nil, clock: 0) }
    for section in new.receive where section.index < receiving.count {
      for kind in HeaderExtension.allCases where section.extensions[kind] != 0 {
        incoming[kind] = section.extensions[kind]
      }
      receiving.pointer(Int(section.index)).pointee.describe(
        section, clock: clocks.place(of: section.cname, old: oldClocks))
    }
    for index in 0..<receiving.count { receiving.pointer(index).pointee.release() }
    mids = new.receive.compactMap { section in
      guard section.index < receiving.count, let mid = MIDBytes(section.mid) else { return nil }
      return NamedSection(mid: mid, section: Int(section.index))
    }
    for slot in 0..<slots.count { slots.pointer(slot).pointee.isAgreed = false }
    ours = [:]
    for section in new.send where section.index < slots.count {
      slots.pointer(Int(section.index)).pointee.isAgreed = true
      ours[section.ssrc] = Int(section.index)
      if let rtxSSRC = section.rtxSSRC { ours[rtxSSRC] = Int(section.index) }
    }
    carriesExtensions = incoming.hasCarried
    numbersPackets = (0..<slots.count).contains {
      slots.pointer($0).pointee.isAgreed && slots.pointer($0).pointee.forwarder.extensions.hasNumber
    }
    if probingSlot == nil { estimator.ceaseProbes() }
    hearsStreams = !numbersPackets && new.send.contains { $0.codecs.contains(where: \.ccfb) }
    streamArrivals.isWanted = new.receive.contains { $0.codecs.contains(where: \.ccfb) }
    // Streams of sections that are gone, or have other streams now, are forgotten.
    let oldStreams = streams.all
    streams.removeAll()
    bindAll(&changes)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.streamKept) { return }
    #endif
    for old in oldStreams where streams.find(old.ssrc) == nil {
      changes.append(StreamChange(ssrc: old.ssrc, isMapped: false))
    }
  }

  /// Indices of tracks and slots are below these; some may be gone.
  public var trackCount: Int { receiving.count }
  public var slotCount: Int { slots.count }
  /// SSRCs that are mapped to tracks.
  public var streamCount: Int { streams.count }
  /// nil for a track or slot that is gone or never was.
  public func kind(ofTrack index: Int) -> MediaKind? {
    index >= 0 && index < receiving.count ? receiving.pointer(index).pointee.section?.kind : nil
  }
  public func kind(ofSlot index: Int) -> MediaKind? {
    guard index >= 0, index < slots.count, slots.pointer(index).pointee.isAgreed else { return nil }
    return slots.pointer(index).pointee.section.kind
  }
}

/// What a packet of a section calls it.
struct NamedSection {
  let mid: MIDBytes
  let section: Int
}

/// When a session has something to say.
@usableFromInline
struct SessionTimers: BitwiseCopyable {
  var reports = Instant.never
  /// Of slots whose codec has another clock since a short time.
  var clockReports = Instant.never
  /// When requests for packets and key frames or arrival feedback are due; early at worst.
  @usableFromInline var feedback = Instant.never
}
