internal import Congestion
public import Model
internal import Negotiation
internal import Wire

extension SyntheticPeer {
  func sendFrame(_ index: Int, now: Instant) {
    let packets = sources[index].makeFrame(now: now, transportSequence: &feedback.transportSequence)
    let log = sources[index].logNumber
    if packets.isEmpty { journal.count(.silence) }
    for (number, bytes) in packets { sendMedia(bytes, log: log, number: number, now: now) }
  }

  func sendPictures(_ source: LayeredSource, now: Instant) {
    let packets = source.makePictures(now: now, transportSequence: &feedback.transportSequence)
    for (number, bytes) in packets { sendMedia(bytes, log: source.logNumber, number: number, now: now) }
  }

  /// Seals a packet of a track and sends it.
  /// - Returns: false where it could not be sealed.
  @discardableResult
  func sendMedia(_ packet: [UInt8], log: Int, number: Int, now: Instant) -> Bool {
    guard let session, let path = transport.mediaPath else { return false }
    do {
      let sealed = try session.sealRTP(packet)
      journal.tracks[log].noteSent(number)
      let mark = DatagramMark(isDeparture: false, log: log, number: number)
      outgoing.append(Outgoing(bytes: sealed, path: path, tag: mark.tag))
      keep(sealed, tag: mark.tag)
      return true
    } catch {
      // A hostile source's numbers leap as it likes.
      if !journal.tracks[log].isHostile {
        journal.violation(now, "libsrtp of peer \(self.number) does not seal: status \(error.status)")
      }
      return false
    }
  }

  // MARK: Feedback

  private static let compoundSize = 1_100

  private func sendRTCP(now: Instant, _ write: (inout RTCPWriter) -> Void) {
    sendRTCP(
      now: now,
      bytes: { bytes in
        var writer = RTCPWriter(into: bytes)
        write(&writer)
        return writer.size
      })
  }

  /// - Parameter write: gives the size of the compound; 0 where there is nothing to send.
  private func sendRTCP(now: Instant, bytes write: (UnsafeMutableRawBufferPointer) -> Int) {
    guard let session, let path = transport.mediaPath else { return }
    var bytes = [UInt8](repeating: 0, count: Self.compoundSize)
    let size = bytes.withUnsafeMutableBytes { write($0) }
    guard size > 0 else { return }
    bytes.removeLast(bytes.count - size)
    do {
      outgoing.append(Outgoing(bytes: try session.sealRTCP(bytes), path: path, tag: 0))
    } catch {
      journal.violation(now, "libsrtp of peer \(number) does not seal RTCP: status \(error.status)")
    }
  }

  /// Asks for what is missing.
  func sendRequests(now: Instant) {
    for stream in streams {
      let wanted = stream.requests(now: now)
      let wantsKeyFrame = stream.wantsKeyFrame
      stream.wantsKeyFrame = false
      guard !wanted.isEmpty || wantsKeyFrame else { continue }
      let sources = FeedbackSources(sender: feedback.ssrc, media: stream.ssrc)
      sendRTCP(now: now) { writer in
        if !descriptions.media.allowsReducedSizeRTCP {
          writer.append(ReceiverReport(ssrc: feedback.ssrc))
          writer.append(cname: descriptions.cname, ssrc: feedback.ssrc)
        }
        if !wanted.isEmpty {
          journal.count(.subscriberNACK)
          writer.append(nack: wanted.span, sources)
        }
        if wantsKeyFrame {
          journal.count(.pli)
          writer.append(pictureLoss: sources)
        }
      }
    }
  }

