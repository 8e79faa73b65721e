internal import Congestion
internal import Model
internal import Wire

/// What can't wait for the next report, and how compounds of either kind leave.
extension MediaSession {
  /// Requests for lost packets and key frames, estimates that have fallen, and transport-wide feedback, as far as they are due.
  mutating func sendFeedback(now: Instant, _ context: inout MediaContext) {
    var cursor = EncodingCursor()
    while let encoding = cursor.next(in: receiving) {
      guard let ssrc = encoding.pointee.receiver.ssrc, encoding.pointee.receiver.deadline <= now else {
        continue
      }
      let sources = FeedbackSources(sender: reportSSRC, media: ssrc)
      var missing = MissingPackets()
      encoding.pointee.receiver.missing(now: now, roundTrip: roundTrip) { missing.append($0) }
      var writer = RTCPWriter(into: context.output.reserve())
      let head = beginFeedback(&writer)
      if missing.count > 0 {
        writer.append(nack: missing.sequences.span.extracting(0..<missing.count), sources)
      }
      if let request = encoding.pointee.receiver.keyFrameDue(now: now) {
        context.counters.keyFrameRequestsSent &+= 1
        switch request {
        case .pictureLoss: writer.append(pictureLoss: sources)
        case .fullIntra(let number):
          writer.append(
            fullIntraRequest: FullIntraRequest.Entry(ssrc: ssrc, sequence: number), sender: reportSSRC)
        }
      }
      if writer.size > head { context.output.commit(size: writer.size, source: reportSSRC) }
    }
    if now >= path.sendTimes.deadline {
      var writer = RTCPWriter(into: context.output.reserve())
      let head = beginFeedback(&writer)
      appendEstimate(&writer, now: now, context)
      if writer.size > head { context.output.commit(size: writer.size, source: reportSSRC) }
      // Where it has no stream to name there is no one to tell.
      path.sendTimes.noteSent(now: now)
    }
    sendStreamFeedback(now: now, &context)
    while now >= arrivals.deadline {
      let buffer = context.output.reserve()
      var writer = RTCPWriter(into: buffer)
      let head = beginFeedback(&writer)
      guard
        let size = arrivals.write(
          into: UnsafeMutableRawBufferPointer(rebasing: buffer[head...]), senderSSRC: reportSSRC,
          mediaSSRC: feedbackSSRC, now: now)
      else { break }
      context.output.commit(size: head + size, source: reportSSRC)
    }
  }

  /// Arrivals by stream, for peers that know no transport-wide numbers.
  mutating func sendStreamFeedback(now: Instant, _ context: inout MediaContext) {
    while now >= streamArrivals.deadline {
      let buffer = context.output.reserve()
      var writer = RTCPWriter(into: buffer)
      let head = beginFeedback(&writer)
      guard
        let size = streamArrivals.write(
          into: UnsafeMutableRawBufferPointer(rebasing: buffer[head...]), senderSSRC: reportSSRC,
          timestamp: context.epoch.ntp(at: now).middle, now: now)
      else { break }
      context.output.commit(size: head + size, source: reportSSRC)
    }
  }

  /// Feedback stands alone where the far end agreed to that (RFC 5506 §3.4.1); else a report and a name go before
  /// it (RFC 4585 §3.1).
  /// - Returns: their size.
  private func beginFeedback(_ writer: inout RTCPWriter) -> Int {
    if !agreed.allowsReducedSizeRTCP { appendHead(&writer) }
    return writer.size
  }

  // MARK: - Compounds

  /// At most, of what `appendHead` writes.
  static let headSize = 28

  /// What a compound begins with that has no report to bring: an empty one, and the name (RFC 3550 §6.1).
  func appendHead(_ writer: inout RTCPWriter) {
    writer.append(ReceiverReport(ssrc: reportSSRC))
    writer.append(cname: reportName, ssrc: reportSSRC)
  }

  /// The name under which reports go out that are no stream's (RFC 7022 §4.2: it says nothing).
  var reportName: String { String(reportSSRC, radix: 36) }
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
