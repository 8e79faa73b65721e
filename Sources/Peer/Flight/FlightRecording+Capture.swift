public import Model
internal import Wire

extension FlightRecording {
  /// A section of a capture file (pcapng), of which several may follow each other in one file.
  ///
  /// Packets stand behind IP and UDP headers with their true addresses, cut as the recorder cuts them: RTP without its payload, RTCP in
  /// plain text and without what SRTP adds. Decisions are lines of text on an interface of their own, and comments.
  /// - Parameters:
  ///   - title: of the section, for people.
  ///   - epoch: of the times.
  public func capture(title: String, epoch: Epoch) -> [UInt8] {
    var writer = PcapngWriter(application: "Roost", comment: title, capacity: cells.count * 64 + 1_024)
    writer.addInterface(.raw, name: "media")
    writer.addInterface(.text, name: "decisions")
    var packet: [UInt8] = []
    visit { head, bytes in
      let time = epoch.ntp(at: Instant(nanoseconds: head.at)).nanoseconds(since: NTPTime(unixNanoseconds: 0))
      let nanoseconds = UInt64(max(0, time))
      packet.removeAll(keepingCapacity: true)
      guard head.kind != .decision else {
        guard let text = text(head) else { return }
        PcapngWriter.appendText(text, to: &packet)
        return writer.add(interface: 1, nanoseconds: nanoseconds, packet, size: packet.count, comment: text)
      }
      appendHeaders(head, to: &packet)
      let size = packet.count + Int(head.size)
      packet += bytes
      writer.add(
        interface: 0, nanoseconds: nanoseconds, packet, size: size,
        direction: head.kind.isInbound ? .inbound : .outbound,
        comment: head.cluster == 0 ? nil : "probe \(head.cluster)")
    }
    return writer.bytes
  }

  private func text(_ head: FlightCell) -> String? {
    guard let decision = FlightDecision(low: head.bytes.0, high: head.bytes.1) else { return nil }
    guard Int(head.path) < paths.count else { return decision.text }
    let path = paths[Int(head.path)]
    return "\(decision.text): \(path.local) to \(path.remote)"
  }

  /// IP and UDP, as they were on the wire but for what isn't known of them: identification, hop limit, the checksum of UDP.
  private func appendHeaders(_ head: FlightCell, to packet: inout [UInt8]) {
    let nowhere = SocketAddress(ipv4: 0, 0, 0, 0, port: 0)
    let path =
      Int(head.path) < paths.count
      ? paths[Int(head.path)] : NetworkPath(remote: nowhere, local: nowhere)
    let (source, target) = head.kind.isInbound ? (path.remote, path.local) : (path.local, path.remote)
    let size = UInt16(clamping: Int(head.size) + 8)
    if source.isIPv4, target.isIPv4 {
      let start = packet.count
      packet += [0x45, 0]
      packet.append(big: UInt16(clamping: Int(size) + 20))
      packet += [0, 0, 0x40, 0, 64, 17, 0, 0]
      packet.append(big: source.ipv4)
      packet.append(big: target.ipv4)
      var sum: UInt32 = 0
      for place in stride(from: start, to: start + 20, by: 2) {
        sum += UInt32(packet[place]) << 8 | UInt32(packet[place + 1])
      }
      let folded = (sum & 0xFFFF) + (sum >> 16)
      let checksum = ~UInt16(truncatingIfNeeded: folded + (folded >> 16))
      (packet[start + 10], packet[start + 11]) = (UInt8(checksum >> 8), UInt8(checksum & 0xFF))
    } else {
      packet += [0x60, 0, 0, 0]
      packet.append(big: size)
      packet += [17, 64]
      for half in [source.high, source.low, target.high, target.low] { packet.append(big: half) }
    }
    packet.append(big: source.port)
    packet.append(big: target.port)
    packet.append(big: size)
    packet += [0, 0]
  }
}

extension [UInt8] {
  fileprivate mutating func append(big value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { self += $0 }
  }
}
