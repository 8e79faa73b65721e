package import Model
internal import Wire

/// Media of real encoders: it is sent as it is given, and what comes goes on as it is.
extension SyntheticPeer {
  /// Sends a frame in the first section of its kind that was agreed on.
  /// - Returns: false where there is none yet, or none any more: nothing has left.
  @discardableResult
  package func send(_ frame: EncodedFrame, now: Instant) -> Bool {
    guard !isClosed, session != nil, let source = encoded.sources.first(where: { $0.kind == frame.kind })
    else { return false }
    let packets = source.packets(of: frame, now: now, transportSequence: &feedback.transportSequence)
    var isSent = !packets.isEmpty
    for (number, bytes) in packets
    where !sendMedia(bytes, log: source.logNumber, number: number, now: now) { isSent = false }
    return isSent
  }

  /// Asks the server for a key frame of what comes in a slot, with what is sent next.
  package func requestKeyFrame(stream: Int) {
    guard streams.indices.contains(stream), !streams[stream].isOver else { return }
    streams[stream].wantsKeyFrame = true
  }

  /// Takes a packet whose payload carries no stamp.
  /// - Parameter entry: what its header said.
  /// - Returns: what is wrong with it.
  func receiveEncoded(
    _ payload: UnsafeRawBufferPointer, _ header: RTPHeader, sequence: UInt16, of index: Int,
    _ entry: ReceivedStream.Entry, now: Instant
  ) -> String? {
    guard payload.count > 0 else { return "an empty payload, sequence number \(sequence)" }
    var entry = entry
    // What makes a second copy known, where a stamp does otherwise.
    entry.publisher = 0
    entry.packet = Self.fingerprint(payload)
    entry.isVideo = streams[index].section.kind == .video
    if entry.codec == .vp8 {
      guard let descriptor = try? VP8Descriptor(payload) else { return "a payload without VP8's descriptor" }
      entry.isKeyFrame = descriptor.startsKeyFrame(payload)
      entry.pictureID = descriptor.pictureID
      entry.pictureMask = descriptor.hasPictureID ? descriptor.pictureIDMask : 0
    }
    let arrival = streams[index].receive(sequence, entry, now: now)
    if case .fresh(let extended) = arrival {
      encoded.onPayload(
        EncodedPayload(
          stream: index, codec: entry.codec, sequence: extended, timestamp: header.timestamp,
          marker: header.marker, viaRTX: entry.viaRTX, bytes: Array(payload), at: entry.sentAt))
    }
    return problem(arrival, sequence, slot: Int(streams[index].section.index), viaRTX: entry.viaRTX)
  }

  /// FNV-1a.
  private static func fingerprint(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }
}
