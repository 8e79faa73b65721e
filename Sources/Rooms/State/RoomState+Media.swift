internal import AccessTokens
internal import Engine
internal import Model
internal import Peer

/// Events of the media plane.
extension RoomState {
  mutating func take(_ events: PeerEvents) {
    guard let place = owner(of: events.peer) else { return }
    if let profile = events.connected {
      log("media connected", of: members[place.member], ("profile", profile.name))
      noteReady(members[place.member])
      let member = members[place.member]
      emit(.media(of: member.identity, stay: member.stay.id, .connected))
    }
    if !events.startedTracks.isEmpty { tracksStarted(events.startedTracks, at: place) }
    if !events.slots.isEmpty {
      var isNews = false
      for (slot, flow) in events.slots {
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.pauseUnsaid) { continue }
        #endif
        let starved = flow.isStarved ? flow.track : nil
        isNews = isNews || self[place].starved[slot] != starved
        self[place].starved[slot] = starved
      }
      if isNews { announceStates(place) }
    }
    for (index, watched) in events.watched.sorted(by: { $0.key < $1.key }) {
      noteWatched(index, watched, at: place)
    }
    // A client without a socket ends its session by ending its media; one with a socket has other words for it.
    if events.saidFarewell, events.closed == nil, self[place].standalone != nil {
      log("media closed by its client", of: members[place.member])
      return end(place, reason: .left)
    }
    if let reason = events.closed {
      log("media closed", of: members[place.member], ("reason", reason.rawValue))
      mediaLost(at: place)
    }
  }

  /// Its way in ends with the first of its transports that is connected.
  private mutating func noteReady(_ member: Member) {
    guard member.transportsOpened == 1 else { return }
    let span = wallTime.milliseconds - member.joined.milliseconds
    emit(.mediaReady(.milliseconds(max(span, 0))))
  }

  /// Which encodings of a track are watched, as bits in the order of its description.
  private mutating func noteWatched(_ index: UInt16, _ watched: UInt8, at place: TransportPlace) {
    guard let position = self[place].published.firstIndex(where: { $0.key.index == index }),
      self[place].published[position].watched != watched
    else { return }
    self[place].published[position].watched = watched
    announcePublication(self[place].published[position], at: place)
  }

  /// A track's first packet says at once what it comes in; its publishing has paid for that. Later changes wait their time.
  private mutating func tracksStarted(_ started: [UInt16: CodecFormat], at place: TransportPlace) {
    for (index, codec) in started.sorted(by: { $0.key < $1.key }) {
      guard let position = self[place].published.firstIndex(where: { $0.key.index == index }) else {
        continue
      }
      let track = self[place].published[position]
      if track.hasStarted {
        self[place].codecChanges.note(codec, of: track.info.id, known: track.codec)
        continue
      }
      self[place].published[position].hasStarted = true
      log("track started", of: members[place.member], ("track", track.info.id.text), ("codec", "\(codec)"))
      if track.codec != codec { apply([track.info.id: codec], at: place) }
    }
    applyCodecChanges(at: place)
  }

  /// What can't be paid waits, like what comes too soon.
  private mutating func applyCodecChanges(at place: TransportPlace) {
    guard self[place].codecChanges.isDue(now: now), spend(place.member, { $0.requests.take(now: $1) }) else {
      return
    }
    apply(self[place].codecChanges.take(now: now), at: place)
  }

  private mutating func apply(_ codecs: [TrackID: CodecFormat], at place: TransportPlace) {
    guard !codecs.isEmpty else { return }
    for position in self[place].published.indices {
      guard let codec = codecs[self[place].published[position].info.id] else { continue }
      self[place].published[position].codec = codec
    }
    for other in places(showing: place.member) {
      change(other) { slots, now in slots.setCodecs(codecs, now: now) }
    }
  }

  /// The last way on which a handle's media came takes its session with it; another goes alone, and so does one that has
  /// no socket, unless nothing else is left of its participant.
  private mutating func mediaLost(at place: TransportPlace) {
    guard self[place].standalone == nil else { return end(place, reason: .connectionLost) }
    let id = self[place].id
    let hasOther = members[place.member].transports.contains {
      $0.standalone == nil && $0.peer != nil && $0.id != id
    }
    guard hasOther else {
      return endSession(place.member, reason: .connectionLost, after: self[place].peer)
    }
    self[place].peer = nil
    notify(place, .closed)
    close(place)
  }
}

/// Samples of the media plane.
extension RoomState {
  /// A quality stays at least so long, unless all is lost.
  static let qualityDwell = Duration.seconds(2)

