import Containers
import Foundation
import Media
import Model
import Recording
import TestScripts
import Testing
import Wire

@Suite("Files of each codec, as ffmpeg finds them", .timeLimit(.minutes(1)))
struct CodecFilesTests {
  static let folder = Script.root.appending(path: "Tests/Fixtures/containers")

  /// Packets that GStreamer's payloaders made, 10 ms apart.
  static func packets(_ name: String, _ format: CodecFormat) throws -> [FramePacket] {
    let bytes = Array(try Data(contentsOf: folder.appending(path: name + ".rtp")))
    var packets: [FramePacket] = []
    var offset = 0
    while offset + 2 <= bytes.count {
      let size = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
      let packet = Array(bytes[(offset + 2)..<(offset + 2 + size)])
      offset += 2 + size
      let header = try packet.withUnsafeBytes { packet in
        Result { () throws(RTPError) in try RTPHeader(packet) }
      }
      .get()
      packets.append(
        FramePacket(
          sequence: Int64(packets.count), timestamp: header.timestamp, marker: header.marker, format: format,
          ssrc: header.ssrc, arrival: Instant(nanoseconds: Int64(packets.count) * 10_000_000),
          payload: Array(packet[header.payloadOffset..<(header.payloadOffset + header.payloadSize)])))
    }
    return packets
  }

  /// Of AV1, for which GStreamer may have no payloader.
  static func packets(dividing name: String, _ format: CodecFormat) throws -> [FramePacket] {
    var reader = IVFReader()
    reader.append(Array(try Data(contentsOf: folder.appending(path: name))))
    var packetizer = try #require(Packetizer(format.codec))
    var packets: [FramePacket] = []
    while let frame = try reader.next() {
      for payload in packetizer.payloads(of: frame.bytes) {
        packets.append(
          FramePacket(
            sequence: Int64(packets.count), timestamp: UInt32(truncatingIfNeeded: frame.timestamp),
            marker: payload.marker, format: format, ssrc: 1,
            arrival: Instant(nanoseconds: Int64(packets.count) * 10_000_000), payload: payload.bytes))
      }
    }
    return packets
  }

  static func record(_ kind: MediaKind, _ packets: [FramePacket]) throws -> RecordedFiles.File {
    var recorder = TrackRecorder(kind, terms: TrackRecorderTests.terms)
    var files = RecordedFiles()
    for packet in packets {
      recorder.take(packet, clock: nil)
      try files.take(recorder.poll(now: packet.arrival))
    }
    try files.take(recorder.finish(now: .never))
    #expect(files.files.count == 1)
    return try #require(files.files.first)
  }

  /// What ffmpeg says of a file, which it decodes to its end.
  static func decoded(_ file: URL, as form: String) throws -> [String] {
    let done = try Tool.run(
      "ffmpeg",
      ["-loglevel", "error", "-xerror", "-i", file.path, "-fps_mode", "passthrough", "-f", form, "-"])
    #expect(done.status == 0, "\(done.output)")
    return done.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
      $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
    }
  }

  @Test(arguments: [
    ("vp8", CodecFormat.vp8, "vp8.ivf", "webm"), ("vp9", CodecFormat(.vp9), "vp9.ivf", "webm"),
    ("av1", CodecFormat(.av1), "av1.ivf", "webm"),
    ("h264", .h264(.constrainedBaseline, mode: 1)!, "h264.h264", "mkv"),
    ("h265", CodecFormat(.h265), "h265.h265", "mkv"),
  ])
  func `pictures of a file are those that its publisher encoded`(
    name: String, format: CodecFormat, original: String, suffix: String
  ) throws {
    let packets =
      name == "av1" ? try Self.packets(dividing: original, format) : try Self.packets(name, format)
    let file = try Self.record(.video, packets)
    #expect(file.start.suffix == suffix)
    try Tool.inFolder { folder in
      let path = folder.appending(path: "a.\(suffix)")
      try Data(file.bytes).write(to: path)
      let pictures = try Self.decoded(path, as: "framemd5")
      #expect(pictures == (try Self.decoded(Self.folder.appending(path: original), as: "framemd5")))
      #expect(UInt64(pictures.count) == file.end?.frames)
      print("\(name): \(pictures.count) pictures in \(suffix), as they were encoded")
    }
  }

  @Test(arguments: [
    ("pcm_mulaw", Codec.pcmu, 8_000), ("pcm_alaw", .pcma, 8_000), ("adpcm_g722", .g722, 16_000),
  ])
  func `telephone sound lies in Matroska, and is decoded as what it is`(name: String, codec: Codec, rate: Int)
    throws
  {
    var source = Source(CodecFormat(codec))
    let packets = (0..<100).map { index in
      var packet = source.sound(at: Int64(index) * 20_000_000)
      packet.payload = (0..<160).map { UInt8(truncatingIfNeeded: index + $0) }
      return packet
    }
    let file = try Self.record(.audio, packets)
    #expect(file.start.suffix == "mkv")
    #expect(try RecordedFiles.frames(file).map(\.bytes) == packets.map(\.payload))
    try Tool.inFolder { folder in
      let path = folder.appending(path: "a.mkv")
      try Data(file.bytes).write(to: path)
      let probed = try Tool.run(
        "ffprobe",
        [
          "-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels", "-of", "csv=p=0",
          path.path,
        ])
      #expect(probed.output == "\(name),\(rate),1\n")
      let samples = try Self.decoded(path, as: "framecrc")
      print("\(codec): \(samples.count) packets in mkv")
      #expect(samples.count == 100)
    }
  }
}
