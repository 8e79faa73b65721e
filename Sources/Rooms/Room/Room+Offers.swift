internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation
internal import Peer
internal import Wire

extension Room {
  /// Bytes that even the shortest offer is charged.
  static let smallestOffer = 4_096

  /// Answers an offer: publishes, unpublishes, adds receive sections, restarts ICE.
  func offer(
    _ sdp: String, tracks: [OfferedTrack], from id: ParticipantID
  ) throws(OfferError) -> OfferAnswer {
    guard let member = member(id) else { throw .gone }
    // What it costs to read and to match, before it is done.
    let size = Double(max(sdp.utf8.count, Self.smallestOffer))
    guard spend(member, { $0.offers.take(size, now: now) }) else { throw .tooOften }
    let description: SessionDescription
    do throws(SDPError) { description = try SessionDescription(parsing: sdp) } catch {
      throw .malformed(error)
    }
    let transport = member.native
    let review = try OfferReview(description, tracks, of: member, on: transport)
    // What others notice of it.
    guard spend(member, { $0.requests.take(upTo: 1 + Double(review.changes), now: now) }) else {
      throw .tooOften
    }

    let answer = try negotiate(description, review, member, transport)
    let published = publish(answer.agreement, review, member, transport)
    transport.slots.apply(answer.agreement.media.send, now: now)
    assign(member, transport, announces: false)
    let slots = transport.slots.slots
    let reply = OfferAnswer(
      sdp: answer.sdp, tracks: published,
      slots: slots.map { SlotAssignment(mid: $0.mid, track: $0.track) },
      declined: answer.agreement.sections.compactMap {
        if case .declined(let reason) = $0.outcome { ($0.mid, reason.rawValue) } else { nil }
      })
    member.session.notify(.answer(reply))
    tellStates(member, transport)
    return reply
  }

  /// Agrees with the description and tells the media plane.
  private func negotiate(
    _ description: SessionDescription, _ review: OfferReview, _ member: Member, _ transport: Transport
  ) throws(OfferError) -> Answer {
    let known = transport.peer
    guard let key = known ?? media.reserve() else { throw .overloaded }
    var negotiator = transport.negotiator ?? Negotiator(policy: media.policy)
    let answer: Answer
    do throws(NegotiationError) {
      // Fresh credentials, taken for a new transport and where the offer restarts ICE.
      answer = try negotiator.answer(
        to: description, local: media.local(for: key), forbidden: review.forbidden, random: &random)
    } catch {
      if known == nil { media.release(key) }
      throw .refused(error)
    }
    transport.negotiator = negotiator
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.mediaWithoutSections), known != nil, answer.agreement.transport == nil {
        return answer
      }
    #endif
    guard let agreed = answer.agreement.transport else {
      // No section is left, or none was accepted: there is nothing to be connected for.
      if known == nil { media.release(key) } else { endMedia(of: member, transport) }
      return answer
    }
    // Before the media plane knows of it: its first event may come at once.
    directory.note(key, room: self)
    if known == nil {
      media.add(key, agreed, answer.agreement.media)
    } else {
      if agreed.restartsICE {
        media.post(.restartICE(key, local: agreed.localCredentials, remote: agreed.remote.credentials))
      }
      media.post(.apply(key, answer.agreement.media))
    }
    transport.peer = key
    return answer
  }

  /// Every section has been stopped: the far end has no transport any more (RFC 9143 §7.5.3), and neither have we.
  /// What it offers next begins another one.
  private func endMedia(of member: Member, _ transport: Transport) {
    guard let peer = transport.peer else { return }
    unpublish(transport.published, of: member, transport)
    // Its place is given back when the media plane says that it is gone.
    media.post(.close(peer))
    transport.peer = nil
    transport.negotiator?.endTransport()
    transport.withdrawn = [:]
    transport.told = [:]
    transport.asked = (0, 0)
    member.presence.mediaEnded()
    lookAfter(now: now)
  }

  /// Brings the list of a member's tracks in line with what was agreed on.
  private func publish(
    _ agreement: Agreement, _ review: OfferReview, _ member: Member, _ transport: Transport
  ) -> [(mid: String, track: TrackID)] {
    guard let key = transport.peer else { return [] }
    let sections = agreement.media.receive
    unpublish(
      transport.published.filter { track in !sections.contains { $0.index == track.key.index } }, of: member,
      transport)
    transport.withdrawn = transport.withdrawn.filter { key, _ in
      sections.contains { $0.index == key.index }
    }
    var new: [SlotPolicy.Track] = []
    for (place, result) in agreement.sections.enumerated() {
      guard case .accepted(let index?, _) = result.outcome,
        let section = sections.first(where: { $0.index == index })
      else { continue }
      let trackKey = TrackKey(peer: key, index: index)
      guard !transport.published.contains(where: { $0.key == trackKey }) else { continue }
      let source = review.sources[place] ?? .usual(of: section.kind)
      #if PLANTED_DEFECTS
        let isWithdrawn = transport.withdrawn[trackKey] != nil
      #else
        let isWithdrawn = true
      #endif
      guard member.mayPublish(source, as: section.kind, inNewSection: !isWithdrawn) else {
        withdraw(trackKey, source, transport)
        continue
      }
      let track = begin(trackKey, section, source, review.entries[place], member, transport)
      new.append(slotTrack(track, of: member))
    }
    if !new.isEmpty { offerToOthers(new, of: member) }
    return transport.published.map { ($0.mid, $0.info.id) }
  }

  /// A track's section stays agreed on, and nothing of it goes further than the worker.
  func withdraw(_ key: TrackKey, _ source: TrackSource, _ transport: Transport) {
    media.post(.mute(key, true))
    transport.withdrawn[key] = source
  }

  private func begin(
    _ key: TrackKey, _ section: ReceiveSection, _ source: TrackSource, _ entry: OfferedTrack?,
    _ member: Member, _ transport: Transport
  ) -> PublishedTrack {
    let track = PublishedTrack(
      info: TrackInfo(
        id: TrackID(&random), kind: section.kind, source: source, name: entry?.name,
        mutedByPublisher: entry?.muted ?? false,
        mutedByAdmin: member.standingMutes.take(section.kind, source)),
      key: key, mid: section.mid, codec: section.codecs.first?.format)
    let wasWithdrawn = transport.withdrawn.removeValue(forKey: key) != nil
    if track.info.muted || wasWithdrawn { media.post(.mute(key, track.info.muted)) }
    transport.published.append(track)
    member.info.tracks.append(track.info)
    record(.trackPublished, participant: member.info, track: track.info)
    return track
  }

  /// Tracks are over, all at once: what each of the others does about it, it does once.
  func unpublish(_ tracks: [PublishedTrack], of member: Member, _ transport: Transport) {
    guard !tracks.isEmpty else { return }
    for track in tracks {
      transport.published.removeAll { $0.key == track.key }
      #if PLANTED_DEFECTS
        let isKept = track.info.mutedByAdmin && !PlantedDefect.isOn(.muteShakenOff)
      #else
        let isKept = track.info.mutedByAdmin
      #endif
      if isKept { member.standingMutes.keep(track.info) }
      stalled.remove(track.info.id)
    }
    let ids = tracks.map(\.info.id)
    // In a room that closes nobody needs another picture.
    for other in members where other !== member && closed == nil {
      for transport in other.transports { change(other, transport) { $0.remove(ids, now: now) } }
    }
    for track in tracks {
      member.info.tracks.removeAll { $0.id == track.info.id }
      record(.trackUnpublished, participant: member.info, track: track.info)
    }
  }
}
