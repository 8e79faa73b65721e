import Containers
import Foundation
import TestScripts
import Testing

@Suite("Opus in Ogg, RFC 3533 and RFC 7845", .timeLimit(.minutes(1)))
struct OggOpusTests {
  static func read(_ bytes: [UInt8], step: Int) throws -> (head: OpusHead?, packets: [OggOpusReader.Packet]) {
    var reader = OggOpusReader()
    var packets: [OggOpusReader.Packet] = []
    for start in stride(from: 0, to: bytes.count, by: step) {
      reader.append(bytes[start..<min(bytes.count, start + step)])
      while let packet = try reader.next() { packets.append(packet) }
    }
    return (reader.head, packets)
  }

  @Test func `opusenc's file is read packet by packet, in pieces of any size`() throws {
    let fixture = try Fixture("opus.ogg")
    for step in [1, 97, 100_000] {
      let (head, packets) = try Self.read(fixture.bytes, step: step)
      #expect(head == OpusHead(channels: 1, preSkip: 312, inputRate: 48_000, gain: 0))
      #expect(packets.map { Fixture.checksum($0.bytes) } == fixture.lines.map(\.checksum))
      // ffmpeg takes the pre-skip off.
      #expect(packets.map { $0.position - 312 } == fixture.lines.map(\.time))
      #expect(packets.allSatisfy { $0.samples == 960 })
    }
  }

  @Test func `ffmpeg and opusinfo read what is written, and its length is what was laid into it`() throws {
    let (_, packets) = try Self.read(try Fixture("opus.ogg").bytes, step: 4_096)
    var change = FileChange()
    var writer = OggOpusWriter(OpusHead(channels: 1), serial: 9, encoder: "Roost", into: &change)
    for packet in packets { writer.add(packet.bytes, samples: packet.samples, into: &change) }
    writer.finish(into: &change)
    let file = try applied(change)
    let lines = try Fixture.lines(inFile: file, named: "a.ogg")
    #expect(lines.map(\.checksum) == packets.map { Fixture.checksum($0.bytes) })
    #expect(lines.map(\.time) == packets.map { $0.position - 312 })
    #expect(try Self.read(file, step: 50).packets == packets)
    let said = try opusinfo(file)
    #expect(!said.contains("WARNING") && said.contains("Pre-skip: 312"))
    #expect(said.contains("Playback length: 0m:01.0"))
  }

  func opusinfo(_ file: [UInt8]) throws -> String {
    try Tool.inFolder { folder in
      let path = folder.appending(path: "a.ogg")
      try Data(file).write(to: path)
      return try Tool.run("opusinfo", [path.path]).output
    }
  }

  @Test(arguments: [254, 255, 256, 509, 510, 1_275, 10_000])
  func `a packet of any length is laid into segments that end it`(size: Int) throws {
    // One frame of 20 ms.
    let packet = [UInt8(0xF8)] + (1..<size).map { UInt8(truncatingIfNeeded: $0) }
    var change = FileChange()
    var writer = OggOpusWriter(OpusHead(channels: 2), serial: 1, encoder: "", into: &change)
    for _ in 0..<40 { writer.add(packet, samples: 960, into: &change) }
    writer.finish(into: &change)
    let read = try Self.read(try applied(change), step: 1_000).packets
    #expect(read.count == 40 && read.allSatisfy { $0.bytes == packet })
    #expect(try Fixture.lines(inFile: try applied(change), named: "a.ogg").count == 40)
  }

  @Test func `comments that fill several pages are passed over, and go on where they were left`() throws {
    var change = FileChange()
    let long = String(repeating: "a", count: 200_000)
    var writer = OggOpusWriter(OpusHead(channels: 1), serial: 1, encoder: long, into: &change)
    writer.add([0xF8, 1], samples: 960, into: &change)
    writer.finish(into: &change)
    let file = try applied(change)
    #expect(try Self.read(file, step: 999).packets.map(\.bytes) == [[0xF8, 1]])
    #expect(!(try opusinfo(file).contains("WARNING")))
  }

