import Media

/// The form in which a packet's info comes from another node: two bytes for its packet's size, then the info.
@Sendable public func fuzzPacketInfo(_ bytes: UnsafeRawBufferPointer) {
  guard bytes.count >= 2 else { return }
  let packetSize = Int(bytes[0]) << 8 | Int(bytes[1])
  let wire = UnsafeRawBufferPointer(rebasing: bytes[2...])
  guard let info = try? PacketInfo(decoding: wire, packetSize: packetSize) else { return }
  check(wire.count == PacketInfo.wireSize, "it has one size")
  let end = Int(info.payloadOffset) + Int(info.payloadSize)
  check(end <= packetSize, "the payload lies in the packet")
  check(12 + 4 * Int(info.contributors) <= packetSize, "the contributors lie in the packet")
  check(info.primaryOffset <= info.payloadSize, "the newest block lies in the payload")
  let again = written(PacketInfo.wireSize) {
    info.encode(into: $0)
    return PacketInfo.wireSize
  }
  // The first byte is the version, of which the first had no time of capture; what lies behind is a later version's.
  let known = wire[0] == 1 ? 53 : 55
  check(again?[1..<known].elementsEqual(wire[1..<known]) == true, "it is written as it was read")
}