  /// Tells the server when its packets arrived, as often as browsers do.
  func tellArrivals(now: Instant) {
    guard let stream = streams.first else { return }
    while feedback.arrivals.deadline <= now {
      var isOver = false
      sendRTCP(
        now: now,
        bytes: { bytes in
          var writer = RTCPWriter(into: bytes)
          if !descriptions.media.allowsReducedSizeRTCP {
            writer.append(ReceiverReport(ssrc: feedback.ssrc))
            writer.append(cname: descriptions.cname, ssrc: feedback.ssrc)
          }
          let size = feedback.arrivals.write(
            into: UnsafeMutableRawBufferPointer(rebasing: bytes[writer.size...]), senderSSRC: feedback.ssrc,
            mediaSSRC: stream.ssrc, now: now)
          isOver = size == nil
          return size.map { writer.size + $0 } ?? 0
        })
      if isOver { return }
    }
  }

  /// Sender reports of what we publish, report blocks on what we receive.
  func sendReports(now: Instant) {
    for source in sources where source.packetCount > 0 {
      sendRTCP(now: now) { writer in
        writer.append(source.senderReport(now: now))
        writer.append(cname: descriptions.cname, ssrc: source.ssrc)
      }
    }
    let reports =
      layered.flatMap { $0.senderReports(now: now) }
      + encoded.sources.filter { $0.packetCount > 0 }.map { $0.senderReport(now: now) }
    for report in reports {
      sendRTCP(now: now) { writer in
        writer.append(report)
        writer.append(cname: descriptions.cname, ssrc: report.ssrc)
      }
    }
    let blocks = streams.compactMap { $0.reportBlock(now: now) }
    for start in stride(from: 0, to: blocks.count, by: 20) {
      sendRTCP(now: now) { writer in
        writer.append(ReceiverReport(ssrc: feedback.ssrc))
        for block in blocks[start..<min(start + 20, blocks.count)] { writer.append(block) }
        writer.append(cname: descriptions.cname, ssrc: feedback.ssrc)
      }
    }
  }

  // MARK: Feedback from the server

  func receiveRTCP(_ bytes: [UInt8], now: Instant) {
    bytes.withUnsafeBytes { compound in
      var reader = RTCPReader(compound)
      do {
        var kinds: [RTCPKind] = []
        while let packet = try reader.next() {
          kinds.append(packet.kind)
          try receive(packet, now: now)
        }
        if let problem = checkCompound(kinds) { journal.violation(now, "peer \(number) got \(problem)") }
      } catch {
        journal.violation(now, "peer \(number) can't read RTCP of the server: \(error)")
      }
    }
  }

  /// A far end that did not agree to reduced-size RTCP gets reports and a name with everything (RFC 3550 §6.1).
  private func checkCompound(_ kinds: [RTCPKind]) -> String? {
    guard let first = kinds.first else { return "an empty compound" }
    guard !configuration.dialect.reducesRTCP else { return nil }
    let isReport = first == .senderReport || first == .receiverReport
    guard isReport && kinds.contains(.sourceDescription) else {
      return "RTCP of reduced size, \(kinds), which was not agreed on"
    }
    let requests: [RTCPKind] = [.nack, .pictureLoss, .fullIntraRequest, .transportFeedback]
    if kinds.contains(where: { requests.contains($0) }) { journal.count(.compoundFeedback) }
    return nil
  }

  private func receive(_ packet: RTCPPacket, now: Instant) throws(RTCPError) {
    switch packet.kind {
    case .senderReport:
      let report = try SenderReport(packet)
      guard let index = streamIndex[report.ssrc], streams[index].ssrc == report.ssrc else {
        guard !descriptions.awaitsAnswer else { return }
        return journal.violation(now, "peer \(number) got a sender report of no stream of its own")
      }
      streams[index].noteReport(report, now: now)
      onSenderReport(index, report)
      try receiveBlocks(packet)
    case .receiverReport: try receiveBlocks(packet)
    case .nack: try receiveNACK(NACKReader(packet), now: now)
    case .pictureLoss:
      let wanted = try PictureLossIndication(packet).sources.media
      for index in sources.indices where sources[index].ssrc == wanted {
        sources[index].requestKeyFrame()
        journal.count(.keyFrame)
      }
      for source in layered where source.requestKeyFrame(wanted) { journal.count(.encodingKeyFrame) }
      if encoded.sources.contains(where: { $0.ssrc == wanted && $0.kind == .video }) {
        encoded.onKeyFrameRequest()
      }
    case .transportFeedback where !network.isReal:
      let arrivals = try TransportFeedback(packet)
      let (error, right) = feedback.log.check(arrivals)
      journal.count(.feedbackChecked, right)
      if let error { journal.violation(now, "feedback to peer \(number): \(error)") }
    default: break
    }
  }

