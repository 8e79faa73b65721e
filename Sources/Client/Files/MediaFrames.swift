internal import Containers
internal import Model
internal import Wire

/// The frames of a file of media, whatever its container, in the form that packets are made of.
struct MediaFrames {
  struct Frame: Equatable {
    /// Its place in `tracks`.
    var track: Int
    /// When it is played, from the file's beginning.
    var nanoseconds: Int64
    /// Of sound; 0 of pictures.
    var duration: Int64 = 0
    var bytes: [UInt8]
  }

  private enum Reader {
    case ivf(IVFReader)
    case ogg(OggOpusReader)
    case matroska(MatroskaReader)
  }

  private var reader: Reader?
  private var begin: [UInt8] = []
  private var waiting: [Frame] = []
  private var taken = 0
  private var avc: AVCFrames?
  /// The track of the file that each of `tracks` is.
  private var places: [Int] = []
  /// Of pictures one and of sound one, once the file has said so.
  private(set) var tracks: [Codec] = []
  /// Names of those that the file has beside them, or instead.
  private(set) var others: [String] = []
  private(set) var isKnown = false

  /// The same file from its beginning.
  mutating func beginAgain() {
    reader = nil
    begin = []
    waiting = []
    taken = 0
  }

  mutating func append(_ bytes: [UInt8]) throws(MediaFileError) {
    switch reader {
    case .ivf(var ivf):
      reader = nil
      ivf.append(bytes)
      reader = .ivf(ivf)
    case .ogg(var ogg):
      reader = nil
      ogg.append(bytes)
      reader = .ogg(ogg)
    case .matroska(var matroska):
      reader = nil
      matroska.append(bytes)
      reader = .matroska(matroska)
    case nil:
      begin += bytes
      guard begin.count >= 4 else { return }
      switch begin.prefix(4) {
      case [0x44, 0x4B, 0x49, 0x46]: reader = .ivf(IVFReader())
      case [0x4F, 0x67, 0x67, 0x53]: reader = .ogg(OggOpusReader())
      case [0x1A, 0x45, 0xDF, 0xA3]: reader = .matroska(MatroskaReader())
      default: throw .unknownFormat
      }
      let all = begin
      begin = []
      try append(all)
    }
  }

  /// - Returns: nil until more has come.
  mutating func next() throws(MediaFileError) -> Frame? {
    while true {
      if taken < waiting.count {
        defer { taken += 1 }
        return waiting[taken]
      }
      waiting.removeAll(keepingCapacity: true)
      taken = 0
      do throws(ContainerError) {
        guard try step() else { return nil }
      } catch { throw .invalid(error) }
      if isKnown, tracks.isEmpty { throw .noTrack(others: others) }
    }
  }

  /// - Returns: false until more has come.
  private mutating func step() throws(ContainerError) -> Bool {
    switch reader {
    case .ivf(var ivf):
      // Two owners of what waits would copy it.
      reader = nil
      defer { reader = .ivf(ivf) }
      guard let frame = try ivf.next(), let header = ivf.header else { return false }
      know([header.codec])
      let unit = 1e9 * Double(header.scale) / Double(header.rate)
      add(frame.bytes, track: 0, at: Int64(min(Double(frame.timestamp) * unit, 9e18)), isKeyFrame: false)
    case .ogg(var ogg):
      reader = nil
      defer { reader = .ogg(ogg) }
      guard let packet = try ogg.next(), let head = ogg.head else { return false }
      know([.opus])
      let position = packet.position - Int64(head.preSkip)
      let (units, overflow) = position.multipliedReportingOverflow(by: 62_500)
      if !overflow { add(packet.bytes, track: 0, at: units / 3, isKeyFrame: true) }
    case .matroska(var matroska):
      reader = nil
      defer { reader = .matroska(matroska) }
      guard let frame = try matroska.next() else { return false }
      know(matroska)
      guard let track = places.firstIndex(of: frame.track) else { return true }
      let delay = Int64(clamping: matroska.tracks[frame.track].codecDelay)
      add(
        frame.bytes, track: track, at: frame.nanoseconds - min(delay, 1_000_000_000),
        isKeyFrame: frame.isKeyFrame)
    case nil: return false
    }
    return true
  }

  private mutating func know(_ codecs: [Codec]) {
    guard !isKnown else { return }
    isKnown = true
    for (place, codec) in codecs.enumerated() {
      let isTaken = tracks.contains { $0.kind == codec.kind }
      guard !isTaken, codec != .h265, codec != .red else {
        others.append(codec.encodingName)
        continue
      }
      tracks.append(codec)
      places.append(place)
    }
  }

  private mutating func know(_ matroska: MatroskaReader) {
    guard !isKnown else { return }
    know(matroska.tracks.map(\.codec))
    guard let track = tracks.firstIndex(of: .h264) else { return }
    avc = AVCFrames(matroska.tracks[places[track]].codecPrivate)
    guard avc == nil else { return }
    // Without its parameters nothing can be made of it.
    others.append("H264 without parameters")
    tracks.remove(at: track)
    places.remove(at: track)
  }

  private mutating func add(_ bytes: [UInt8], track: Int, at time: Int64, isKeyFrame: Bool) {
    guard !bytes.isEmpty else { return }
    switch tracks[track] {
    case .opus:
      guard let packet = try? OpusPacket(bytes) else { return }
      let duration = Int64(packet.samples) * 62_500 / 3
      waiting.append(Frame(track: track, nanoseconds: time, duration: duration, bytes: bytes))
    case .pcmu, .pcma, .g722:
      // A byte for each 125 µs, in packets of 20 ms.
      for start in stride(from: 0, to: bytes.count, by: 160) {
        let piece = Array(bytes[start..<min(start + 160, bytes.count)])
        let (begins, overflow) = time.addingReportingOverflow(Int64(start) * 125_000)
        guard !overflow else { return }
        waiting.append(
          Frame(track: track, nanoseconds: begins, duration: Int64(piece.count) * 125_000, bytes: piece))
      }
    case .h264:
      guard let frame = avc?.frame(bytes, isKeyFrame: isKeyFrame) else { return }
      waiting.append(Frame(track: track, nanoseconds: time, bytes: frame))
    default: waiting.append(Frame(track: track, nanoseconds: time, bytes: bytes))
    }
  }
}
