import Testing
import Wire

@Suite("VP8 payload descriptor, RFC 7741 §4.2", .timeLimit(.minutes(2)))
struct VP8DescriptorTests {
  func parse(_ bytes: [UInt8]) throws(VP8Error) -> VP8Descriptor {
    try withBytes(bytes) { payload throws(VP8Error) in try VP8Descriptor(payload) }
  }

  /// Everything present: 15-bit picture id, TL0PICIDX, TID 2 with layer sync and KEYIDX 17.
  let full: [UInt8] = [0xB0, 0xF0, 0x92, 0x34, 0x56, 0xB1, 0x00]

  @Test func `every field of the longest descriptor is read`() throws {
    let descriptor = try parse(full)
    #expect(descriptor.size == 6)
    #expect(descriptor.nonReference)
    #expect(descriptor.startsFrame)
    #expect(descriptor.pictureID == 0x1234)
    #expect(descriptor.pictureIDOffset == 2)
    #expect(descriptor.pictureIDIsLong)
    #expect(descriptor.tl0PictureIndex == 0x56)
    #expect(descriptor.tl0PictureIndexOffset == 4)
    #expect(descriptor.hasTemporalID)
    #expect(descriptor.temporalID == 2)
    #expect(descriptor.layerSync)
    #expect(descriptor.keyIndex == 17)
  }

  @Test func `the shortest descriptor has one byte and nothing else`() throws {
    let descriptor = try parse([0x03])
    #expect(descriptor.size == 1)
    #expect(descriptor.partition == 3)
    #expect(!descriptor.startsPartition && !descriptor.nonReference)
    #expect(!descriptor.hasPictureID && !descriptor.hasTL0PictureIndex && !descriptor.hasTemporalID)
    #expect(descriptor.keyIndex == nil)
  }

  @Test func `a picture id of seven bits takes one byte`() throws {
    let descriptor = try parse([0x80, 0x80, 0x7F])
    #expect(descriptor.size == 3)
    #expect(descriptor.pictureID == 127)
    #expect(!descriptor.pictureIDIsLong)
  }

  @Test func `TID and KEYIDX share a byte, each read only if announced`() throws {
    let temporal = try parse([0x80, 0x20, 0xFF])
    #expect(temporal.temporalID == 3 && temporal.layerSync && temporal.keyIndex == nil)
    let key = try parse([0x80, 0x10, 0xFF])
    #expect(!key.hasTemporalID && key.temporalID == 0 && !key.layerSync && key.keyIndex == 31)
  }

  @Test func `a descriptor cut anywhere names the field`() {
    #expect(throws: VP8Error.empty) { try parse([]) }
    for (size, field) in [
      (1, .extensionFlags), (2, .pictureID), (3, .pictureID), (4, .tl0PictureIndex), (5, .temporalID),
    ] as [(Int, VP8Error.Field)] {
      #expect(throws: VP8Error.truncated(field: field, size: size)) { try parse(Array(full[..<size])) }
    }
  }

  @Test func `rewriting keeps the widths and touches nothing else`() throws {
    var long = full
    try long.withUnsafeMutableBytes { payload in
      var descriptor = try VP8Descriptor(UnsafeRawBufferPointer(payload))
      descriptor.rewrite(payload, pictureID: 0xFFFF, tl0PictureIndex: 0x99)
      #expect(try VP8Descriptor(UnsafeRawBufferPointer(payload)) == descriptor)
    }
    #expect(long == [0xB0, 0xF0, 0xFF, 0xFF, 0x99, 0xB1, 0x00])

    var short: [UInt8] = [0x80, 0x80, 0x01, 0x55]
    try short.withUnsafeMutableBytes { payload in
      var descriptor = try VP8Descriptor(UnsafeRawBufferPointer(payload))
      descriptor.rewrite(payload, pictureID: 0x1234, tl0PictureIndex: 0x99)
    }
    #expect(short == [0x80, 0x80, 0x34, 0x55])
  }

  @Test(
    arguments: [
      // With a layer, of which Y stays; without one; with neither picture id nor TL0PICIDX; and none to take out.
      ([0xB0, 0xF0, 0x81, 0x02, 0x07, 0xB1, 0x00], [0xB0, 0xE0, 0x81, 0x02, 0x07, 0xA0, 0x00], 2),
      ([0x90, 0xD0, 0x05, 0x07, 0xFF, 0x01], [0x90, 0xE0, 0x05, 0x07, 0x00, 0x01], 0),
      ([0x80, 0x10, 0x1F, 0x55], [0x80, 0x20, 0x00, 0x55], 0),
      ([0x80, 0x20, 0x5F, 0x55], [0x80, 0x20, 0x5F, 0x55], 1),
    ] as [([UInt8], [UInt8], UInt8)])
  func `the key index is taken out, and nothing else`(before: [UInt8], after: [UInt8], layer: UInt8) throws {
    var bytes = before
    try bytes.withUnsafeMutableBytes { payload in
      let old = try VP8Descriptor(UnsafeRawBufferPointer(payload))
      var descriptor = old
      descriptor.removeKeyIndex(payload)
      #expect(try VP8Descriptor(UnsafeRawBufferPointer(payload)) == descriptor)
      #expect(descriptor.size == old.size && descriptor.keyIndex == nil && descriptor.temporalID == layer)
      #expect(descriptor.layerSync == (old.hasTemporalID && old.layerSync))
    }
    #expect(bytes == after)
  }

  @Test func `only the first payload of a frame can start a key frame`() throws {
    for (bytes, key) in [
      ([0x10, 0x00], true), ([0x10, 0x01], false), ([0x00, 0x00], false), ([0x11, 0x00], false),
      ([0x10], false),
    ] as [([UInt8], Bool)] {
      let descriptor = try parse(bytes)
      #expect(withBytes(bytes) { descriptor.startsKeyFrame($0) } == key)
    }
  }

  @Test func `a key frame tells its size, unless cut or without start code`() throws {
    // 640 × 360 with scaling hints set, which are no part of the size.
    let frame: [UInt8] = [0x10, 0x50, 0x42, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x42, 0x68, 0xC1]
    let descriptor = try parse(frame)
    let size = withBytes(frame) { VP8KeyFrameSize($0, descriptor) }
    #expect(size?.width == 640)
    #expect(size?.height == 360)
    for count in 1..<frame.count {
      #expect(withBytes(Array(frame[..<count])) { VP8KeyFrameSize($0, descriptor) } == nil)
    }
    for index in 4..<7 {
      var broken = frame
      broken[index] ^= 1
      #expect(withBytes(broken) { VP8KeyFrameSize($0, descriptor) } == nil)
    }
  }
}