  private func receiveBlocks(_ packet: RTCPPacket) throws(RTCPError) {
    let blocks = try ReportBlocks(packet)
    for index in 0..<blocks.count {
      guard let block = blocks[index] else { return }
      feedback.reportedLoss[block.ssrc] = block.fractionLost
      feedback.reportedLost[block.ssrc] = block.cumulativeLost
      for source in sources.indices where sources[source].ssrc == block.ssrc { sources[source].acknowledge() }
      for source in layered { source.acknowledge(block.ssrc) }
      for source in encoded.sources where source.ssrc == block.ssrc { source.acknowledge() }
    }
  }

  private func receiveNACK(_ request: consuming NACKReader, now: Instant) {
    let wanted = request.sources.media
    if let source = layered.first(where: { $0.owns(wanted) }) {
      return receiveNACK(request, of: source, wanted, now: now)
    }
    if let source = encoded.sources.first(where: { $0.ssrc == wanted }) {
      return receiveNACK(request, of: source, now: now)
    }
    guard let index = sources.firstIndex(where: { $0.ssrc == wanted }) else { return }
    journal.count(.serverNACK)
    while let sequence = request.next() {
      guard
        let found = sources[index].retransmission(
          of: sequence, transportSequence: &feedback.transportSequence)
      else { continue }
      journal.count(.serverRTX)
      sendMedia(found.bytes, log: sources[index].logNumber, number: found.number, now: now)
    }
  }
}

extension SyntheticPeer {
  private func receiveNACK(_ request: consuming NACKReader, of source: EncodedSource, now: Instant) {
    journal.count(.serverNACK)
    while let sequence = request.next() {
      guard
        let found = source.retransmission(of: sequence, transportSequence: &feedback.transportSequence)
      else { continue }
      journal.count(.serverRTX)
      sendMedia(found.bytes, log: source.logNumber, number: found.number, now: now)
    }
  }

  private func receiveNACK(
    _ request: consuming NACKReader, of source: LayeredSource, _ ssrc: UInt32, now: Instant
  ) {
    journal.count(.serverNACK)
    while let sequence = request.next() {
      guard
        let found = source.retransmission(
          ssrc: ssrc, of: sequence, transportSequence: &feedback.transportSequence)
      else { continue }
      journal.count(.serverRTX)
      sendMedia(found.bytes, log: source.logNumber, number: found.number, now: now)
    }
  }

  /// For the carrier of datagrams: a media datagram of ours is handed to the server now. Arrival
  /// feedback is held against it.
  public func noteArrival(_ bytes: [UInt8], now: Instant) {
    // What it has stopped may still be under way.
    let sections = descriptions.media.send + sources.map(\.section) + layered.map(\.section)
    let id = sections.map { $0.extensions[.transportSequence] }.first { $0 != 0 } ?? UInt8(0)
    feedback.log.noteArrival(bytes, extensionID: id, now: now)
  }

  /// For the carrier of datagrams: a media datagram of ours comes to a server that can open it. Numbers don't leap
  /// further from it than SRTP can follow.
  public func noteHeard(_ bytes: [UInt8]) {
    guard bytes.count >= RTPHeader.fixedSize else { return }
    let ssrc = bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
    guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return }
    sources[index].noteHeard(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
  }
}
