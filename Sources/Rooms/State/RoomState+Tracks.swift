internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation

/// What participants publish.
extension RoomState {
  /// Brings the list of a transport's tracks in line with what was agreed on.
  mutating func publish(
    _ agreement: Agreement, _ review: OfferReview, at place: TransportPlace
  ) -> [(mid: String, track: TrackID)] {
    guard let key = self[place].peer else { return [] }
    let sections = agreement.media.receive
    unpublish(place) { track in !sections.contains { $0.index == track.key.index } }
    self[place].withdrawn = self[place].withdrawn.filter { key, _ in
      sections.contains { $0.index == key.index }
    }
    var new: [SlotPolicy.Track] = []
    for (position, result) in agreement.sections.enumerated() {
      guard case .accepted(let index?, _) = result.outcome,
        let section = sections.first(where: { $0.index == index })
      else { continue }
      let trackKey = TrackKey(peer: key, index: index)
      guard !self[place].published.contains(where: { $0.key == trackKey }) else { continue }
      let source = review.sources[position] ?? .usual(of: section.kind)
      #if PLANTED_DEFECTS
        let isWithdrawn = self[place].withdrawn[trackKey] != nil
      #else
        let isWithdrawn = true
      #endif
      guard
        members[place.member].mayPublish(
          source, as: section.kind, on: self[place], inNewSection: !isWithdrawn), hasRoomForTrack(at: place)
      else {
        withdraw(trackKey, source, at: place)
        continue
      }
      let track = begin(trackKey, section, source, review.entries[position], at: place)
      new.append(members[place.member].slotTrack(track))
    }
    if !new.isEmpty { offerToOthers(new, of: place.member) }
    return self[place].published.map { ($0.mid, $0.info.id) }
  }

  /// Of all transports together; one alone has that bound by its negotiation.
  private func hasRoomForTrack(at place: TransportPlace) -> Bool {
    let member = members[place.member]
    return member.trackCount == self[place].published.count || member.trackCount < terms.policy.maximumTracks
  }

  /// A track's section stays agreed on, and nothing of it goes further than the worker.
  mutating func withdraw(_ key: TrackKey, _ source: TrackSource, at place: TransportPlace) {
    emit(.post(.mute(key, true)))
    self[place].withdrawn[key] = source
  }

  private mutating func begin(
    _ key: TrackKey, _ section: ReceiveSection, _ source: TrackSource, _ entry: OfferedTrack?,
    at place: TransportPlace
  ) -> PublishedTrack {
    let track = PublishedTrack(
      info: TrackInfo(
        id: TrackID(&random), kind: section.kind, source: source, name: entry?.name,
        mutedByPublisher: entry?.muted ?? false,
        mutedByAdmin: members[place.member].standingMutes.take(section.kind, source),
        isEncrypted: entry?.encrypted ?? false),
      key: key, mid: section.mid, codec: section.codecs.first?.format)
    let wasWithdrawn = self[place].withdrawn.removeValue(forKey: key) != nil
    if track.info.muted || wasWithdrawn { emit(.post(.mute(key, track.info.muted))) }
    self[place].published.append(track)
    describe(track, of: place.member, isAgain: wasWithdrawn)
    record(.trackPublished, of: place.member, track: track.info)
    recordTrack(track, at: place)
    return track
  }

  /// Tracks are over, all at once: what each of the others does about it, it does once.
  mutating func unpublish(_ place: TransportPlace, where isOver: (PublishedTrack) -> Bool) {
    let tracks = self[place].published.filter(isOver)
    guard !tracks.isEmpty else { return }
    let ids = tracks.map(\.info.id)
    self[place].published.removeAll { ids.contains($0.info.id) }
    self[place].codecChanges.forget(ids)
    for track in tracks {
      #if PLANTED_DEFECTS
        let isKept = track.info.mutedByAdmin && !PlantedDefect.isOn(.muteShakenOff)
      #else
        let isKept = track.info.mutedByAdmin
      #endif
      if isKept { members[place.member].standingMutes.keep(track.info) }
      stalls.forget(track.info.id)
      endRecordingTrack(track)
    }
    // In a room that closes there is no use for another picture.
    if closed == nil {
      for other in places(showing: place.member) {
        change(other) { slots, now in slots.remove(ids, now: now) }
      }
    }
    for track in tracks { record(.trackUnpublished, of: place.member, track: track.info) }
  }

  // MARK: - Mutes

  /// Changes who has muted a track. Everybody learns whether it is muted and whether an administrator's mute
  /// stands: `track.muted` comes again where the second alone changes, so that its publisher learns when it may unmute.
  /// - Returns: the track; nil: the member has no such track.
  mutating func setMute(
    of track: String, of member: Int, _ change: (inout TrackInfo) -> Void
  ) -> TrackInfo? {
    for place in places(of: member) {
      guard let position = self[place].published.firstIndex(where: { $0.info.id.text == track }) else {
        continue
      }
      let before = self[place].published[position].info
      change(&self[place].published[position].info)
      let changed = self[place].published[position].info
      if changed.muted != before.muted {
        emit(.post(.mute(self[place].published[position].key, changed.muted)))
        if !changed.muted { stalls.unmute(changed.id, now: now) }
      } else if changed.mutedByAdmin == before.mutedByAdmin {
        return changed
      }
      record(changed.muted ? .trackMuted : .trackUnmuted, of: member, track: changed)
      return changed
    }
    return nil
  }
}
