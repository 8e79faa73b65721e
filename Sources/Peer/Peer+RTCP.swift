internal import Congestion
internal import Crypto
internal import Media
internal import Model
internal import Wire

// MARK: - In

extension Peer {
  /// - Returns: whether it was new and authentic.
  mutating func receiveRTCP(
    _ datagram: UnsafeMutableRawBufferPointer, now: Instant, _ context: inout PeerContext
  ) -> Bool {
    let size: Int
    do throws(SRTPError) {
      // Not nil: the caller looked.
      size = try opener!.openRTCP(datagram)
    } catch {
      context.counters.count(PeerDrop(error))
      return false
    }
    var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: datagram[..<size]))
    do throws(RTCPError) {
      while let packet = try reader.next() { try receive(packet, now: now, &context) }
    } catch {
      context.counters.count(.rtcpMalformed)
    }
    return true
  }

  private mutating func receive(
    _ packet: RTCPPacket, now: Instant, _ context: inout PeerContext
  ) throws(RTCPError) {
    switch packet.kind {
    case .senderReport:
      receiveSenderReport(try SenderReport(packet), now: now, &context)
      receive(try ReportBlocks(packet), now: now, &context)
    case .receiverReport: receive(try ReportBlocks(packet), now: now, &context)
    case .nack: receiveNACK(try NACKReader(packet), &context)
    case .pictureLoss:
      wish(for: try PictureLossIndication(packet).sources.media, &context)
    case .fullIntraRequest:
      let request = try FullIntraRequest(packet)
      for index in 0..<request.count {
        if let entry = request[index] { wish(for: entry.ssrc, &context) }
      }
    case .goodbye:
      let goodbye = try Goodbye(packet)
      for index in 0..<goodbye.count {
        if let ssrc = goodbye[index] { receiveGoodbye(ssrc) }
      }
    // Names come with the description; the rest was not negotiated.
    case .sourceDescription, .transportFeedback, .applicationFeedback, .extendedReport, .other: break
    }
  }

  /// A sender that doesn't send, or whose stream we don't have, may leave as it likes.
  private mutating func receiveGoodbye(_ ssrc: UInt32) {
    guard let stream = streams.find(ssrc), !stream.isRTX else { return }
    receivers.pointer(Int(stream.receiver)).pointee.goodbye()
  }

  private mutating func receiveSenderReport(
    _ report: SenderReport, now: Instant, _ context: inout PeerContext
  ) {
    guard let stream = streams.find(report.ssrc) else { return context.counters.count(.rtcpForeignStream) }
    // The retransmissions' own clock says nothing new.
    guard !stream.isRTX else { return }
    let index = Int(stream.receiver)
    clocks[clockIndex[index]].report(report.ntp, arrival: now, epoch: context.epoch)
    receivers.pointer(index).pointee.senderReport(
      ntp: report.ntp, timestamp: report.rtpTimestamp, arrival: now)
    // All tracks of the clock stand anew.
    for other in 0..<receivers.count where clockIndex[other] == clockIndex[index] {
      context.effects.noteClock(other)
    }
  }

  private mutating func receive(_ blocks: ReportBlocks, now: Instant, _ context: inout PeerContext) {
    for index in 0..<blocks.count {
      guard let block = blocks[index] else { return }
      guard let slot = slot(ofSSRC: block.ssrc) else {
        if !isRTX(block.ssrc) { context.counters.count(.rtcpForeignStream) }
        continue
      }
      senders.pointer(slot).pointee.forwarder.receiveReport(block, now: now, epoch: context.epoch)
      let reports = senders.pointer(slot).pointee.forwarder.reports
      loss.reported(
        fraction: reports.fractionLost, of: reports.spanReported, sent: reports.packetsReported)
      if let measured = senders.pointer(slot).pointee.forwarder.reports.roundTrip { roundTrip = measured }
    }
  }

  private mutating func receiveNACK(_ request: consuming NACKReader, _ context: inout PeerContext) {
    guard let slot = slot(ofSSRC: request.sources.media) else {
      return context.counters.count(.rtcpForeignStream)
    }
    while let sequence = request.next() {
      context.counters.nackedPackets &+= 1
      guard context.effects.noteNACK(slot, sequence) else { return }
    }
  }

  private mutating func wish(for ssrc: UInt32, _ context: inout PeerContext) {
    guard let slot = slot(ofSSRC: ssrc) else { return context.counters.count(.rtcpForeignStream) }
    if senders.pointer(slot).pointee.section.kind == .video { context.effects.noteWish(slot) }
  }

  private func slot(ofSSRC ssrc: UInt32) -> Int? {
    for index in 0..<senders.count
    where hasSlot[index] && senders.pointer(index).pointee.section.ssrc == ssrc { return index }
    return nil
  }

  private func isRTX(_ ssrc: UInt32) -> Bool {
    for index in 0..<senders.count where senders.pointer(index).pointee.section.rtxSSRC == ssrc {
      return true
    }
    return false
  }
}

