import Media
import Model
import Testing

@Suite("A packet's info between nodes", .timeLimit(.minutes(1)))
struct PacketInfoWireTests {
  private func bytes(_ info: PacketInfo) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: PacketInfo.wireSize)
    bytes.withUnsafeMutableBytes { info.encode(into: $0) }
    return bytes
  }

  private func read(_ bytes: [UInt8], packetSize: Int = 1_200) throws(PacketInfo.WireError) -> PacketInfo {
    // A typed throw doesn't pass through `withUnsafeBytes`.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return try PacketInfo(decoding: UnsafeRawBufferPointer(copy), packetSize: packetSize)
  }

  /// Another value in every field.
  private static let full: PacketInfo = {
    var info = PacketInfo()
    info.arrival = Instant(nanoseconds: 0x0102_0304_0506_0708)
    info.extendedSequence = -0x1112_1314_1516_1718
    info.timestamp = 0x2122_2324
    info.restart = 0x31
    info.format = CodecFormat(.red)
    info.primaryFormat = CodecFormat(.vp9)
    info.flags = [
      .marker, .switchingPoint, .discardable, .longPictureID, .notNeededAbove, .topSpatialLayer,
    ]
    info.audioLevel = 0x85
    info.contributors = 15
    info.payloadOffset = 500
    info.payloadSize = 600
    info.primaryOffset = 0x41
    info.olderBlocks = 0x42
    info.pictureID = 0x4344
    info.pictureIDOffset = 0x45
    info.tl0PictureIndexOffset = 0x46
    info.tl0PictureIndex = 0x47
    info.carried.descriptorOffset = 100
    info.carried.colorSpaceOffset = 200
    info.carried.playoutDelayOffset = 300
    info.carried.captureTimeOffset = 400
    info.carried.descriptorSize = 0x51
    info.carried.colorSpaceSize = 0x52
    info.carried.frameNumber = 0x5354
    info.layer = LayerID(spatial: 2, temporal: 3)
    info.layer.opens = 0x61
    return info
  }()

  @Test func `what is written is read back, every field of it`() throws {
    for info in [PacketInfo.readable(), Self.full] {
      let read = try read(bytes(info))
      let fields = zip(Mirror(reflecting: info).children, Mirror(reflecting: read).children)
      for (written, found) in fields {
        #expect("\(written.value)" == "\(found.value)", "\(written.label ?? "")")
      }
    }
    #expect(Self.full.isSwitchingPoint && Self.full.isDiscardable)
    #expect(!PacketInfo().isSwitchingPoint && !PacketInfo().isDiscardable)
  }

  @Test func `every byte counts`() throws {
    let written = bytes(Self.full)
    for position in 1..<PacketInfo.wireSize {
      var other = written
      other[position] ^= 1
      guard let read = try? read(other) else { continue }
      #expect(bytes(read) != written, "byte \(position)")
    }
  }

  @Test func `other sizes, versions and formats are refused`() {
    let written = bytes(Self.full)
    for size in [0, 1, PacketInfo.wireSize - 1] {
      #expect(throws: PacketInfo.WireError.size(size)) { try read(Array(written[..<size])) }
    }
    #expect(throws: PacketInfo.WireError.size(PacketInfo.wireSize + 1)) { try read(written + [0]) }
    var other = written
    for version in [0, 4, 255] as [UInt8] {
      other[0] = version
      #expect(throws: PacketInfo.WireError.version(version)) { try read(other) }
    }
    other = written
    other[24] = 31
    #expect(throws: PacketInfo.WireError.format(31)) { try read(other) }
  }

  @Test func `what a build of the first version wrote is read, and has no time of capture`() throws {
    var old = bytes(Self.full)
    old[0] = 1
    var expected = Self.full
    expected.carried.captureTimeOffset = 0
    #expect(try bytes(read(old)) == bytes(expected))
  }

  @Test func `what lies outside of its packet is refused`() {
    let changes: [(String, (inout PacketInfo) -> Void)] = [
      ("contributors", { $0.contributors = 16 }),
      ("payload", { $0.payloadOffset = 11 }),
      ("payload", { $0.payloadSize = 701 }),
      ("primaryOffset", { $0.primaryOffset = 601 }),
      ("pictureIDOffset", { ($0.payloadSize, $0.primaryOffset, $0.pictureIDOffset) = (70, 0, 69) }),
      ("tl0PictureIndexOffset", { ($0.payloadSize, $0.primaryOffset, $0.pictureIDOffset) = (70, 0, 0) }),
      ("descriptor", { $0.carried.descriptorOffset = 500 }),
      ("colorSpace", { $0.carried.colorSpaceOffset = 499 }),
      ("playoutDelay", { $0.carried.playoutDelayOffset = .max }),
      ("captureTime", { $0.carried.captureTimeOffset = 493 }),
    ]
    for (field, change) in changes {
      var info = Self.full
      change(&info)
      #expect(throws: PacketInfo.WireError.range(field: field), "\(field)") { try read(bytes(info)) }
    }
    #expect(throws: PacketInfo.WireError.range(field: "payload")) {
      try read(bytes(Self.full), packetSize: 1_099)
    }
  }
}

extension PacketInfo {
  /// Of the smallest packet that there is.
  fileprivate static func readable() -> PacketInfo {
    var info = PacketInfo()
    info.payloadOffset = 12
    return info
  }
}
