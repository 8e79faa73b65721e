public import Crypto
public import Model

/// Media under the keys that the handshake gave.
extension DTLSTransport {
  /// Opens an SRTP packet in place.
  /// - Returns: its size in plain text; nil, and counted, where it is dropped.
  @inlinable @inline(__always)
  mutating func openRTP(
    _ datagram: UnsafeMutableRawBufferPointer, _ counters: inout TransportCounters
  ) -> Int? {
    do throws(SRTPError) {
      // Not nil: the caller looked.
      return try opener!.openRTP(datagram)
    } catch {
      counters.count(TransportDrop(error))
      return nil
    }
  }

  /// As `openRTP`, of a compound.
  @usableFromInline
  mutating func openRTCP(
    _ datagram: UnsafeMutableRawBufferPointer, _ counters: inout TransportCounters
  ) -> Int? {
    do throws(SRTPError) {
      return try opener!.openRTCP(datagram)
    } catch {
      counters.count(TransportDrop(error))
      return nil
    }
  }

  /// Seals a compound and sends it.
  /// - Parameter source: the one that the compound begins with.
  @usableFromInline
  mutating func send(
    rtcp compound: UnsafeRawBufferPointer, source: UInt32, path: NetworkPath,
    _ context: inout TransportContext
  ) {
    let buffer = context.outbox.reserve()
    // Not nil: the outbox gives room.
    let bytes = buffer.baseAddress!
    guard compound.count <= Outbox.plainSize, isConnected else {
      return context.counters.count(.sealFailed)
    }
    buffer.copyMemory(from: compound)
    do throws(SRTPError) {
      let sealed = try sealer!.sealRTCP(
        bytes, size: compound.count, capacity: buffer.count, ssrc: source, index: rtcpIndex)
      rtcpIndex &+= 1
      context.counters.feedbackSent &+= 1
      context.outbox.commit(size: sealed, path: path)
    } catch {
      context.counters.count(.sealFailed)
    }
  }

  /// Keeps the windows of a stream that belongs to a track, whatever else comes.
  @usableFromInline mutating func keepStream(_ ssrc: UInt32) { _ = opener?.markMapped(ssrc: ssrc) }
  @usableFromInline mutating func forgetStream(_ ssrc: UInt32) { opener?.remove(ssrc: ssrc) }

  @usableFromInline var openedStreamCount: Int {
    switch opener {
    case .some(let opener): opener.streamCount
    case .none: 0
    }
  }
}

extension DTLSTransport {
  private static let stateVersion: UInt8 = 1

  /// - Returns: nil in the middle of a handshake, which lives inside OpenSSL.
  @usableFromInline func encode(into writer: inout StateWriter) -> Bool {
    guard handshake == nil else { return false }
    writer.write(Self.stateVersion)
    writer.write(role.rawValue)
    fingerprints.encode(into: &writer)
    writer.write(path)
    writer.write(association != nil)
    association?.encode(into: &writer)
    // There is one exactly when there is an association. `opener!` crashes the optimiser of Swift 6.3.1 here.
    switch opener {
    case .some(let opener): opener.encode(into: &writer)
    case .none: break
    }
    writer.write(rtcpIndex)
    return true
  }

  @usableFromInline
  static func decode(_ reader: inout StateReader) throws(StateError) -> DTLSTransport {
    _ = try reader.version("DTLS transport", upTo: stateVersion)
    guard let role = DTLSRole(rawValue: try reader.integer()) else {
      throw .invalid(field: "DTLS role", offset: reader.offset)
    }
    var transport = DTLSTransport(role: role, fingerprints: try [Fingerprint](from: &reader))
    transport.path = try reader.optionalPath()
    if try reader.bool() {
      let association = try DTLSAssociation(from: &reader)
      transport.sealer = SRTPSealer(keys: association.localKeys)
      transport.profile = association.profile
      transport.isConnected = true
      transport.association = association
      transport.opener = try SRTPOpener(from: &reader)
    }
    transport.rtcpIndex = try reader.integer()
    return transport
  }
}
