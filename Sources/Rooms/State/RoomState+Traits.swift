internal import Engine
internal import Model

/// What the media plane is to know of tracks that their packets don't say.
extension RoomState {
  private func traits(of track: TrackInfo, isSpeaking: Bool) -> TrackTraits {
    var traits: TrackTraits = []
    if track.isScreen { traits.insert(.screen) }
    if track.isEncrypted { traits.insert(.encrypted) }
    if isSpeaking { traits.insert(.speaking) }
    return traits
  }

  /// A track begins.
  /// - Parameter isAgain: its section had another, whose traits the media plane still knows.
  mutating func describe(_ track: PublishedTrack, of member: Int, isAgain: Bool) {
    let traits = traits(of: track.info, isSpeaking: members[member].floor.isLastSpeaker && track.info.isShown)
    #if PLANTED_DEFECTS
      let isNew = !isAgain || PlantedDefect.isOn(.traitsSurvive)
    #else
      let isNew = !isAgain
    #endif
    if !isNew || !traits.isEmpty { emit(.post(.describe(track.key, traits))) }
  }

  /// Others speak than before. Where all are silent, who spoke last counts on.
  mutating func describeSpeakers(_ found: [Speaker]) {
    guard !found.isEmpty else { return }
    for member in members.indices {
      let speaks = found.contains { $0.participant == members[member].id }
      guard speaks != members[member].floor.isLastSpeaker else { continue }
      members[member].floor.isLastSpeaker = speaks
      for track in members[member].transports.flatMap(\.published) where track.info.isShown {
        emit(.post(.describe(track.key, traits(of: track.info, isSpeaking: speaks))))
      }
    }
  }
}

extension TrackInfo {
  /// The picture of the one who speaks.
  fileprivate var isShown: Bool { kind == .video && !isScreen }
}
