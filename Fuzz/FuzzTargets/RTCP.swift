import Wire

/// A compound: every packet by the parser of its kind, and written again where there is a writer.
@Sendable public func fuzzRTCP(_ bytes: UnsafeRawBufferPointer) {
  _ = RTCPPacket.matches(bytes)
  var reader = RTCPReader(bytes)
  var place = 0
  while let packet = try? reader.next() {
    check(packet.offset == place, "packets follow each other")
    place += 4
    if let base = bytes.baseAddress, let body = packet.body.baseAddress {
      check(body == base + place, "the body follows the head")
    }
    let words = Int(bytes[packet.offset + 2]) << 8 | Int(bytes[packet.offset + 3])
    check(packet.body.count <= 4 * words, "the body is in its packet")
    place += 4 * words
    check(place <= bytes.count, "packets stay in the compound")
    parse(packet)
  }
}

private func parse(_ packet: RTCPPacket) {
  switch packet.kind {
  case .senderReport: report(try? SenderReport(packet), packet)
  case .receiverReport: report(nil, packet)
  case .sourceDescription: names(packet)
  case .goodbye: goodbye(packet)
  case .nack: nack(packet)
  case .pictureLoss:
    guard let indication = try? PictureLossIndication(packet) else { return }
    again {
      $0.append(pictureLoss: indication.sources)
    } reads: {
      (try? PictureLossIndication($0)) == indication
    }
  case .fullIntraRequest: fullIntra(packet)
  case .transportFeedback: transportFeedback(packet)
  case .congestionFeedback: congestionFeedback(packet)
  case .applicationFeedback: estimate(packet)
  case .extendedReport, .other: break
  }
}

/// What `write` appends must be read as the same by `same`.
private func again(_ write: (inout RTCPWriter) -> Int?, reads same: (RTCPPacket) -> Bool) {
  let copy = written(4_096) { buffer in
    var writer = RTCPWriter(into: buffer)
    return write(&writer) == nil ? nil : writer.size
  }
  guard let copy else { return check(false, "what was read can be written") }
  check(copy.count % 4 == 0, "packets are whole words")
  copy.withUnsafeBytes { compound in
    var reader = RTCPReader(compound)
    guard let packet = try? reader.next() else { return check(false, "what is written is read") }
    check(same(packet), "what is written is read as the same")
    check(packet.body.count + 4 == copy.count, "and nothing is behind it")
  }
}

private func blocks(_ packet: RTCPPacket) -> [ReportBlock]? {
  guard let blocks = try? ReportBlocks(packet) else { return nil }
  return (0..<blocks.count).compactMap { blocks[$0] }
}

private func report(_ sender: SenderReport?, _ packet: RTCPPacket) {
  let receiver = try? ReceiverReport(packet)
  guard sender != nil || receiver != nil, let blocks = blocks(packet) else { return }
  check(blocks.count == Int(packet.format), "every block is there")
  again { writer in
    let head = sender.map { writer.append($0) } ?? receiver.flatMap { writer.append($0) }
    guard head != nil else { return nil }
    for block in blocks { guard writer.append(block) != nil else { return nil } }
    return writer.size
  } reads: { copy in
    let sameHead =
      sender == nil ? (try? ReceiverReport(copy)) == receiver : (try? SenderReport(copy)) == sender
    return sameHead && (try? ReportBlocks(copy).count) == blocks.count
      && blocks.indices.allSatisfy { index in (try? ReportBlocks(copy)[index]) == blocks[index] }
  }
}

private func names(_ packet: RTCPPacket) {
  guard var reader = try? CNAMEReader(packet) else { return }
  var found = 0
  while let name = try? reader.next() {
    found += 1
    check(found <= Int(packet.format), "no more names than chunks")
    check(name.bytes.count <= 255, "a name has 255 bytes at most")
    if let start = name.bytes.baseAddress, let body = packet.body.baseAddress {
      check(start >= body && start + name.bytes.count <= body + packet.body.count, "a name is in its packet")
    }
    guard let text = name.text, !text.isEmpty else { continue }
    let ssrc = name.ssrc
    again {
      $0.append(cname: text, ssrc: ssrc)
    } reads: { copy in
      guard var reader = try? CNAMEReader(copy), let name = try? reader.next() else { return false }
      return name.ssrc == ssrc && name.text == text
    }
  }
}