  mutating func take(_ samples: [PeerSample]) {
    var levels: [TrackKey: TrackLevel] = [:]
    var qualities: [PeerKey: PeerQuality] = [:]
    for sample in samples {
      qualities[sample.peer] = sample.quality
      // Each encoding has a level of its own. The publisher sends those that are watched and that its path carries, so that a
      // track comes as long as one of them does.
      for (key, level) in sample.levels {
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.firstEncodingAlone), key.encoding > 0 { continue }
        #endif
        if let known = levels[key.track], known.lastPacket >= level.lastPacket { continue }
        levels[key.track] = level
      }
    }
    takeLevels(levels)
    takeStalls(levels)
    takeQualities(qualities)
    for member in members.indices {
      for place in places(of: member) {
        let quality = self[place].peer.flatMap { qualities[$0] }
        self[place].bitrates = quality?.bitrates ?? Bitrates()
        self[place].measured = quality
        // On whichever way it was heard last.
        if let quality, members[member].isSign(self[place]) {
          members[member].presence.heard(at: quality.lastHeard)
        }
        applyCodecChanges(at: place)
      }
    }
    lookAtCodecs()
    presenceChanged()
  }

  private mutating func takeLevels(_ levels: [TrackKey: TrackLevel]) {
    var voices: [ParticipantID: UInt8?] = [:]
    for member in members {
      for track in member.transports.lazy.flatMap(\.published)
      where track.info.source == .microphone && track.info.kind == .audio {
        let level = levels[track.key]
        let isFresh = level.map { now - $0.lastPacket < SpeakerDetector.stale } ?? false
        let heard = isFresh && !track.info.muted ? level?.attenuation : nil
        voices[member.id] = [voices[member.id] ?? nil, heard].compactMap(\.self).min()
      }
    }
    let found = speakers.take(voices, now: now)
    let isNew = found.map(\.participant) != speaking.map(\.participant)
    if isNew { describeSpeakers(found) }
    speaking = found
    let groups = Set(found.map { $0.participant.text + "/camera" })
    for member in members.indices {
      if isNew { notify(member, .speakers(found)) }
      for place in places(of: member) where isNew || self[place].slots.waitsForSpeaker {
        change(place) { slots, now in slots.setSpeaking(groups, now: now) }
      }
    }
  }

  /// Each stall that is announced is a request of its publisher's; what can't be paid waits.
  private mutating func takeStalls(_ levels: [TrackKey: TrackLevel]) {
    var changed: Set<TrackID> = []
    for member in members.indices {
      for transport in members[member].transports.indices {
        for track in members[member].transports[transport].published {
          let id = track.info.id
          let last = track.hasStarted && !track.info.muted ? levels[track.key]?.lastPacket : nil
          let isSilent = last.map { now - $0 >= Stalls.silence } ?? false
          guard stalls.isDue(id, isSilent: isSilent, now: now) else { continue }
          if isSilent {
            guard spend(member, { $0.requests.take(now: $1) }) else { continue }
          }
          stalls.note(id, isSilent: isSilent, now: now)
          changed.insert(id)
        }
      }
    }
    stalls.forgetCalm(now: now)
    guard !changed.isEmpty else { return }
    for member in members.indices {
      for place in places(of: member) { announceStalls(changed, at: place) }
    }
  }

  private mutating func takeQualities(_ qualities: [PeerKey: PeerQuality]) {
    var changed: [ParticipantQuality] = []
    for member in members.indices {
      #if PLANTED_DEFECTS
        let isNamed = PlantedDefect.isOn(.hiddenQuality) || !members[member].grants.hidden
      #else
        let isNamed = !members[member].grants.hidden
      #endif
      guard isNamed else { continue }
      // Of several transports the worst.
      let found = members[member].transports.compactMap { transport in
        transport.peer.flatMap { qualities[$0] }.map { ConnectionQuality($0, now: now) }
      }
      let old = members[member].quality
      guard let value = ConnectionQuality.allCases.last(where: found.contains), value != old?.value else {
        continue
      }
      if let old, value != .lost, now - old.since < Self.qualityDwell { continue }
      members[member].quality = Member.Quality(value: value, since: now)
      changed.append(ParticipantQuality(participant: members[member].id, quality: value))
    }
    if !changed.isEmpty { emit(.notifyAll(.quality(changed))) }
  }

  /// What was last said of everybody who is not hidden.
  var knownQualities: [ParticipantQuality] {
    members.filter { !$0.grants.hidden }.compactMap { member in
      member.quality.map { ParticipantQuality(participant: member.id, quality: $0.value) }
    }
  }
}

extension ConnectionQuality {
  /// From the bounds that stand beside the cases.
  init(_ measured: PeerQuality, now: Instant) {
    let percent = Double(measured.loss) * 100 / 65_536
    self =
      if percent >= 50 || now - measured.lastHeard >= .seconds(8) {
        .lost
      } else if percent < 2 && measured.roundTrip < .milliseconds(150) {
        .excellent
      } else if percent < 5 && measured.roundTrip < .milliseconds(300) {
        .good
      } else {
        .poor
      }
  }
}
