package import Model
internal import Wire

/// One slot as its subscriber receives it: asks for what is missing and keeps a record of what came.
package final class ReceivedStream {
  package struct Entry {
    /// -1 where nothing came.
    package var publisher: Int32 = -1
    package var track: UInt8 = 0
    package var viaRTX = false
    package var startsFrame = false
    package var isKeyFrame = false
    /// The marker of its packet is set.
    package var isMarked = false
    package var isVideo = false
    package var codec = Codec.opus
    package var tl0PictureIndex: UInt8 = 0
    /// See `FrameMark`.
    package var pictureID: UInt16 = 0
    package var pictureMask: UInt16 = 0
    /// The dependency descriptor as it came; empty where there was none.
    package var descriptor: [UInt8] = []
    package var frameNumber: UInt16 = 0
    package var packet: UInt32 = 0
    package var frame: UInt32 = 0
    package var timestamp: UInt32 = 0
    /// When the server sent the copy that came first.
    package var sentAt = Instant.never
    /// When that copy came.
    package var receivedAt = Instant.never

    package var trackName: TrackName { TrackName(Int(publisher), Int(track)) }
  }

  private struct Missing {
    var sequence: Int64
    var since: Instant
    var due: Instant
    var tries = 0
  }

  static let reorderingWait: Int64 = 12_000_000
  /// Nanoseconds after which it asks again.
  package static let retry: Int64 = 80_000_000
  static let giveUpAfter: Int64 = 4_000_000_000
  /// A gap beyond this is answered by a key frame.
  package static let gapLimit: Int64 = 200
  /// Before the first packet, for those that were overtaken by it.
  private static let lead: Int64 = 1_024

  package let section: ReceiveSection
  package let codec: NegotiatedCodec
  package let ssrc: UInt32
  package let rtxSSRC: UInt32?
  /// The journal's log of the stream's departures, and of its retransmissions'.
  package let log: Int
  /// Before the answer came that names it, its packets belong to no stream.
  package let knownSince: Instant
  package private(set) var entries: [Entry] = []
  package private(set) var base: Int64 = 0
  package private(set) var highest: Int64 = .min
  /// What came first; nothing before it is asked for.
  package private(set) var first: Int64 = .min
  package private(set) var received: UInt32 = 0
  /// Its section was stopped: nothing is asked for or reported any more.
  package var isOver = false {
    didSet {
      guard isOver else { return }
      missing = []
      nextRequest = .never
    }
  }
  private var missing: [Missing] = []
  private(set) var nextRequest = Instant.never
  /// Sequence numbers that were never asked for, as too many were missing at once.
  package private(set) var notAskedFor: Set<Int64> = []
  var wantsKeyFrame = false
  private var rtxPackets: UInt64 = 0
  /// The last sender report, for report blocks.
  private var expectedAtReport: UInt32 = 0
  private var receivedAtReport: UInt32 = 0
  private var lastReport: (middle: UInt32, at: Instant)?

  package init(section: ReceiveSection, log: Int, knownSince: Instant = Instant(nanoseconds: 0)) {
    self.section = section
    self.knownSince = knownSince
    self.log = log
    codec = section.codecs[0]
    ssrc = section.ssrc ?? 0
    rtxSSRC = section.rtxSSRC
  }

  /// Drops the record of all but the last packets; what comes of them from now on is `farBefore`.
  package func forget(keeping packets: Int) {
    guard entries.count > 2 * packets else { return }
    let old = entries.count - packets
    entries.removeFirst(old)
    base += Int64(old)
    missing.removeAll { $0.sequence < base }
    notAskedFor = []
  }

  package enum Arrival: Equatable {
    case fresh(extended: Int64)
    /// The same content as before, by another way.
    case again(cameAsRTX: Bool)
    /// The number has come before with other content.
    case conflict(extended: Int64)
    case farBefore
  }

  package func receive(_ sequence: UInt16, _ entry: Entry, now: Instant) -> Arrival {
    var extended = Int64(sequence) + 0x1_0000
    if highest == .min {
      base = extended - Self.lead
      highest = extended
      first = extended
      wantsKeyFrame = section.kind == .video && !entry.isKeyFrame
    } else {
      extended = highest + Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest)))
    }
    guard extended >= base else { return .farBefore }
    let index = Int(extended - base)
    while entries.count <= index { entries.append(Entry()) }
    if entries[index].publisher >= 0 {
      let known = entries[index]
      let isSame =
        known.publisher == entry.publisher && known.track == entry.track && known.packet == entry.packet
        && known.timestamp == entry.timestamp && known.pictureID == entry.pictureID
        && known.tl0PictureIndex == entry.tl0PictureIndex
      return isSame ? .again(cameAsRTX: known.viaRTX) : .conflict(extended: extended)
    }
    entries[index] = entry
    entries[index].receivedAt = now
    received &+= 1
    if extended > highest {
      noteGap(to: extended, now: now)
      highest = extended
    } else {
      missing.removeAll { $0.sequence == extended }
    }
    return .fresh(extended: extended)
  }

  private func noteGap(to extended: Int64, now: Instant) {
    let gap = extended - highest - 1
    guard gap > 0, !isOver else { return }
    guard gap <= Self.gapLimit, codec.nack else {
      for sequence in (highest + 1)..<extended { notAskedFor.insert(sequence) }
      if section.kind == .video { wantsKeyFrame = true }
      return
    }
    let due = now.advanced(byNanoseconds: Self.reorderingWait)
    for sequence in (highest + 1)..<extended {
      missing.append(Missing(sequence: sequence, since: now, due: due))
    }
    nextRequest = min(nextRequest, due)
  }

  /// Sequence numbers to be asked for now, in order.
  package func requests(now: Instant) -> [UInt16] {
    guard nextRequest <= now else { return [] }
    var wanted: [UInt16] = []
    nextRequest = .never
    missing.removeAll { entry in
      guard now.nanoseconds - entry.since.nanoseconds >= Self.giveUpAfter else { return false }
      wantsKeyFrame = true
      return true
    }
    for index in missing.indices {
      if missing[index].due <= now, wanted.count < 60 {
        wanted.append(UInt16(truncatingIfNeeded: missing[index].sequence))
        missing[index].tries += 1
        missing[index].due = now.advanced(byNanoseconds: Self.retry)
      }
      nextRequest = min(nextRequest, missing[index].due)
    }
    return wanted
  }

  func noteReport(_ report: SenderReport, now: Instant) { lastReport = (report.ntp.middle, now) }

  func reportBlock(now: Instant) -> ReportBlock? {
    guard highest != .min, !isOver else { return nil }
    let delay = lastReport.map { (now.nanoseconds - $0.at.nanoseconds) / 1_000 * 65_536 / 1_000_000 } ?? 0
    // RFC 3550 A.3.
    let expected = UInt32(truncatingIfNeeded: highest - first + 1)
    let wanted = expected &- expectedAtReport
    let found = received &- receivedAtReport
    expectedAtReport = expected
    receivedAtReport = received
    let fraction = wanted > found ? (wanted &- found) &* 256 / wanted : 0
    return ReportBlock(
      ssrc: ssrc, fractionLost: UInt8(clamping: fraction),
      highestSequence: UInt32(truncatingIfNeeded: highest),
      lastSenderReport: lastReport?.middle ?? 0,
      delaySinceLastSenderReport: UInt32(clamping: delay))
  }

  /// nil where nothing came.
  package subscript(extended: Int64) -> Entry? {
    let index = Int(extended - base)
    guard index >= 0, index < entries.count, entries[index].publisher >= 0 else { return nil }
    return entries[index]
  }

  /// Whether the number is still being asked for.
  package func isAwaited(_ extended: Int64) -> Bool { missing.contains { $0.sequence == extended } }
}
