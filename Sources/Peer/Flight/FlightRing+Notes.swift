internal import Model

/// What is kept of which packet. Of media it is RTP's header alone (RFC 3550 §5.1, with extensions): what is said and shown is in
/// no record.
extension FlightRing {
  /// An RTP packet that came and was opened.
  /// - Parameter size: as it came.
  mutating func note(
    received packet: UnsafeRawBufferPointer, size: Int, _ path: NetworkPath, now: Instant,
    _ memory: FlightMemory
  ) {
    add(
      .rtpIn, header: Self.kept(Self.headerSize(packet), of: packet), of: packet, size: size,
      path: paths.inbound(path), cluster: 0, now: now, memory)
  }

  /// A sealed RTP packet that leaves by the selected path, `paths.selected`.
  /// - Parameter header: bytes before its payload.
  @inline(__always)
  mutating func note(
    leaving packet: UnsafeRawBufferPointer, header: Int, cluster: UInt16, now: Instant, _ memory: FlightMemory
  ) {
    add(
      .rtpOut, header: Self.kept(header, of: packet), of: packet, size: packet.count,
      path: paths.selected ?? FlightPaths.unknown, cluster: cluster, now: now, memory)
  }

  /// Bytes of a packet that are kept: its header.
  @inline(__always)
  private static func kept(_ header: Int, of packet: UnsafeRawBufferPointer) -> Int {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.flightHasPayload) { return packet.count }
    #endif
    return header
  }

  /// Bytes of a packet before its payload; of one that claims more than it has the fixed part.
  static func headerSize(_ packet: UnsafeRawBufferPointer) -> Int {
    guard packet.count >= 12 else { return 0 }
    let fixed = 12 &+ Int(packet[0] & 0x0F) &* 4
    guard fixed <= packet.count else { return 12 }
    guard packet[0] & 0x10 != 0 else { return fixed }
    guard fixed &+ 4 <= packet.count else { return 12 }
    let words = Int(packet[fixed &+ 2]) << 8 | Int(packet[fixed &+ 3])
    let whole = fixed &+ 4 &+ words &* 4
    return whole <= packet.count ? whole : 12
  }

  /// A compound in plain text.
  mutating func note(
    rtcp bytes: UnsafeRawBufferPointer, _ path: NetworkPath, isInbound: Bool, now: Instant,
    _ memory: FlightMemory
  ) {
    add(
      isInbound ? .rtcpIn : .rtcpOut, bytes, size: bytes.count,
      path: isInbound ? paths.inbound(path) : paths.outbound(path), now: now, memory)
  }

  /// A datagram of ICE or of the handshake.
  mutating func note(
    setup datagram: UnsafeRawBufferPointer, _ path: NetworkPath, isInbound: Bool, now: Instant,
    _ memory: FlightMemory
  ) {
    guard let first = datagram.first else { return }
    let kind: FlightCell.Kind
    switch first {
    case 0...3: kind = isInbound ? .stunIn : .stunOut
    case 20...63:
      guard handshakes.take(now: now) else { return }
      kind = isInbound ? .dtlsIn : .dtlsOut
    default: return
    }
    add(
      kind, datagram, size: datagram.count,
      path: isInbound ? paths.inbound(path) : paths.outbound(path), now: now, memory)
  }

  mutating func note(
    _ decision: FlightDecision, path: NetworkPath? = nil, now: Instant, _ memory: FlightMemory
  ) {
    var words = decision.words
    let place = path.map { paths.outbound($0) } ?? FlightPaths.unknown
    withUnsafeBytes(of: &words) { add(.decision, $0, size: $0.count, path: place, now: now, memory) }
  }

  /// Notes what may be sent, where it isn't about what was noted last.
  mutating func note(target rate: Double, now: Instant, _ memory: FlightMemory) {
    let change = abs(rate - target.rate)
    guard change > target.rate / 20 || change > 0 && now - target.at >= .seconds(1) else { return }
    target = (rate, now)
    note(.target(rate), now: now, memory)
  }
}