private func goodbye(_ packet: RTCPPacket) {
  guard let goodbye = try? Goodbye(packet) else { return }
  let sources = (0..<goodbye.count).compactMap { goodbye[$0] }
  again {
    $0.append(goodbye: sources.span)
  } reads: { copy in
    guard let goodbye = try? Goodbye(copy) else { return false }
    return (0..<goodbye.count).compactMap { goodbye[$0] } == sources
  }
}

private func sequences(_ packet: RTCPPacket) -> [UInt16]? {
  guard var reader = try? NACKReader(packet) else { return nil }
  var found: [UInt16] = []
  while let sequence = reader.next() { found.append(sequence) }
  check(found.count <= packet.body.count / 4 * 17, "no more numbers than pairs can hold")
  return found
}

private func nack(_ packet: RTCPPacket) {
  guard let sources = try? NACKReader(packet).sources, let lost = sequences(packet) else { return }
  check(!lost.isEmpty, "a NACK names at least one packet")
  guard lost.count <= 900 else { return }
  again {
    $0.append(nack: lost.span, sources)
  } reads: { copy in
    Set(sequences(copy) ?? []) == Set(lost) && (try? NACKReader(copy).sources) == sources
  }
}

private func fullIntra(_ packet: RTCPPacket) {
  guard let request = try? FullIntraRequest(packet) else { return }
  check(request.count >= 1 && request.count * 8 <= packet.body.count, "entries are in the packet")
  for index in 0..<request.count {
    guard let entry = request[index] else { return check(false, "every entry is there") }
    again {
      $0.append(fullIntraRequest: entry, sender: request.sources.sender)
    } reads: {
      (try? FullIntraRequest($0)[0]) == entry
    }
  }
}

private func estimate(_ packet: RTCPPacket) {
  guard let estimate = try? ReceiverEstimate(packet) else { return }
  let streams = (0..<estimate.count).compactMap { estimate[$0] }
  check(streams.count == estimate.count, "every stream is there")
  again {
    $0.append(estimate: estimate.bitrate, for: streams.span, sender: estimate.sources.sender)
  } reads: {
    copy in
    guard let again = try? ReceiverEstimate(copy) else { return false }
    return again.bitrate == estimate.bitrate && (0..<again.count).compactMap { again[$0] } == streams
  }
}

private func entries(_ feedback: TransportFeedback) -> [TransportFeedback.Entry] {
  var walk = feedback.entries
  var found: [TransportFeedback.Entry] = []
  while let entry = walk.next() { found.append(entry) }
  check(found.count == feedback.statusCount, "every packet has a status")
  check(found.first?.sequence == feedback.baseSequence, "the first is the base")
  return found
}

private func transportFeedback(_ packet: RTCPPacket) {
  guard let feedback = try? TransportFeedback(packet) else { return }
  let original = entries(feedback)
  let copy = written(64 + original.count) { buffer in
    guard
      var writer = TransportFeedbackWriter(
        into: buffer, sources: feedback.sources, baseSequence: feedback.baseSequence,
        referenceTime: UInt32(bitPattern: feedback.referenceTime), feedbackCount: feedback.feedbackCount)
    else { return nil }
    for (index, entry) in original.enumerated() {
      let added = entry.received ? writer.appendReceived(delta: Int32(entry.delta)) : writer.appendLost() == 1
      // A status takes at most its delta and its part of a chunk; deltas of two bytes may fill the room.
      if !added {
        check(index > original.count / 3, "a message holds what fits")
        break
      }
    }
    return writer.finish()
  }
  copy?.withUnsafeBytes { compound in
    var reader = RTCPReader(compound)
    guard let packet = try? reader.next(), let again = try? TransportFeedback(packet) else {
      return check(false, "what is written is read")
    }
    check(
      again.sources == feedback.sources && again.feedbackCount == feedback.feedbackCount, "the head survives")
    check(again.referenceTime == feedback.referenceTime, "the time survives")
    check(entries(again).elementsEqual(original[..<again.statusCount]), "statuses survive")
  }
}

