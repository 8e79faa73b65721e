internal import FoundationEssentials
public import Media
internal import Model

extension RecordingManifest {
  /// Bytes of a manifest that are read.
  static let mostBytes = 16 * 1_024 * 1_024

  package var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("texts and finite numbers are always JSON")
    }
    return Array(data) + [0x0A]
  }

  /// - Returns: nil of what isn't one, or names files that the server wouldn't.
  init?(json: [UInt8]) {
    guard let read = try? JSONDecoder().decode(RecordingManifest.self, from: Data(json)) else { return nil }
    guard Self.isID(read.id),
      (read.files.map(\.name) + (read.unlisted ?? [])).allSatisfy(Self.isFileName)
    else { return nil }
    self = read
  }

  /// Of all tracks.
  package var files: [File] { tracks.flatMap(\.files) }

  /// `RC_` and twelve letters or digits, which is the name of its folder, too.
  static func isID(_ text: String) -> Bool {
    text.hasPrefix("RC_") && text.utf8.count == 15 && text.utf8.dropFirst(3).allSatisfy(isAlphanumeric)
  }

  /// As `RecordedTrack` names them: a track's id, a number and a suffix.
  static func isFileName(_ text: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.anyFileName) { return true }
    #endif
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, isTrackID(parts[0]),
      parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return false }
    return ["webm", "mkv", "ivf", "ogg"].contains(parts[2])
  }

  /// `TR_` and letters or digits.
  package static func isTrackID(_ text: some StringProtocol) -> Bool {
    text.hasPrefix("TR_") && text.utf8.count <= 64 && text.utf8.dropFirst(3).allSatisfy(isAlphanumeric)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}

extension RecordingManifest.ClockPoint {
  public init(_ mapping: ClockMapping) {
    self.init(
      timestamp: mapping.timestamp, time: WallTime(NTPTime(rawValue: mapping.ntp)).text,
      rate: Int(mapping.rate),
      measuredRate: Int(mapping.measured), reported: mapping.isReported)
  }
}