  @Test func `a page spans a second at most, and each has its own end`() throws {
    var change = FileChange()
    var writer = OggOpusWriter(OpusHead(channels: 1), serial: 1, encoder: "", into: &change)
    for _ in 0..<500 { writer.add([0xF8, 1], samples: 960, into: &change) }
    writer.finish(into: &change)
    let file = try applied(change)
    let starts = file.indices.filter { file[$0...].starts(with: "OggS".utf8) }
    let granules = starts.map { start in (0..<8).reduce(0) { $0 | Int(file[start + 6 + $1]) << (8 * $1) } }
    #expect(granules.last == 480_000)
    #expect(zip(granules, granules.dropFirst()).allSatisfy { 0...48_000 ~= $1 - $0 })
    // What a crash leaves is readable up to its last whole page.
    for start in starts.dropFirst(3) {
      let cut = Array(file[..<(start + 100)])
      let whole = granules[starts.firstIndex(of: start)! - 1] / 960
      #expect(try Self.read(cut, step: 10_000).packets.count == whole)
    }
  }

  @Test func `a page whose sum is another is named as damaged`() throws {
    var bytes = try Fixture("opus.ogg").bytes
    let starts = bytes.indices.filter { bytes[$0...].starts(with: "OggS".utf8) }
    let last = starts.last!
    bytes[last + 6] ^= 1
    #expect(throws: ContainerError.damaged(offset: last)) { try Self.read(bytes, step: 512) }
  }

  @Test func `a stream that was cut out of a longer one begins at nothing, and ends where it says`() throws {
    // Head and comments, a page that begins at 1,000,000 and has ten packets, and a last one whose half is to be played.
    let head = OpusHead(channels: 1).bytes
    var file = oggPage(flags: 2, granule: 0, number: 0, [head])
    file += oggPage(
      flags: 0, granule: 0, number: 1, [Array("OpusTags".utf8) + [UInt8](repeating: 0, count: 8)])
    file += oggPage(
      flags: 0, granule: 1_009_600, number: 2, Array(repeating: [0xF8, 1], count: 10))
    file += oggPage(flags: 4, granule: 1_014_400, number: 3, Array(repeating: [0xF8, 2], count: 10))
    let packets = try Self.read(file, step: 10_000).packets
    #expect(packets.first?.position == 0)
    #expect(packets.count == 15)
  }

  @Test func `a packet goes on in the next page, and is dropped where that is missing`() throws {
    let head = OpusHead(channels: 1).bytes
    let start =
      oggPage(flags: 2, granule: 0, number: 0, [head])
      + oggPage(flags: 0, granule: 0, number: 1, [Array("OpusTags".utf8) + [UInt8](repeating: 0, count: 8)])
    let part = [UInt8(0xF8)] + [UInt8](repeating: 7, count: 254)
    let first = oggPage(flags: 0, granule: -1, number: 2, [part], isOpen: true)
    let second = oggPage(flags: 1, granule: 1_920, number: 3, [[9], [0xF8, 2]])
    #expect(
      try Self.read(start + first + second, step: 33).packets.map(\.bytes) == [part + [9], [0xF8, 2]])
    #expect(try Self.read(start + second, step: 33).packets.map(\.bytes) == [[0xF8, 2]])
    let other = oggPage(flags: 0, granule: 960, number: 3, [[0xF8, 3]])
    #expect(try Self.read(start + first + other, step: 33).packets.map(\.bytes) == [[0xF8, 3]])
  }

  @Test func `another stream in the file is passed over, and one behind the end is read on`() throws {
    let bytes = try Fixture("opus.ogg").bytes
    let once = try Self.read(bytes, step: 512).packets
    let other = oggPage(flags: 2, granule: 0, number: 0, serial: 99, [Array("fishead".utf8)])
    let twice = try Self.read(other + bytes + bytes, step: 512).packets
    #expect(twice.count == 2 * once.count)
    #expect(twice.last?.position == once.last.map { $0.position * 2 + 960 })
  }

  @Test func `other channels, versions and endless packets are refused`() throws {
    #expect(throws: ContainerError.self) {
      try Self.read(oggPage(flags: 2, granule: 0, number: 0, [OpusHead(channels: 3).bytes]), step: 9)
    }
    var newer = OpusHead(channels: 1).bytes
    newer[8] = 16
    #expect(throws: ContainerError.self) {
      try Self.read(oggPage(flags: 2, granule: 0, number: 0, [newer]), step: 9)
    }
    var endless = oggPage(flags: 2, granule: 0, number: 0, [OpusHead(channels: 1).bytes])
    endless += oggPage(
      flags: 0, granule: 0, number: 1, [Array("OpusTags".utf8) + [UInt8](repeating: 0, count: 8)])
    for number in 2..<4 {
      let part = [UInt8](repeating: 0xF8, count: 255 * 255)
      endless += oggPage(
        flags: number == 2 ? 0 : 1, granule: -1, number: UInt32(number), [part], isOpen: true)
    }
    #expect(throws: ContainerError.self) { try Self.read(endless, step: 4_096) }
  }
}
