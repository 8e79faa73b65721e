public import Model

/// What a track shows or lets hear, by its publisher's word.
public enum TrackSource: String, Sendable, CaseIterable, Codable {
  case camera
  case microphone
  case screenShare = "screen_share"
  case screenShareAudio = "screen_share_audio"
  case unknown

  /// Whether a section of that kind can carry the source.
  public func fits(_ kind: MediaKind) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.sourceOfAnyKind) { return true }
    #endif
    return switch self {
    case .camera, .screenShare: kind == .video
    case .microphone, .screenShareAudio: kind == .audio
    case .unknown: true
    }
  }

  /// What a section is taken for that says nothing of its source.
  public static func usual(of kind: MediaKind) -> TrackSource { kind == .audio ? .microphone : .camera }
}
