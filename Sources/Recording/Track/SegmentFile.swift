internal import Containers
internal import Model

/// Which files tracks become.
public enum RecordingForm: String, Sendable, CaseIterable {
  /// Everything in WebM, and what WebM doesn't have in Matroska.
  case webm
  /// VP8, VP9 and AV1 in IVF and Opus in Ogg, for tools that read nothing else; the others in Matroska.
  case simple
}

/// One file of one track, as its container wants it.
struct SegmentFile: Sendable {
  private enum Container: Sendable {
    case matroska(MatroskaWriter)
    case ivf(IVFWriter)
    case ogg(OggOpusWriter)
  }

  private static let application = "Roost"

  private var container: Container
  let codec: Codec
  /// Without a dot.
  let suffix: String

  /// - Parameters:
  ///   - serial: of a stream of Ogg.
  ///   - change: gets what stands in front.
  /// - Returns: nil of a codec that has no file.
  init?(_ track: MatroskaTrack, form: RecordingForm, serial: UInt32, into change: inout FileChange) {
    codec = track.codec
    switch (form, track.codec) {
    case (.simple, .vp8), (.simple, .vp9), (.simple, .av1):
      let header = IVFHeader(codec: codec, width: track.size.width, height: track.size.height)
      guard let writer = IVFWriter(header, into: &change) else { return nil }
      (container, suffix) = (.ivf(writer), "ivf")
    case (.simple, .opus):
      let head = OpusHead(channels: track.channels)
      container = .ogg(OggOpusWriter(head, serial: serial, encoder: Self.application, into: &change))
      suffix = "ogg"
    default:
      guard let writer = MatroskaWriter([track], application: Self.application, into: &change) else {
        return nil
      }
      (container, suffix) = (.matroska(writer), track.isWebM ? "webm" : "mkv")
    }
  }

  /// Sound lies without gaps in the file, and so has no times of its own.
  var countsSamples: Bool { if case .ogg = container { true } else { false } }

  /// Adds a frame.
  /// - Parameters:
  ///   - nanoseconds: from the file's beginning.
  ///   - samples: of sound, in units of its clock.
  mutating func add(
    _ frame: [UInt8], nanoseconds: Int64, samples: Int = 0, isKeyFrame: Bool, into change: inout FileChange
  ) {
    switch container {
    case .matroska(var writer):
      let delay = codec == .opus ? Int64(OpusHead.lookahead) * 1_000_000 / 48 : 0
      writer.add(
        frame, nanoseconds: nanoseconds + delay,
        duration: Int64(samples) * 1_000_000_000 / Int64(codec.clockRate), isKeyFrame: isKeyFrame,
        into: &change)
      container = .matroska(writer)
    case .ivf(var writer):
      let timestamp = UInt64(max(0, nanoseconds)) * 9 / 100_000
      writer.add(frame, timestamp: timestamp, into: &change)
      container = .ivf(writer)
    case .ogg(var writer):
      writer.add(frame, samples: samples, into: &change)
      container = .ogg(writer)
    }
  }

  mutating func finish(into change: inout FileChange) {
    switch container {
    case .matroska(var writer):
      writer.finish(into: &change)
      container = .matroska(writer)
    case .ivf(let writer): writer.finish(into: &change)
    case .ogg(var writer):
      writer.finish(into: &change)
      container = .ogg(writer)
    }
  }
}
