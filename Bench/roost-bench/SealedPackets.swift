import CFloor
import CSRTP
import Crypto
import Model

/// A publisher's datagrams, made by libsrtp before anything is measured: a VP8 stream of eight packets a frame,
/// whose first packet begins a key frame.
struct SealedPackets: ~Copyable {
  /// Between two packets: 30 frames a second.
  static let spacing = Duration.nanoseconds(1_000_000_000 / 240)
  static let firstSequence: UInt16 = 1_000

  let count: Int
  private(set) var size = 0
  private let memory: UnsafeMutableRawPointer
  private let stride: Int

  /// - Parameter size: bytes of a packet in plain text.
  init(_ count: Int, size: Int, keys: SRTPKeys) throws(BenchError) {
    self.count = count
    stride = (size + 16 + 63) & ~63
    memory = .allocate(byteCount: count * stride, alignment: 64)
    guard let session = floor_session(keys.masterKey + keys.masterSalt, 1) else {
      throw .setup("libsrtp refuses the publisher's keys")
    }
    defer { srtp_dealloc(session) }
    var random = RandomSource.seeded(state: 3)
    for number in 0..<count {
      let packet = UnsafeMutableRawBufferPointer(start: memory + number * stride, count: stride)
      Self.write(packet, number: number, size: size, random: &random)
      var sealed = Int32(size)
      guard srtp_protect(session, packet.baseAddress, &sealed) == srtp_err_status_ok else {
        throw .setup("libsrtp does not seal packet \(number)")
      }
      self.size = Int(sealed)
    }
  }

  deinit { memory.deallocate() }

  /// The datagram of a number.
  subscript(number: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: memory + number * stride, count: size)
  }

  private static func write(
    _ packet: UnsafeMutableRawBufferPointer, number: Int, size: Int, random: inout RandomSource
  ) {
    for index in 0..<size where index % 8 == 0 {
      packet.storeBytes(of: random.next(), toByteOffset: index, as: UInt64.self)
    }
    let (frame, part) = number.quotientAndRemainder(dividingBy: 8)
    let sequence = firstSequence &+ UInt16(truncatingIfNeeded: number)
    packet[0] = 0x90
    packet[1] = Conference.publisherPayloadType | (part == 7 ? 0x80 : 0)
    packet.storeBytes(of: sequence.bigEndian, toByteOffset: 2, as: UInt16.self)
    packet.storeBytes(
      of: UInt32(truncatingIfNeeded: frame * 3_000).bigEndian, toByteOffset: 4, as: UInt32.self)
    packet.storeBytes(of: Conference.publisherSSRC.bigEndian, toByteOffset: 8, as: UInt32.self)
    // One extension of two bytes: the transport sequence number.
    packet.storeBytes(of: UInt32(0xBEDE_0001).bigEndian, toByteOffset: 12, as: UInt32.self)
    packet[16] = Conference.publisherSequenceID << 4 | 1
    packet.storeBytes(of: sequence.bigEndian, toByteOffset: 17, as: UInt16.self)
    packet[19] = 0
    // X and S at a frame's start; then picture id (15 bits), TL0PICIDX and TID.
    packet[20] = part == 0 ? 0x90 : 0x80
    packet[21] = 0xE0
    packet.storeBytes(
      of: (0x8000 | UInt16(truncatingIfNeeded: frame) & 0x7FFF).bigEndian, toByteOffset: 22, as: UInt16.self)
    packet[24] = UInt8(truncatingIfNeeded: frame)
    packet[25] = 0
    // The inverse key frame flag.
    packet[26] = number == 0 ? 0 : 1
  }
}