// MARK: - Out

extension Peer {
  /// A compound stays below what every path takes in one piece.
  private static let compoundSize = 1_180
  /// Regular reports: RFC 3550 §6.2 would have them rarer at low rates; WebRTC's receivers expect about this.
  static let reportInterval = Duration.seconds(1)
  static let firstReport = Duration.milliseconds(300)

  /// Sender reports of all slots that send, and report blocks on all streams that come in.
  mutating func sendReports(now: Instant, _ context: inout PeerContext) {
    var writer = RTCPWriter(into: compoundBuffer(&context))
    var source = reportSSRC
    for slot in 0..<senders.count where hasSlot[slot] {
      let sender = senders.pointer(slot)
      guard let report = sender.pointee.forwarder.senderReport(now: now, epoch: context.epoch) else {
        continue
      }
      let cname = sender.pointee.section.cname
      // A report and its name stay together; when they don't fit any more the next compound begins.
      if writer.size + 28 + 16 + cname.utf8.count > Self.compoundSize {
        finish(writer.size, source: source, &context)
        writer = RTCPWriter(into: compoundBuffer(&context))
      }
      if writer.size == 0 { source = report.ssrc }
      writer.append(report)
      writer.append(cname: cname, ssrc: report.ssrc)
    }
    var opened = false
    for index in 0..<receivers.count where receiveSections[index] != nil {
      guard let block = receivers.pointer(index).pointee.reportBlock(now: now) else { continue }
      if opened && writer.append(block) != nil { continue }
      if writer.size + 8 + ReportBlock.size > Self.compoundSize {
        finish(writer.size, source: source, &context)
        writer = RTCPWriter(into: compoundBuffer(&context))
      }
      if writer.size == 0 { source = reportSSRC }
      writer.append(ReceiverReport(ssrc: reportSSRC))
      writer.append(block)
      opened = true
    }
    if !opened, writer.size == 0 { return }
    if writer.size + 20 + 4 * Self.estimateLimit + 32 > Self.compoundSize {
      finish(writer.size, source: source, &context)
      writer = RTCPWriter(into: compoundBuffer(&context))
      source = reportSSRC
      writer.append(ReceiverReport(ssrc: reportSSRC))
    }
    if opened { writer.append(cname: reportName, ssrc: reportSSRC) }
    appendEstimate(&writer, context.publisherMaxBitrate)
    finish(writer.size, source: source, &context)
    tallyLoss()
    context.effects.noteQuality()
  }

  /// Streams that one estimate names.
  private static let estimateLimit = 32

  /// What senders may use that adapt by nothing else.
  private func appendEstimate(_ writer: inout RTCPWriter, _ bitrate: UInt64) {
    var ssrcs: InlineArray<32, UInt32> = InlineArray(repeating: 0)
    var count = 0
    for index in 0..<receivers.count where receiveSections[index] != nil && count < Self.estimateLimit {
      let receiver = receivers.pointer(index)
      guard receiver.pointee.usesEstimate, receiver.pointee.isStarted, let ssrc = receiver.pointee.ssrc else {
        continue
      }
      ssrcs[count] = ssrc
      count += 1
    }
    guard count > 0 else { return }
    writer.append(estimate: bitrate, for: ssrcs.span.extracting(0..<count), sender: reportSSRC)
  }

