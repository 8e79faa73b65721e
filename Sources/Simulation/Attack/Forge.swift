internal import Crypto
package import Model
internal import SyntheticPeers
package import Wire

/// Seals whatever a peer with keys may make up, by our own code: libsrtp would refuse some of it.
package final class Forge {
  private var sealer: SRTPSealer
  /// SRTCP's next index by source.
  private var indices: [UInt32: UInt32] = [:]

  package init(_ member: RangeMember) throws {
    guard let keys = member.peer.association?.localKeys else { throw AttackError.notConnected }
    sealer = SRTPSealer(keys: keys)
  }

  package func rtp(_ packet: ForgedRTP) throws -> [UInt8] {
    let (plain, headerSize) = packet.bytes
    return try seal(plain) { [index = packet.index, ssrc = packet.ssrc] bytes, capacity in
      try sealer.sealRTP(
        bytes, headerSize: headerSize, size: plain.count, capacity: capacity, ssrc: ssrc, index: index)
    }
  }

  /// - Parameter compound: at least eight bytes, in plain text.
  package func rtcp(_ compound: [UInt8]) throws -> [UInt8] {
    let ssrc = compound[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let index = indices[ssrc, default: 0]
    indices[ssrc] = index + 1
    return try seal(compound) { bytes, capacity in
      try sealer.sealRTCP(bytes, size: compound.count, capacity: capacity, ssrc: ssrc, index: index)
    }
  }

  /// A compound as it should be.
  package static func compound(_ write: (inout RTCPWriter) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1_400)
    let size = bytes.withUnsafeMutableBytes { buffer in
      var writer = RTCPWriter(into: buffer)
      write(&writer)
      return writer.size
    }
    return Array(bytes[..<size])
  }

  private func seal(
    _ plain: [UInt8], _ body: (UnsafeMutableRawPointer, _ capacity: Int) throws -> Int
  ) throws -> [UInt8] {
    var bytes = plain + [UInt8](repeating: 0, count: 64)
    let size = try bytes.withUnsafeMutableBytes { try body($0.baseAddress!, $0.count) }
    return Array(bytes[..<size])
  }
}

/// An RTP packet, right or wrong.
package struct ForgedRTP {
  package var payloadType: UInt8
  /// Rollover counter and sequence number.
  package var index: UInt64
  package var timestamp: UInt32
  package var ssrc: UInt32
  package var marker = false
  package var contributors: [UInt32] = []
  /// The count that the header tells, where that is a lie.
  package var contributorCount: UInt8?
  /// One-byte elements: id and data.
  package var elements: [(id: UInt8, data: [UInt8])] = []
  /// Words of the block that the header tells, where that is a lie.
  package var extensionWords: UInt16?
  /// The last element's length less one, where that is a lie.
  package var lastElementLength: UInt8?
  package var payload: [UInt8]
  /// The last byte of the padding, which is as long as it should be if this is true.
  package var padding: UInt8?

  package init(payloadType: UInt8, index: UInt64, timestamp: UInt32, ssrc: UInt32, payload: [UInt8]) {
    self.payloadType = payloadType
    self.index = index
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.payload = payload
  }

  var bytes: (packet: [UInt8], headerSize: Int) {
    let count = contributorCount ?? UInt8(contributors.count)
    var packet: [UInt8] = [
      0x80 | (padding == nil ? 0 : 0x20) | (elements.isEmpty && extensionWords == nil ? 0 : 0x10) | count,
      (marker ? 0x80 : 0) | payloadType,
    ]
    packet.append(bigEndian: UInt16(truncatingIfNeeded: index))
    packet.append(bigEndian: timestamp)
    packet.append(bigEndian: ssrc)
    for contributor in contributors { packet.append(bigEndian: contributor) }
    if !elements.isEmpty || extensionWords != nil {
      var block: [UInt8] = []
      for (place, element) in elements.enumerated() {
        var length = UInt8(element.data.count - 1)
        if place == elements.count - 1, let lie = lastElementLength { length = lie }
        block.append(element.id << 4 | length & 0x0F)
        block += element.data
      }
      while block.count % 4 != 0 { block.append(0) }
      packet.append(bigEndian: 0xBEDE as UInt16)
      packet.append(bigEndian: extensionWords ?? UInt16(block.count / 4))
      packet += block
    }
    let headerSize = packet.count
    packet += payload
    if let padding { packet.append(padding) }
    return (packet, headerSize)
  }
}

/// STUN messages, sealed with a password of choice.
package enum ForgedSTUN {
  package static func check(
    to server: ICECredentials, from far: ICECredentials, serial: UInt64, password: String? = nil,
    nominates: Bool = false, controlling: Bool = true, hasIntegrity: Bool = true
  ) -> [UInt8] {
    message(
      .request, STUNTransactionID(high: 0xA77A_C000, low: serial),
      password: hasIntegrity ? password ?? server.password : nil
    ) {
      $0.appendUsername(Array(server.ufrag.utf8), Array(far.ufrag.utf8))
      $0.append(controlling ? .iceControlling : .iceControlled, 77 as UInt64)
      $0.append(.priority, 1_845_501_695 as UInt32)
      if nominates { $0.append(.useCandidate) }
    }
  }

  /// The answer to a check of the server's.
  /// - Parameter password: the far end's own, if it is to be taken.
  package static func answer(to check: [UInt8], password: String) -> [UInt8]? {
    guard let message = check.withUnsafeBytes({ try? STUNMessage($0) }) else { return nil }
    return Self.message(.success, message.transaction, password: password) {
      $0.appendMapped(AttackRange.serverAddress)
    }
  }

  private static func message(
    _ kind: STUNClass, _ transaction: STUNTransactionID, password: String?,
    _ body: (inout STUNWriter) -> Void
  ) -> [UInt8] {
    var memory = [UInt8](repeating: 0, count: 700)
    let count = memory.withUnsafeMutableBytes { memory in
      var writer = STUNWriter(memory, kind, transaction: transaction)
      body(&writer)
      if let password, let offset = writer.openIntegrity() {
        let code = HMAC.code(.sha1, key: Array(password.utf8), message: Array(memory[..<offset]))
        for (index, byte) in code.enumerated() { memory[offset + 4 + index] = byte }
      }
      writer.appendFingerprint()
      return writer.count
    }
    return Array(memory[..<count])
  }
}
