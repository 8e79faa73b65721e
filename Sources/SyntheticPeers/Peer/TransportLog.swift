internal import Model
internal import Wire

/// When each packet of a transport truly reached the server, to hold the server's arrival feedback against.
struct TransportLog {
  private struct Arrival {
    /// Of each copy: the network doubles packets, hostile senders repeat them, and the server may have had to drop the first.
    var moments: [Instant] = []
    var isReported = false
  }

  private var arrivals: [Int64: Arrival] = [:]
  private var extender = SequenceExtender()

  /// A datagram of the peer's reached the server: headers are readable, sealed or not.
  mutating func noteArrival(_ bytes: [UInt8], extensionID id: UInt8, now: Instant) {
    guard id != 0 else { return }
    let sequence: UInt16? = bytes.withUnsafeBytes { packet in
      guard let header = try? RTPHeader(packet) else { return nil }
      var reader = HeaderExtensionReader(packet, header)
      while let element = reader.next() {
        if element.id == id { return TransportSequence.read(packet, element) }
      }
      return nil
    }
    guard let sequence else { return }
    let extended = extender.extend(sequence)
    arrivals[extended, default: Arrival()].moments.append(now)
  }

  /// - Returns: what is wrong with the message, and how many packets it got right.
  mutating func check(_ feedback: TransportFeedback) -> (error: String?, right: Int) {
    var entries = feedback.entries
    var right = 0
    while let entry = entries.next() {
      guard entry.received else { continue }
      let extended = extender.peek(entry.sequence)
      guard let arrival = arrivals[extended] else {
        return ("arrival of packet \(entry.sequence) reported, which has not arrived", right)
      }
      guard !arrival.isReported else {
        return ("arrival of packet \(entry.sequence) reported twice", right)
      }
      let errors = arrival.moments.map { moment in
        let ticks = UInt32(truncatingIfNeeded: moment.nanoseconds / TransportFeedback.tick)
        return Int32(bitPattern: entry.arrival &- ticks)
      }
      guard errors.contains(where: { $0.magnitude <= 1 }) else {
        let error = errors[0]
        return ("arrival of packet \(entry.sequence) reported \(error) ticks off", right)
      }
      arrivals[extended]?.isReported = true
      right += 1
    }
    return (nil, right)
  }
}
