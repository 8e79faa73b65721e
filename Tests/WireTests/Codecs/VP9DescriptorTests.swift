import Testing
import Wire

@Suite("VP9 payload descriptor, RFC 9628 §4.2", .timeLimit(.minutes(2)))
struct VP9DescriptorTests {
  func parse(_ bytes: [UInt8]) throws(VP9Error) -> VP9Descriptor {
    try withBytes(bytes) { payload throws(VP9Error) in try VP9Descriptor(payload) }
  }

  /// A key frame in two spatial layers as libvpx begins it: non-flexible, with sizes and one group of pictures.
  let key: [UInt8] = [
    0xAA, 0x92, 0x34, 0x00, 0x56, 0x38, 0x01, 0x40, 0x00, 0xB4, 0x02, 0x80, 0x01, 0x68, 0x02, 0x14, 0x01,
    0x18, 0x01, 0x02, 0xFF,
  ]

  @Test func `a key frame with its scalability structure is read to its end`() throws {
    let descriptor = try parse(key)
    #expect(descriptor.startsKeyFrame && descriptor.startsPicture && descriptor.startsLayerFrame)
    #expect(!descriptor.isInterPredicted && !descriptor.isFlexible && !descriptor.endsLayerFrame)
    #expect(descriptor.pictureID == 0x1234 && descriptor.pictureIDOffset == 1 && descriptor.pictureIDIsLong)
    #expect(descriptor.hasLayers && descriptor.temporalID == 0 && descriptor.spatialID == 0)
    #expect(descriptor.tl0PictureIndex == 0x56 && descriptor.tl0PictureIndexOffset == 4)
    #expect(descriptor.size == 20)
  }

  @Test func `the shortest descriptor has one byte and nothing else`() throws {
    let descriptor = try parse([0x08, 0x11])
    #expect(descriptor.size == 1 && descriptor.startsKeyFrame)
    #expect(!descriptor.hasPictureID && !descriptor.hasTL0PictureIndex && !descriptor.hasLayers)
  }

  @Test func `a picture that refers to another is no key frame`() throws {
    #expect(try !parse([0xC8, 0x05]).startsKeyFrame)
    #expect(try parse([0xC8, 0x05]).startsPicture)
  }

  @Test func `neither the rest of a frame nor a higher layer of a picture begins a key frame`() throws {
    #expect(try !parse([0x80, 0x05]).startsPicture)
    let upper = try parse([0xA8, 0x05, 0x03, 0x07])
    #expect(upper.spatialID == 1 && upper.isInterLayerPredicted)
    #expect(!upper.startsPicture && !upper.startsKeyFrame)
  }

  @Test func `layers, marks and a short picture id stand where they belong`() throws {
    let descriptor = try parse([0xA5, 0x7F, 0xD4, 0x09])
    #expect(descriptor.pictureID == 127 && !descriptor.pictureIDIsLong && descriptor.pictureIDMask == 0x7F)
    #expect(descriptor.temporalID == 6 && descriptor.switchesUp && descriptor.spatialID == 2)
    #expect(descriptor.endsLayerFrame && descriptor.isNotReferencedAbove)
    #expect(descriptor.tl0PictureIndexOffset == 3)
  }

  @Test func `in flexible mode references stand in place of the base layer's index`() throws {
    let descriptor = try parse([0xF0, 0x05, 0x20, 0x03, 0x05, 0x06, 0xAA])
    #expect(descriptor.isFlexible && !descriptor.hasTL0PictureIndex && descriptor.size == 6)
    // Without prediction there are none.
    #expect(try parse([0xB8, 0x05, 0x00]).size == 3)
  }

  @Test func `a fourth reference is refused`() {
    #expect(throws: VP9Error.tooManyReferences) { try parse([0xD0, 0x05, 0x03, 0x05, 0x07, 0x08]) }
  }

  @Test func `each cut is refused with the field that is missing`() {
    #expect(throws: VP9Error.empty) { try parse([]) }
    #expect(throws: VP9Error.truncated(field: .pictureID, size: 1)) { try parse([0x80]) }
    #expect(throws: VP9Error.truncated(field: .pictureID, size: 2)) { try parse([0x80, 0x81]) }
    #expect(throws: VP9Error.truncated(field: .layers, size: 1)) { try parse([0x20]) }
    #expect(throws: VP9Error.truncated(field: .tl0PictureIndex, size: 2)) { try parse([0x20, 0x00]) }
    #expect(throws: VP9Error.truncated(field: .references, size: 1)) { try parse([0x50]) }
    for count in 5..<20 {
      #expect(throws: VP9Error.truncated(field: .scalability, size: count)) {
        try parse(Array(key[..<count]))
      }
    }
  }
}
