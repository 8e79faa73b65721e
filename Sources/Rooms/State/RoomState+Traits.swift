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

extension RoomState {
  /// A publisher says how large the pictures of its track are from now on: it scales its encodings otherwise than it offered, or sends
  /// another camera's pictures, and where frames are encrypted end to end nothing in a packet says so.
  mutating func resize(
    _ track: String, _ layers: [OfferedLayer], on transport: TransportID, by id: ParticipantID
  ) throws(RequestError) {
    let member = try asking(id)
    guard let place = handlePlace(of: transport, of: member) else { throw .gone }
    guard let known = self[place].published.first(where: { $0.info.id.text == track }) else {
      throw .unknownTrack
    }
    let (source, kind) = (known.info.source, known.info.kind)
    guard members[member].mayPublish(source, as: kind, on: self[place], inNewSection: false) else {
      throw .notAllowed("publishing this (canPublish, canPublishSources)")
    }
    var encodings = self[place].encodings(ofTrack: known.key)
    encodings.take(layers)
    let sizes = encodings.map(\.picture)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.resizeUnheard) { return }
    #endif
    if kind == .video, sizes.contains(where: { $0.pixels > 0 }) { emit(.post(.resize(known.key, sizes))) }
  }
}

extension Array where Element == ReceiveEncoding {
  /// Takes what a client says of its encodings' sizes. Without a name it is said of the only one.
  mutating func take(_ layers: [OfferedLayer]) {
    for layer in layers {
      for index in indices where self[index].rid == layer.rid && (layer.rid != nil || count == 1) {
        self[index].picture = layer.picture
      }
    }
  }
}

extension TrackInfo {
  /// The picture of the one who speaks.
  fileprivate var isShown: Bool { kind == .video && !isScreen }
}