/// Streams with what became of each of their packets.
private func streams(_ feedback: CongestionFeedback) -> [(UInt32, UInt16, [CongestionFeedback.Report])] {
  var walk = feedback.streams
  var found: [(UInt32, UInt16, [CongestionFeedback.Report])] = []
  while let stream = walk.next() {
    found.append((stream.ssrc, stream.begin, (0..<stream.count).compactMap { stream[$0] }))
    check(found[found.count - 1].2.count == stream.count, "every packet has a report")
  }
  check(found.reduce(0) { $0 + $1.2.count } == feedback.reportCount, "all packets are counted")
  return found
}

private func congestionFeedback(_ packet: RTCPPacket) {
  guard let feedback = try? CongestionFeedback(packet) else { return }
  check(2 * feedback.reportCount <= packet.body.count, "packets take two bytes each")
  let original = streams(feedback).filter { !$0.2.isEmpty }
  let copy = written(packet.body.count + 24) { buffer in
    guard var writer = CongestionFeedbackWriter(into: buffer, sender: feedback.sender) else { return nil }
    for (ssrc, begin, reports) in original {
      check(writer.begin(ssrc: ssrc, sequence: begin), "a stream that was read fits")
      check(writer.room >= reports.count, "with all of its packets")
      for report in reports { check(writer.append(report), "each of its packets fits") }
    }
    return writer.finish(timestamp: feedback.timestamp)
  }
  guard let copy else { return check(original.isEmpty, "a message that holds something is written") }
  copy.withUnsafeBytes { compound in
    var reader = RTCPReader(compound)
    guard let packet = try? reader.next(), let again = try? CongestionFeedback(packet) else {
      return check(false, "what is written is read")
    }
    check(again.sender == feedback.sender && again.timestamp == feedback.timestamp, "the ends survive")
    check(
      streams(again).elementsEqual(original) { $0.0 == $1.0 && $0.1 == $1.1 && $0.2 == $1.2 },
      "packets survive")
  }
}

/// The writer of transport feedback, fed with statuses from the bytes: 0–99 that many lost, 100–199 a small delta,
/// else a delta from the next two bytes.
@Sendable public func fuzzTransportFeedback(_ bytes: UnsafeRawBufferPointer) {
  guard bytes.count >= 2 else { return }
  let capacity = 24 + 4 * Int(bytes[0])
  var wanted: [Int16?] = []
  let message = written(capacity) { buffer in
    guard
      var writer = TransportFeedbackWriter(
        into: buffer, sources: FeedbackSources(sender: 1, media: 2), baseSequence: UInt16(bytes[1]) << 8,
        referenceTime: 0x12_3456, feedbackCount: 9)
    else { return nil }
    var index = 2
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte < 100 {
        let run = byte < 90 ? Int(byte) : 3_000
        let added = writer.appendLost(run)
        check(added >= 0 && added <= run, "no more is added than asked")
        wanted += Array(repeating: nil, count: added)
        guard added == run else { break }
      } else {
        var delta = Int16(byte) - 100
        if byte >= 200, index + 1 < bytes.count {
          delta = Int16(truncatingIfNeeded: Int(bytes[index]) << 8 | Int(bytes[index + 1]))
          index += 2
        }
        guard writer.appendReceived(delta: Int32(delta)) else { break }
        wanted.append(delta)
      }
    }
    return writer.finish()
  }
  guard let message else { return check(wanted.isEmpty, "a message that holds something is written") }
  check(message.count % 4 == 0, "packets are whole words")
  message.withUnsafeBytes { compound in
    var reader = RTCPReader(compound)
    guard let packet = try? reader.next(), let feedback = try? TransportFeedback(packet) else {
      return check(false, "what is written is read")
    }
    check(entries(feedback).map { $0.received ? $0.delta : nil } == wanted, "statuses survive")
  }
}
