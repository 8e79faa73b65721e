internal import Crypto
internal import Model
internal import SyntheticPeers
internal import Wire

/// Reports and feedback as they leave the server.
extension Conference {
  /// SRTCP's index stands in the clear, before the tag without AEAD, else last.
  func noteRTCP(_ bytes: [UInt8], _ subscriber: Participant) {
    let tail = subscriber.connection.profile == .aes128CMSHA1_80 ? 14 : 4
    guard bytes.count > tail + 8 else { return }
    let start = bytes.count - tail
    let word = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    if !subscriber.connection.rtcpIndices.insert(word).inserted {
      journal.violation(now, "SRTCP index \(word & 0x7FFF_FFFF) is used twice for \(subscriber.number)")
    }
    noteRequests(bytes, subscriber)
  }

  /// What the server asks for is written down, whether the request comes or not. It asks for nothing that has come to it.
  private func judge(_ request: consuming NACKReader, to publisher: Participant) {
    let wanted = request.sources.media
    guard let source = publisher.peer.sources.last(where: { $0.ssrc == wanted }), !source.log.isHostile else {
      return
    }
    while let sequence = request.next() {
      guard let number = source.number(of: sequence) else { continue }
      source.log.noteRequest(number)
      guard source.log.packets[number].arrivedAt < now else { continue }
      // A source that starts over is believed from its second packet on.
      let run = source.log.runs[source.log.packets[number].run]
      if run.firstPacket > 0, number - run.firstPacket < 50 { continue }
      // Overtaken by so many numbers that the server could not tell it from a duplicate, it came in vain.
      let came = source.log.packets[number].arrivedAt
      // A track that flows again begins its accounts again, and a late packet of before makes them begin too early.
      if source.log.isHeld(from: came, until: now) { continue }
      if source.log.packets[number...].dropFirst(1_000).contains(where: { $0.arrivedAt <= came }) { continue }
      journal.violation(
        now,
        "packet \(number) of \(source.log.name) is asked for, which came at \(source.log.packets[number].arrivedAt.milliseconds) ms"
      )
    }
  }

  /// Opens them with the far end's keys, so that what the network loses is seen as well.
  private func noteRequests(_ bytes: [UInt8], _ publisher: Participant) {
    if publisher.connection.ear == nil, let keys = publisher.peer.association {
      publisher.connection.ear = try? SRTPSession(keys)
    }
    var bytes = bytes
    guard let ear = publisher.connection.ear, (try? ear.openRTCP(&bytes)) != nil else { return }
    bytes.withUnsafeBytes { compound in
      var reader = RTCPReader(compound)
      while let packet = try? reader.next() {
        if packet.kind == .nack, let request = try? NACKReader(packet) { judge(request, to: publisher) }
        guard packet.kind == .pictureLoss, let wanted = try? PictureLossIndication(packet).sources.media,
          let source = publisher.peer.sources.last(where: { $0.ssrc == wanted })
        else { continue }
        source.log.keyFrameRequests.append(now)
      }
    }
  }
}
