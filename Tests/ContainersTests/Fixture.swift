import Foundation
import TestScripts

/// A file that another tool made, and what ffmpeg finds in it.
struct Fixture {
  /// A frame as ffmpeg lists it.
  struct Line: Equatable {
    var track: Int
    /// In units of its track, as it is presented.
    var time: Int64
    var size: Int
    var checksum: UInt32
    var isKeyFrame: Bool
  }

  static let folder = Script.root.appending(path: "Tests/Fixtures/containers")

  let bytes: [UInt8]
  let lines: [Line]

  init(_ name: String) throws {
    bytes = try Self.bytes(of: name)
    lines = Self.lines(
      String(decoding: try Data(contentsOf: Self.folder.appending(path: name + ".frames")), as: UTF8.self))
  }

  static func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }

  /// What `ffmpeg -f framecrc` wrote.
  static func lines(_ text: String) -> [Line] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      guard !line.hasPrefix("#"), fields.count >= 6, let track = Int(fields[0]), let time = Int64(fields[2]),
        let size = Int(fields[4]), let checksum = UInt32(fields[5].dropFirst(2), radix: 16)
      else { return nil }
      return Line(
        track: track, time: time, size: size, checksum: checksum, isKeyFrame: !fields.contains("F=0x0"))
    }
  }

  /// What ffmpeg finds in a file of ours.
  static func lines(inFile bytes: [UInt8], named name: String) throws -> [Line] {
    try Tool.inFolder { folder in
      let path = folder.appending(path: name)
      try Data(bytes).write(to: path)
      let arguments = [
        "-loglevel", "error", "-i", path.path, "-map", "0", "-c", "copy", "-f", "framecrc", "-",
      ]
      return lines(try Tool.run("ffmpeg", arguments).output)
    }
  }

  /// As ffmpeg counts it.
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }
}
