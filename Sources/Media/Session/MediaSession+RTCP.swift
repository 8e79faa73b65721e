internal import Congestion
public import Model
internal import Wire

/// What the far end's compounds say.
extension MediaSession {
  /// Takes a plain compound of RTCP.
  public mutating func receive(
    rtcp compound: UnsafeRawBufferPointer, now: Instant, context: inout MediaContext
  ) {
    var reader = RTCPReader(compound)
    do throws(RTCPError) {
      while let packet = try reader.next() { try receive(packet, now: now, &context) }
    } catch {
      context.counters.count(.rtcpMalformed)
    }
  }

  private mutating func receive(
    _ packet: RTCPPacket, now: Instant, _ context: inout MediaContext
  ) throws(RTCPError) {
    switch packet.kind {
    case .senderReport:
      receiveSenderReport(try SenderReport(packet), now: now, &context)
      receive(try ReportBlocks(packet), now: now, &context)
    case .receiverReport: receive(try ReportBlocks(packet), now: now, &context)
    case .nack: receiveNACK(try NACKReader(packet), &context)
    case .pictureLoss:
      requestKeyFrame(of: try PictureLossIndication(packet).sources.media, now: now, &context)
    case .fullIntraRequest:
      let request = try FullIntraRequest(packet)
      for index in 0..<request.count {
        if let entry = request[index] { requestKeyFrame(of: entry.ssrc, now: now, &context) }
      }
    case .goodbye:
      let goodbye = try Goodbye(packet)
      for index in 0..<goodbye.count {
        if let ssrc = goodbye[index] { receiveGoodbye(ssrc, &context) }
      }
    // Names come with the description.
    case .sourceDescription: break
    case .transportFeedback:
      if !receiveArrivals(try TransportFeedback(packet), now: now) { context.counters.count(.rtcpUnused) }
    case .congestionFeedback:
      if !receiveStreamArrivals(try CongestionFeedback(packet), now: now) {
        context.counters.count(.rtcpUnused)
      }
    case .applicationFeedback: try receiveEstimate(packet, now: now, &context)
    case .extendedReport, .other: context.counters.count(.rtcpUnused)
    }
  }

  /// A sender that doesn't send, or whose stream we don't have, may leave as it likes.
  private mutating func receiveGoodbye(_ ssrc: UInt32, _ context: inout MediaContext) {
    guard let stream = streams.find(ssrc) else { return context.counters.count(.rtcpForeignStream) }
    #if PLANTED_DEFECTS
      let isMedia = PlantedDefect.isOn(.rtxGoodbye) || !stream.isRTX
    #else
      let isMedia = !stream.isRTX
    #endif
    guard isMedia else { return }
    receiver(of: stream).pointee.receiver.goodbye()
  }

  private func receiver(of stream: StreamMap.Stream) -> UnsafeMutablePointer<ReceivedEncoding> {
    receiving.pointer(Int(stream.section)).pointee.encoding(Int(stream.encoding))
  }

  private mutating func receiveSenderReport(
    _ report: SenderReport, now: Instant, _ context: inout MediaContext
  ) {
    guard let stream = streams.find(report.ssrc) else { return context.counters.count(.rtcpForeignStream) }
    // The retransmissions' own clock says nothing new.
    #if PLANTED_DEFECTS
      let isMedia = PlantedDefect.isOn(.rtxReportClock) || !stream.isRTX
    #else
      let isMedia = !stream.isRTX
    #endif
    guard isMedia else { return }
    let clock = receiving.pointer(Int(stream.section)).pointee.clock
    if !clocks[clock].report(report.ntp, arrival: now, epoch: context.epoch) {
      context.counters.count(.clockStepped)
    }
    receiver(of: stream).pointee.receiver.senderReport(
      ntp: report.ntp, timestamp: report.rtpTimestamp, arrival: now,
      moment: clocks[clock].serverTime(report.ntp), epoch: context.epoch)
    // Where its tracks stand is known better, of all of them.
    for other in 0..<receiving.count where receiving.pointer(other).pointee.clock == clock {
      context.effects.noteClock(other)
    }
  }

  private mutating func receive(_ blocks: ReportBlocks, now: Instant, _ context: inout MediaContext) {
    for index in 0..<blocks.count {
      guard let block = blocks[index] else { return }
      guard let slot = slot(ofSSRC: block.ssrc) else {
        if !isRTX(block.ssrc) { context.counters.count(.rtcpForeignStream) }
        continue
      }
      slots.pointer(slot).pointee.forwarder.receiveReport(block, now: now, epoch: context.epoch)
      let reports = slots.pointer(slot).pointee.forwarder.reports
      if let share = reports.lostBehind {
        slots.pointer(slot).pointee.redundancy.report(share, target: target(now: now), now: now)
      }
      let (packets, lost) = losses.reported(
        fraction: reports.fractionLost, of: reports.spanReported, sent: reports.packetsReported)
      path.reported.take(packets: Double(packets), lost: Double(lost) / 256, now: now)
      if let measured = slots.pointer(slot).pointee.forwarder.reports.roundTrip {
        (roundTrip, path.roundTripReported) = (measured, now)
      }
    }
  }

  /// So long a report's word counts more than that of a check: reports come more often.
  private static let reportsCount = Duration.seconds(15)

  /// Checks of the path have measured it, for peers that get nothing and so report on nothing.
  public mutating func noteChecked(_ measured: Duration, now: Instant) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.checksUnheeded) { return }
    #endif
    if now - path.roundTripReported >= Self.reportsCount { roundTrip = measured }
  }

  private mutating func receiveNACK(_ request: consuming NACKReader, _ context: inout MediaContext) {
    guard let slot = slot(ofSSRC: request.sources.media) else {
      return context.counters.count(.rtcpForeignStream)
    }
    while let sequence = request.next() {
      context.counters.nackedPackets &+= 1
      if !context.effects.noteNACK(slot, sequence) { context.counters.count(.nackOverflow) }
    }
  }

  private mutating func requestKeyFrame(of ssrc: UInt32, now: Instant, _ context: inout MediaContext) {
    guard let index = slot(ofSSRC: ssrc) else { return context.counters.count(.rtcpForeignStream) }
    context.counters.keyFrameRequestsReceived &+= 1
    let slot = slots.pointer(index)
    guard slot.pointee.section.kind == .video else { return }
    let isAwaited = slot.pointee.forwarder.needsKeyFrame && !slot.pointee.isUnasked
    // A paused slot forwards no picture; a key frame is requested when the pause ends.
    #if PLANTED_DEFECTS
      let isPaused = slot.pointee.forwarder.encodings.isPaused && !PlantedDefect.isOn(.pausedAsks)
    #else
      let isPaused = slot.pointee.forwarder.encodings.isPaused
    #endif
    guard !isPaused, isAwaited || slot.pointee.keyFrames.take(now: now) else {
      return context.counters.count(.keyFrameAskedOften)
    }
    context.effects.noteKeyFrameRequest(index)
  }

  /// The slot whose media leaves under the SSRC.
  func slot(ofSSRC ssrc: UInt32) -> Int? {
    guard let slot = ours[ssrc], slots.pointer(slot).pointee.section.ssrc == ssrc else { return nil }
    return slot
  }

  /// Whether retransmissions of a slot that is there leave under the SSRC.
  func isRTX(_ ssrc: UInt32) -> Bool {
    ours[ssrc].map { slots.pointer($0).pointee.section.rtxSSRC == ssrc } ?? false
  }
}
