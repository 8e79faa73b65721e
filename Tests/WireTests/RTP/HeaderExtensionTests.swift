import Model
import Testing
import Wire

@Suite("RTP header extensions, RFC 8285", .timeLimit(.minutes(2)))
struct HeaderExtensionTests {
  typealias Element = HeaderExtensionReader.Element

  /// A packet whose extension block has `body`, which is filled up to whole words with `filler`.
  func packet(profile: UInt16, _ body: [UInt8], filler: UInt8 = 0) -> [UInt8] {
    let padded = body + Array(repeating: filler, count: (4 - body.count % 4) % 4)
    let head: [UInt8] = [0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    let words = UInt16(padded.count / 4)
    return head + [UInt8(profile >> 8), UInt8(profile & 255), UInt8(words >> 8), UInt8(words & 255)] + padded
  }

  func walk(_ bytes: [UInt8]) throws(RTPError) -> ([Element], HeaderExtensionReader.Ending) {
    try withBytes(bytes) { packet throws(RTPError) in
      let header = try RTPHeader(packet)
      var reader = HeaderExtensionReader(packet, header)
      var elements: [Element] = []
      while let element = reader.next() {
        elements.append(element)
        if elements.count > 1_000 { break }
      }
      // Asking again changes nothing.
      let ending = reader.ending
      return reader.next() == nil && reader.ending == ending ? (elements, ending) : ([], .unfinished)
    }
  }

  @Test func `one-byte elements are read around padding`() throws {
    let (elements, ending) = try walk(packet(profile: 0xBEDE, [0x10, 0x31, 0, 0, 0x51, 7, 8, 0]))
    #expect(elements == [Element(id: 1, offset: 17, size: 1), Element(id: 5, offset: 21, size: 2)])
    #expect(ending == .complete)
  }

  @Test(arguments: [0x1000, 0x100F] as [UInt16])
  func `two-byte elements may be empty and have large ids`(profile: UInt16) throws {
    let (elements, ending) = try walk(packet(profile: profile, [0, 200, 0, 15, 2, 9, 9]))
    #expect(elements == [Element(id: 200, offset: 19, size: 0), Element(id: 15, offset: 21, size: 2)])
    #expect(ending == .complete)
  }

  @Test func `id 15 stops the one-byte form and keeps what came before`() throws {
    let (elements, ending) = try walk(packet(profile: 0xBEDE, [0x10, 1, 0xF0, 2, 0x20, 3]))
    #expect(elements == [Element(id: 1, offset: 17, size: 1)])
    #expect(ending == .stopped)
  }

  @Test(
    arguments: [
      (0xBEDE, [0x10, 1, 0x2F, 0]), (0xBEDE, [0x10, 1, 0, 0x20]), (0x1000, [1, 1, 9, 2]),
      (0x1000, [1, 1, 9, 2, 4, 0, 0, 7]), (0x1000, [1, 1, 9, 0, 0, 0, 0, 2]), (0x1000, [1, 0, 2, 255]),
    ] as [(UInt16, [UInt8])])
  func `an element that runs out of the block ends the walk`(profile: UInt16, body: [UInt8]) throws {
    let (elements, ending) = try walk(packet(profile: profile, body))
    #expect(elements.count == 1)
    #expect(elements.first?.id == 1)
    #expect(ending == .overrun)
  }

  @Test func `padding with a length is no element`() throws {
    let (elements, ending) = try walk(packet(profile: 0xBEDE, [0x01, 0, 0, 0]))
    #expect(elements == [])
    #expect(ending == .paddingWithLength)
  }

  @Test(arguments: [0xBEDF, 0x0000, 0x1010, 0xFFFF] as [UInt16])
  func `blocks in other forms are left alone`(profile: UInt16) throws {
    let (elements, ending) = try walk(packet(profile: profile, [0x10, 1, 0, 0]))
    #expect(elements == [])
    #expect(ending == .unknownForm)
  }

  @Test func `a header of another packet leads nowhere outside of this one`() throws {
    let long = try withBytes(packet(profile: 0xBEDE, Array(repeating: 0x10, count: 64))) {
      packet throws(RTPError) in try RTPHeader(packet)
    }
    let short = packet(profile: 0xBEDE, [0x10, 1])
    withBytes(short) { packet in
      var reader = HeaderExtensionReader(packet, long)
      let element = reader.next()
      #expect(element == nil)
      #expect(reader.ending == .overrun)
    }
  }

  @Test func `audio level, transport sequence and MID are read from their elements`() throws {
    let mid = try #require(MIDBytes("v1"))
    withBytes([0x85, 0x12, 0x34, 118, 49, 118]) { bytes in
      let level = AudioLevel(bytes, Element(id: 1, offset: 0, size: 1))
      #expect(level == AudioLevel(attenuation: 5, voice: true))
      #expect(level?.byte == 0x85)
      #expect(TransportSequence.read(bytes, Element(id: 2, offset: 1, size: 2)) == 0x1234)
      #expect(mid.matches(bytes, Element(id: 3, offset: 3, size: 2)))
    }
  }

  @Test func `a time of capture is read by the sender's clock, whatever clock captured`() {
    let time: [UInt8] = [0xE1, 2, 3, 4, 0x80, 0, 0, 0]
    let half: [UInt8] = [0, 0, 0, 1, 0x80, 0, 0, 0]
    let behind: [UInt8] = Array(repeating: 0xFF, count: 8)
    func read(_ bytes: [UInt8], at offset: Int, isLong: Bool) -> UInt64? {
      withBytes(bytes) { AbsoluteCaptureTime.read($0, at: offset, isLong: isLong)?.rawValue }
    }
    #expect(read(time, at: 0, isLong: false) == 0xE102_0304_8000_0000)
    #expect(read(time + half, at: 0, isLong: true) == 0xE102_0303_0000_0000)
    #expect(read(time + behind, at: 0, isLong: true) == 0xE102_0304_8000_0001)
    #expect(read(time + half, at: 1, isLong: true) == nil)
    #expect(read(time, at: 0, isLong: true) == nil)
    #expect(read(time, at: -1, isLong: false) == nil && read(time, at: 1, isLong: false) == nil)
  }

  @Test func `a time of capture is written inside of its packet or not at all`() {
    var bytes = [UInt8](repeating: 7, count: 10)
    let written = [-1, 3, 1].map { offset in
      bytes.withUnsafeMutableBytes { AbsoluteCaptureTime.write(NTPTime(rawValue: 0x0102), $0, at: offset) }
    }
    #expect(written == [false, false, true])
    #expect(bytes == [7, 0, 0, 0, 0, 0, 0, 1, 2, 7])
  }

  @Test func `elements of the wrong size have no value`() throws {
    let mid = try #require(MIDBytes("v1"))
    withBytes([0x85, 0x12, 0x34, 118, 49, 118]) { bytes in
      #expect(AudioLevel(bytes, Element(id: 1, offset: 0, size: 0)) == nil)
      #expect(AudioLevel(bytes, Element(id: 1, offset: 6, size: 1)) == nil)
      #expect(TransportSequence.read(bytes, Element(id: 2, offset: 1, size: 1)) == nil)
      #expect(TransportSequence.read(bytes, Element(id: 2, offset: 5, size: 2)) == nil)
      #expect(!mid.matches(bytes, Element(id: 3, offset: 3, size: 1)))
      #expect(!mid.matches(bytes, Element(id: 3, offset: 3, size: 3)))
      #expect(!mid.matches(bytes, Element(id: 3, offset: 4, size: 2)))
      #expect(!mid.matches(bytes, Element(id: 3, offset: 5, size: 2)))
    }
    #expect(MIDBytes("") == nil)
    #expect(MIDBytes(String(repeating: "m", count: 33)) == nil)
  }

  @Test func `the transport sequence is replaced in place and never outside`() {
    let bytes = written(capacity: 4) { buffer in
      let inside = TransportSequence.write(0xABCD, buffer, at: 2)
      let outside =
        TransportSequence.write(0xFFFF, buffer, at: 3) || TransportSequence.write(1, buffer, at: -1)
      return inside && !outside ? 4 : nil
    }
    #expect(bytes == [0xEE, 0xEE, 0xAB, 0xCD])
  }
}
