/// A page of Ogg, composed here and not by the writer that is tested.
/// - Parameter isOpen: the last packet, whose size is a multiple of 255, goes on in the next page.
func oggPage(
  flags: UInt8, granule: Int64, number: UInt32, serial: UInt32 = 1, _ packets: [[UInt8]], isOpen: Bool = false
) -> [UInt8] {
  func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    (0..<MemoryLayout<T>.size).map { UInt8(truncatingIfNeeded: value >> T(8 * $0)) }
  }
  var segments: [UInt8] = []
  for (index, packet) in packets.enumerated() {
    segments += [UInt8](repeating: 255, count: packet.count / 255)
    if !isOpen || index < packets.count - 1 { segments.append(UInt8(packet.count % 255)) }
  }
  var page =
    Array("OggS".utf8) + [0, flags] + little(granule) + little(serial) + little(number) + little(UInt32(0))
  page += [UInt8(segments.count)] + segments + packets.joined()
  var sum: UInt32 = 0
  for byte in page {
    sum ^= UInt32(byte) << 24
    for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
  }
  page.replaceSubrange(22..<26, with: little(sum))
  return page
}
