internal import AccessTokens
internal import Engine
internal import Logging
internal import Model
internal import Peer

/// What the media plane last knew of a peer and of its tracks.
struct PeerSample: Sendable {
  var peer: PeerKey
  var quality: PeerQuality
  var levels: [(track: TrackKey, level: TrackLevel)]
}

// MARK: - Events of the media plane

extension Room {
  func handle(_ events: PeerEvents) {
    guard let (member, transport) = owner(of: events.peer) else { return }
    let identity = member.info.identity
    if let profile = events.connected {
      log.info("media connected", ["room": info.name, "identity": identity, "profile": profile.name])
    }
    for (index, codec) in events.startedTracks.sorted(by: { $0.key < $1.key }) {
      guard let position = transport.published.firstIndex(where: { $0.key.index == index }) else { continue }
      let known = transport.published[position]
      transport.published[position].codec = codec
      transport.published[position].hasStarted = true
      if !known.hasStarted {
        log.info(
          "track started",
          ["room": info.name, "identity": identity, "track": known.info.id.text, "codec": "\(codec)"])
      }
      guard known.codec != codec else { continue }
      for other in members where other !== member {
        for transport in other.transports {
          change(other, transport) { $0.setCodec(codec, of: known.info.id, now: now) }
        }
      }
    }
    if let reason = events.closed {
      log.info("media closed", ["room": info.name, "identity": identity, "reason": reason.rawValue])
      end(member, reason: .connectionLost)
    }
  }

  private func owner(of peer: PeerKey) -> (Member, Transport)? {
    for member in members {
      for transport in member.transports where transport.peer == peer { return (member, transport) }
    }
    return nil
  }
}

// MARK: - Samples of the media plane

extension Room {
  /// Without packets for so long a track counts as stalled.
  static let stall = Duration.seconds(3)
  /// A quality stays at least so long, unless all is lost.
  static let qualityDwell = Duration.seconds(2)

  func take(_ samples: [PeerSample], now: Instant) {
    var levels: [TrackKey: TrackLevel] = [:]
    var qualities: [PeerKey: PeerQuality] = [:]
    for sample in samples {
      qualities[sample.peer] = sample.quality
      for (track, level) in sample.levels { levels[track] = level }
    }
    takeLevels(levels, now: now)
    takeStalls(levels, now: now)
    takeQualities(qualities, now: now)
    for member in members {
      for transport in member.transports {
        transport.bitrates = transport.peer.flatMap { qualities[$0]?.bitrates } ?? Bitrates()
      }
      if let peer = member.native.peer, let quality = qualities[peer] {
        member.presence.heard(at: quality.lastHeard)
      }
    }
    lookAfter(now: now)
  }

  private func takeLevels(_ levels: [TrackKey: TrackLevel], now: Instant) {
    var voices: [ParticipantID: UInt8?] = [:]
    for member in members {
      for track in member.published where track.info.source == .microphone && track.info.kind == .audio {
        let level = levels[track.key]
        let isFresh = level.map { now - $0.lastPacket < SpeakerDetector.stale } ?? false
        let heard = isFresh && !track.info.muted ? level?.attenuation : nil
        voices[member.id] = [voices[member.id] ?? nil, heard].compactMap(\.self).min()
      }
    }
    let found = speakers.take(voices, now: now)
    let isNew = found.map(\.participant) != speaking.map(\.participant)
    speaking = found
    let groups = Set(found.map { $0.participant.text + "/camera" })
    for member in members {
      if isNew { member.session.notify(.speakers(found)) }
      for transport in member.transports where isNew || transport.slots.waitsForSpeaker {
        change(member, transport) { $0.setSpeaking(groups, now: now) }
      }
    }
  }

  private func takeStalls(_ levels: [TrackKey: TrackLevel], now: Instant) {
    var found: Set<TrackID> = []
    for track in members.flatMap(\.published) where track.hasStarted && !track.info.muted {
      if let level = levels[track.key], now - level.lastPacket >= Self.stall { found.insert(track.info.id) }
    }
    guard found != stalled else { return }
    stalled = found
    for member in members {
      for transport in member.transports { tellStates(member, transport) }
    }
  }

  private func takeQualities(_ qualities: [PeerKey: PeerQuality], now: Instant) {
    var changed: [ParticipantQuality] = []
    #if PLANTED_DEFECTS
      let named = members.filter { PlantedDefect.isOn(.hiddenQuality) || !$0.grants.hidden }
    #else
      let named = members.filter { !$0.grants.hidden }
    #endif
    for member in named {
      // Of several transports the worst.
      let found = member.transports.compactMap { transport in
        transport.peer.flatMap { qualities[$0] }.map { ConnectionQuality($0, now: now) }
      }
      guard let value = ConnectionQuality.allCases.last(where: found.contains), value != member.quality?.value
      else { continue }
      if let old = member.quality, value != .lost, now - old.since < Self.qualityDwell { continue }
      member.quality = (value, now)
      changed.append(ParticipantQuality(participant: member.id, quality: value))
    }
    guard !changed.isEmpty else { return }
    for member in members { member.session.notify(.quality(changed)) }
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
