internal import AccessTokens
internal import Model
internal import Negotiation

/// Which codecs everybody present takes, so that a publisher may choose a better one while all can see it.
extension RoomState {
  /// What has changed of that, and what new tracks' publishers haven't heard.
  mutating func lookAtCodecs() {
    let before = commonCodecs.known
    #if PLANTED_DEFECTS
      let hasChanged =
        commonCodecs.take(takenByAll, now: now) && !PlantedDefect.isOn(.codecsUnsaid)
    #else
      let hasChanged = commonCodecs.take(takenByAll, now: now)
    #endif
    for member in members.indices {
      for place in places(of: member) {
        for position in self[place].published.indices
        where hasChanged || !self[place].published[position].knowsCodecs {
          let track = self[place].published[position]
          self[place].published[position].knowsCodecs = true
          let was = track.knowsCodecs ? self[place].advice(for: track, before).codecs.map(\.payloadType) : nil
          if was != self[place].advice(for: track, commonCodecs.known).codecs.map(\.payloadType) {
            announcePublication(track, at: place)
          }
        }
      }
    }
  }

  /// A description was agreed on. Where it gives a track's section other codecs, what its publisher has heard was of those before.
  mutating func agree(_ negotiator: Negotiator, at place: TransportPlace) {
    let before = self[place].negotiator
    self[place].negotiator = negotiator
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.codecsSaidOnce) { return }
    #endif
    for position in self[place].published.indices where self[place].published[position].knowsCodecs {
      let key = self[place].published[position].key
      let isSame = negotiator.payloads(ofTrack: key) == before?.payloads(ofTrack: key)
      if !isSame { self[place].published[position].knowsCodecs = false }
    }
  }

  /// Where participants have nothing in common it is what most of them take: one alone doesn't leave all others without advice.
  /// Those that are shown no pictures, by what they may do or have offered, have no say.
  private var takenByAll: CodecSet {
    CodecSet(
      takenByMost: members.compactMap { member in
        guard member.grants.canSubscribe else { return nil }
        let sets = member.transports.compactMap(\.slots.videoFormats)
        return sets.isEmpty ? nil : sets.reduce(CodecSet(rawValue: 0)) { $0.union($1) }
      })
  }

  /// Says how one of its tracks is to be sent.
  mutating func announcePublication(_ track: PublishedTrack, at place: TransportPlace) {
    guard track.info.kind == .video else { return }
    let advice = self[place].advice(for: track, commonCodecs.known)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.noCodecUnsaid), advice.layers.isEmpty, advice.codecs.isEmpty { return }
    #endif
    // That nothing is left which all take is said as well.
    notify(place, .publish(track.info.id, advice))
  }
}

extension Negotiator {
  fileprivate func section(ofTrack key: TrackKey) -> ReceiveSection? {
    sections.lazy.compactMap(\.receive).first { $0.index == key.index }
  }

  /// The formats in which a track may come, with the numbers that the section gives them.
  fileprivate func payloads(ofTrack key: TrackKey) -> [UInt8: CodecFormat] {
    let codecs = section(ofTrack: key)?.codecs ?? []
    return Dictionary(codecs.map { ($0.payloadType, $0.format) }) { first, _ in first }
  }
}

extension Transport {
  /// What an encoding of a track is called; nil: it has no name.
  func rid(ofTrack key: TrackKey, _ encoding: UInt8) -> String? {
    let encodings = encodings(ofTrack: key)
    return encodings.indices.contains(Int(encoding)) ? encodings[Int(encoding)].rid : nil
  }

  /// As the descriptions agreed, which say nothing of sizes; none of a track whose section is gone.
  func encodings(ofTrack key: TrackKey) -> [ReceiveEncoding] {
    negotiator?.section(ofTrack: key)?.encodings ?? []
  }

  /// What is said of a track to its publisher.
  func advice(for track: PublishedTrack, _ common: CodecSet) -> PublishAdvice {
    guard let section = negotiator?.section(ofTrack: track.key), section.kind == .video else {
      return PublishAdvice()
    }
    let layers = section.encodings.enumerated().compactMap { index, encoding in
      encoding.rid.map { (rid: $0, isWatched: track.watched & 1 << UInt8(index) != 0) }
    }
    let codecs = section.codecs.filter { common.contains($0.format) }
    return PublishAdvice(
      layers: layers, codecs: codecs.map { (payloadType: $0.payloadType, name: $0.codec.encodingName) })
  }
}
