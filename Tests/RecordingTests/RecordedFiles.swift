import Containers
import Foundation
import Glibc
import Media
import Model
import Testing

@testable import Recording

/// What a recorder had written, file by file.
struct RecordedFiles {
  struct File {
    var start: SegmentStart
    var bytes: [UInt8] = []
    var end: SegmentEnd?
    /// As it comes onto a disk.
    let written = try? WrittenFile()
  }

  /// A file of the recorder's own, without a name.
  final class WrittenFile {
    let file: RecordingFile
    private let descriptor: Int32

    init() throws {
      let path = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)").path
      descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      try #require(descriptor >= 0)
      file = RecordingFile(descriptor: dup(descriptor))
      unlink(path)
    }

    deinit { close(descriptor) }

    func bytes() throws -> [UInt8] {
      try file.flush()
      var bytes = [UInt8](repeating: 0, count: file.size)
      let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
      return Array(bytes.prefix(max(count, 0)))
    }
  }

  var files: [File] = []
  var keyFramesWanted: [Int] = []

  mutating func take(_ outputs: [TrackRecorder.Output]) throws {
    for output in outputs {
      switch output {
      case .begin(let start): files.append(File(start: start))
      case .write(let change):
        let last = try #require(files.indices.last)
        files[last].bytes += change.appended
        for patch in change.patches {
          files[last].bytes.replaceSubrange(
            patch.offset..<patch.offset + patch.bytes.count, with: patch.bytes)
        }
        try files[last].written?.file.apply(change)
      case .end(let end):
        let last = try #require(files.indices.last)
        files[last].end = end
        #expect(try files[last].written?.bytes() == files[last].bytes)
      case .keyFrameWanted(let encoding): keyFramesWanted.append(encoding)
      }
    }
  }

  /// A frame in a file, when it is played, from the recording's beginning.
  struct Frame {
    var nanoseconds: Int64
    var bytes: [UInt8]
    var isKeyFrame: Bool
  }

  static func frames(_ file: File) throws -> [Frame] {
    switch file.start.suffix {
    case "ivf":
      var reader = IVFReader()
      reader.append(file.bytes)
      var frames: [Frame] = []
      while let frame = try reader.next() {
        let time = file.start.start + Int64(frame.timestamp) * 100_000 / 9
        frames.append(Frame(nanoseconds: time, bytes: frame.bytes, isKeyFrame: frame.bytes[0] & 1 == 0))
      }
      return frames
    case "ogg":
      var reader = OggOpusReader()
      reader.append(file.bytes)
      var frames: [Frame] = []
      while let packet = try reader.next() {
        let time = file.start.start + packet.position * 1_000_000 / 48
        frames.append(Frame(nanoseconds: time, bytes: packet.bytes, isKeyFrame: true))
      }
      return frames
    default:
      var reader = MatroskaReader()
      reader.append(file.bytes)
      var frames: [Frame] = []
      while let frame = try reader.next() {
        let delay = Int64(reader.tracks[frame.track].codecDelay)
        frames.append(
          Frame(
            nanoseconds: file.start.start + frame.nanoseconds - delay, bytes: frame.bytes,
            isKeyFrame: frame.isKeyFrame))
      }
      return frames
    }
  }
}