  /// The name under which reports go out that are nobody's stream's (RFC 7022 §4.2: it says nothing).
  private var reportName: String { String(reportSSRC, radix: 36) }

  /// Says that streams of ours end (RFC 3550 §6.6).
  private mutating func sayGoodbye(to ssrcs: Span<UInt32>, _ context: inout PeerContext) {
    var writer = RTCPWriter(into: compoundBuffer(&context))
    writer.append(ReceiverReport(ssrc: reportSSRC))
    writer.append(cname: reportName, ssrc: reportSSRC)
    writer.append(goodbye: ssrcs)
    finish(writer.size, source: reportSSRC, &context)
  }

  /// The slots' streams end, and so does the source of our reports, if they are all.
  mutating func sayGoodbye(_ slots: [Int], isAll: Bool, _ context: inout PeerContext) {
    guard takesMedia else { return }
    var ssrcs: InlineArray<31, UInt32> = InlineArray(repeating: 0)
    var count = 0
    for slot in slots {
      let section = senders.pointer(slot).pointee.section
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
  public mutating func sayGoodbye(context: inout PeerContext) {
    sayGoodbye((0..<senders.count).filter { hasSlot[$0] }, isAll: true, &context)
  }

  /// Requests for lost packets and key frames, and transport-wide feedback, as far as they are due.
  mutating func sendFeedback(now: Instant, _ context: inout PeerContext) {
    for index in 0..<receivers.count where receiveSections[index] != nil {
      let receiver = receivers.pointer(index)
      guard let ssrc = receiver.pointee.ssrc, receiver.pointee.deadline <= now else { continue }
      let sources = FeedbackSources(sender: reportSSRC, media: ssrc)
      var missing = MissingPackets()
      receiver.pointee.missing(now: now, roundTrip: roundTrip) { missing.append($0) }
      var writer = RTCPWriter(into: compoundBuffer(&context))
      if missing.count > 0 {
        writer.append(nack: missing.sequences.span.extracting(0..<missing.count), sources)
      }
      if let request = receiver.pointee.keyFrameDue(now: now) {
        context.counters.keyFrameRequestsSent &+= 1
        switch request {
        case .pictureLoss: writer.append(pictureLoss: sources)
        case .fullIntra(let number):
          writer.append(
            fullIntraRequest: FullIntraRequest.Entry(ssrc: ssrc, sequence: number), sender: reportSSRC)
        }
      }
      finish(writer.size, source: reportSSRC, &context)
    }
    while now >= arrivals.deadline {
      let buffer = context.outbox.reserve()
      guard
        let size = arrivals.write(
          into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Self.compoundSize]),
          senderSSRC: reportSSRC, mediaSSRC: feedbackSSRC, now: now)
      else { break }
      sealAndCommit(buffer, size: size, sender: reportSSRC, &context)
    }
  }

  private func compoundBuffer(_ context: inout PeerContext) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: context.outbox.reserve()[..<Self.compoundSize])
  }

  /// Sends what was written into the outbox's reserved room, if anything was.
  private mutating func finish(_ size: Int, source: UInt32, _ context: inout PeerContext) {
    guard size > 0 else { return }
    sealAndCommit(context.outbox.reserve(), size: size, sender: source, &context)
  }

  private mutating func sealAndCommit(
    _ buffer: UnsafeMutableRawBufferPointer, size: Int, sender: UInt32, _ context: inout PeerContext
  ) {
    guard let path = selectedPath, sealer != nil else { return context.counters.count(.sendWithoutPath) }
    do throws(SRTPError) {
      let sealed = try sealer!.sealRTCP(
        buffer.baseAddress!, size: size, capacity: buffer.count, ssrc: sender, index: rtcpIndex)
      rtcpIndex &+= 1
      context.counters.feedbackSent &+= 1
      context.outbox.commit(size: sealed, path: path)
    } catch {
      context.counters.count(.sealFailed)
    }
  }
}

/// The sequence numbers of one request, at most as many as are waited for.
private struct MissingPackets {
  var sequences: InlineArray<256, UInt16> = InlineArray(repeating: 0)
  var count = 0

  mutating func append(_ sequence: UInt16) {
    guard count < 256 else { return }
    sequences[count] = sequence
    count += 1
  }
}
