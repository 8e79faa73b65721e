internal import Congestion
internal import Model
internal import Wire

/// Regular compounds: each begins with a report and holds a name, also where less was agreed on (RFC 5506 §4.2.1).
extension MediaSession {
  /// Regular reports: RFC 3550 §6.2 would have them rarer at low rates; WebRTC's receivers expect about this.
  static let reportInterval = Duration.seconds(1)
  static let firstReport = Duration.milliseconds(300)
  /// Between reports of a slot whose codec has another clock since a short time.
  static let clockReportInterval = Duration.milliseconds(50)
  /// Streams that one estimate names.
  private static let estimateLimit = 32

  /// Sender reports of all slots that send, and report blocks on all streams that come in.
  mutating func sendReports(now: Instant, ratesChanged: Bool, _ context: inout MediaContext) {
    var writer = RTCPWriter(into: context.output.reserve())
    let source = appendSenderReports(&writer, isOwed: false, now: now, &context)
    let isSaid = finishReports(&writer, source: source, now: now, &context)
    // Where nothing flows either way too: when the peer was last heard shows whether it is still there.
    context.effects.noteQuality()
    guard isSaid || ratesChanged else { return }
    tallyLoss()
    scheduleClockReports(now: now)
  }

  /// Sender reports of slots whose codec has another clock since a short time.
  mutating func sendClockReports(now: Instant, _ context: inout MediaContext) {
    var writer = RTCPWriter(into: context.output.reserve())
    let source = appendSenderReports(&writer, isOwed: true, now: now, &context)
    context.output.commit(size: writer.size, source: source)
    scheduleClockReports(now: now)
  }

  private mutating func scheduleClockReports(now: Instant) {
    timers.clockReports = .never
    for slot in 0..<slots.count
    where slots.pointer(slot).pointee.isAgreed && slots.pointer(slot).pointee.forwarder.owesReports {
      timers.clockReports = now + Self.clockReportInterval
    }
  }

  /// - Parameter isOwed: leaves out slots that owe no reports.
  /// - Returns: the source that the compound begins with.
  private mutating func appendSenderReports(
    _ writer: inout RTCPWriter, isOwed: Bool, now: Instant, _ context: inout MediaContext
  ) -> UInt32 {
    var source = reportSSRC
    for slot in 0..<slots.count where slots.pointer(slot).pointee.isAgreed {
      let sender = slots.pointer(slot)
      guard !isOwed || sender.pointee.forwarder.owesReports,
        let report = sender.pointee.forwarder.senderReport(now: now, epoch: context.epoch)
      else { continue }
      let cname = sender.pointee.section.cname
      // A report and its name stay together; when they don't fit any more the next compound begins.
      #if PLANTED_DEFECTS
        let name = PlantedDefect.isOn(.compoundOverfull) ? 0 : 16 + cname.utf8.count
      #else
        let name = 16 + cname.utf8.count
      #endif
      if writer.size + 28 + name > CompoundOutput.compoundSize {
        context.output.commit(size: writer.size, source: source)
        writer = RTCPWriter(into: context.output.reserve())
      }
      #if PLANTED_DEFECTS
        let isFirst = writer.size == 0 && !(PlantedDefect.isOn(.secondCompound) && source != reportSSRC)
      #else
        let isFirst = writer.size == 0
      #endif
      if isFirst { source = report.ssrc }
      writer.append(report)
      writer.append(cname: cname, ssrc: report.ssrc)
    }
    return source
  }

  /// Appends blocks on what comes in to the slots' reports, and sends it all.
  /// - Returns: false if there was nothing to be said.
  private mutating func finishReports(
    _ writer: inout RTCPWriter, source: UInt32, now: Instant, _ context: inout MediaContext
  ) -> Bool {
    var source = source
    var opened = false
    // What follows the blocks of a compound has its place kept.
    let room = CompoundOutput.compoundSize - Self.headSize
    var cursor = EncodingCursor()
    while let encoding = cursor.next(in: receiving) {
      guard let block = encoding.pointee.receiver.reportBlock(now: now) else { continue }
      if opened && writer.size + ReportBlock.size <= room && writer.append(block) != nil { continue }
      if writer.size + 8 + ReportBlock.size > room {
        if opened { writer.append(cname: reportName, ssrc: reportSSRC) }
        context.output.commit(size: writer.size, source: source)
        writer = RTCPWriter(into: context.output.reserve())
      }
      if writer.size == 0 { source = reportSSRC }
      writer.append(ReceiverReport(ssrc: reportSSRC))
      writer.append(block)
      opened = true
    }
    if opened { writer.append(cname: reportName, ssrc: reportSSRC) }
    guard writer.size > 0 else { return false }
    if writer.size + 20 + 4 * Self.estimateLimit > CompoundOutput.compoundSize {
      context.output.commit(size: writer.size, source: source)
      writer = RTCPWriter(into: context.output.reserve())
      source = reportSSRC
      appendHead(&writer)
    }
    appendEstimate(&writer, now: now, context)
    context.output.commit(size: writer.size, source: source)
    return true
  }

  /// What senders may use that adapt by nothing else.
  mutating func appendEstimate(_ writer: inout RTCPWriter, now: Instant, _ context: borrowing MediaContext) {
    var ssrcs: InlineArray<32, UInt32> = InlineArray(repeating: 0)
    var count = 0
    var cursor = EncodingCursor()
    while count < Self.estimateLimit, let encoding = cursor.next(in: receiving) {
      guard encoding.pointee.receiver.usesEstimate, encoding.pointee.receiver.isStarted,
        let ssrc = encoding.pointee.receiver.ssrc
      else { continue }
      ssrcs[count] = ssrc
      count += 1
    }
    guard count > 0 else { return }
    writer.append(
      estimate: allowedBitrate(context), for: ssrcs.span.extracting(0..<count), sender: reportSSRC)
    path.sendTimes.noteSent(now: now)
  }

  // MARK: - Goodbye

  /// Says that streams of ours end (RFC 3550 §6.6).
  private mutating func sayGoodbye(to ssrcs: Span<UInt32>, _ context: inout MediaContext) {
    var writer = RTCPWriter(into: context.output.reserve())
    appendHead(&writer)
    writer.append(goodbye: ssrcs)
    context.output.commit(size: writer.size, source: reportSSRC)
  }

  /// The slots' streams end, and so does the source of our reports, if they are all.
  mutating func sayGoodbye(_ indices: [Int], isAll: Bool, _ context: inout MediaContext) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.noGoodbye), !isAll { return }
    #endif
    var ssrcs: InlineArray<31, UInt32> = InlineArray(repeating: 0)
    var count = 0
    for slot in indices {
      let section = slots.pointer(slot).pointee.section
      for ssrc in [section.ssrc, section.rtxSSRC].compactMap({ $0 }) {
        ssrcs[count] = ssrc
        count += 1
        guard count == 31 else { continue }
        sayGoodbye(to: ssrcs.span, &context)
        count = 0
      }
    }
    if isAll {
      ssrcs[count] = reportSSRC
      count += 1
    }
    if count > 0 { sayGoodbye(to: ssrcs.span.extracting(0..<count), &context) }
  }

  /// The peer is about to be closed.
  public mutating func sayGoodbye(context: inout MediaContext) {
    sayGoodbye((0..<slots.count).filter { slots.pointer($0).pointee.isAgreed }, isAll: true, &context)
  }
}
