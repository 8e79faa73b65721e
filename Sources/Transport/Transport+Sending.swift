public import Crypto

#if PLANTED_DEFECTS
  public import Model
#endif

extension Transport where Agent: ~Copyable {
  /// Seals a plain RTP packet where it lies. An index is sealed once (RFC 3711 §9.1): two packets under one key and
  /// index give away AES-GCM's authentication key.
  /// - Parameters:
  ///   - room: the packet, and behind it what its tag needs.
  ///   - index: rollover counter and sequence number.
  ///   - admitted: what was sealed of the packet's stream.
  /// - Precondition: `takesMedia`.
  /// - Returns: its size; nil, and counted, where it can't be sent.
  @inlinable @inline(__always)
  public mutating func sealRTP(
    _ room: UnsafeMutableRawBufferPointer, headerSize: Int, size: Int, ssrc: UInt32, index: UInt64,
    _ admitted: inout SealGuard, context: inout TransportContext
  ) -> Int? {
    #if PLANTED_DEFECTS
      let isPlanted = PlantedDefect.isOn(.indexSealedTwice)
    #else
      let isPlanted = false
    #endif
    guard admitted.admit(index) || isPlanted else {
      context.counters.count(.sealRefused)
      return nil
    }
    do throws(SRTPError) {
      let size = try dtls.sealer!.sealRTP(
        room.baseAddress!, headerSize: headerSize, size: size, capacity: room.count, ssrc: ssrc, index: index)
      context.counters.packetsSent &+= 1
      context.counters.bytesSent &+= UInt64(truncatingIfNeeded: size)
      traffic.wentOut(size)
      return size
    } catch {
      context.counters.count(.sealFailed)
      return nil
    }
  }

  /// Seals a compound of RTCP and sends it on the selected path.
  /// - Parameter source: the one that the compound begins with.
  @inlinable
  public mutating func send(
    rtcp compound: UnsafeRawBufferPointer, source: UInt32, context: inout TransportContext
  ) {
    guard let path, dtls.isConnected else { return context.counters.count(.sendWithoutPath) }
    dtls.send(rtcp: compound, source: source, path: path, &context)
  }

  /// Says to the far end that nothing more comes and nothing more is wanted: it need not find out by silence.
  public func sayFarewell(context: inout TransportContext) {
    if let path, dtls.isConnected { dtls.sayFarewell(on: path, &context) }
  }
}
