internal import Engine
internal import Model
internal import Negotiation
internal import Peer
internal import Wire

extension Room {
  /// Answers an offer: publishes, unpublishes, adds receive sections, restarts ICE.
  func offer(
    _ sdp: String, tracks: [OfferedTrack], from id: ParticipantID
  ) throws(OfferError) -> OfferAnswer {
    guard let member = member(id) else { throw .gone }
    guard member.requests.take(now: now) else { throw .tooOften }
    let description: SessionDescription
    do throws(SDPError) { description = try SessionDescription(parsing: sdp) } catch {
      throw .malformed(error)
    }
    let transport = member.native
    try checkGrants(member.grants, description, tracks, transport)

    let answer = try negotiate(description, transport)
    let published = publish(answer.agreement, offered: tracks, member, transport)
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
    _ description: SessionDescription, _ transport: Transport
  ) throws(OfferError) -> Answer {
    let known = transport.link
    guard let key = known?.key ?? media.reserve() else { throw .overloaded }
    var link =
      known
      ?? Transport.Link(key: key, negotiator: Negotiator(policy: media.policy), local: media.local(for: key))
    let answer: Answer
    do throws(NegotiationError) {
      // Fresh credentials, taken if the offer restarts ICE.
      if known != nil { link.local = media.local(for: key) }
      answer = try link.negotiator.answer(to: description, local: link.local, random: &random)
    } catch {
      if known == nil { media.release(key) }
      throw .refused(error)
    }
    guard let agreed = answer.agreement.transport else {
      // Nothing was accepted: there is nothing to connect for.
      if known == nil { media.release(key) } else { transport.link = link }
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
    transport.link = link
    return answer
  }

  /// What a token forbids is refused as a whole, before anything changes.
  private func checkGrants(
    _ grants: Grants, _ description: SessionDescription, _ tracks: [OfferedTrack], _ transport: Transport
  ) throws(OfferError) {
    for section in description.media where section.isRTP && !section.isStopped {
      let direction = description.attributes(of: section).direction ?? .sendrecv
      guard direction.sends else { continue }
      // A client needn't take back what was taken from it: nothing of it is published.
      if transport.withdrawn.values.contains(where: { $0.mid == section.mid }) { continue }
      guard grants.canPublish else { throw .notAllowed("publishing (canPublish)") }
      // Their tracks would have to be named to whoever gets them.
      guard !grants.hidden else { throw .notAllowed("publishing (hidden)") }
      let source = tracks.first { $0.mid == section.mid }?.source ?? Self.defaultSource(section.media)
      guard grants.mayPublish(source) else {
        throw .notAllowed("publishing \(source.rawValue) (canPublishSources)")
      }
    }
  }

  /// What a section without a word about its source is taken for.
  private static func defaultSource(_ media: String) -> TrackSource {
    media == "audio" ? .microphone : .camera
  }

  /// Brings the list of a member's tracks in line with what was agreed on.
  private func publish(
    _ agreement: Agreement, offered: [OfferedTrack], _ member: Member, _ transport: Transport
  ) -> [(mid: String, track: TrackID)] {
    guard let key = transport.link?.key else { return [] }
    let sections = agreement.media.receive
    for track in transport.published where !sections.contains(where: { $0.index == track.key.index }) {
      unpublish(track, of: member, transport)
    }
    transport.withdrawn = transport.withdrawn.filter { key, _ in
      sections.contains { $0.index == key.index }
    }
    var new: [SlotPolicy.Track] = []
    for section in sections {
      let trackKey = TrackKey(peer: key, index: section.index)
      guard !transport.published.contains(where: { $0.key == trackKey }) else { continue }
      let wish = offered.first { $0.mid == section.mid }
      let withdrawn = transport.withdrawn[trackKey]
      let source =
        wish?.source ?? withdrawn?.source
        ?? Self.defaultSource(section.kind == .audio ? "audio" : "video")
      guard withdrawn == nil || member.grants.mayPublish(source) else { continue }
      transport.withdrawn[trackKey] = nil
      let track = PublishedTrack(
        info: TrackInfo(
          id: TrackID(&random), kind: section.kind, source: source, name: wish?.name,
          mutedByPublisher: wish?.muted ?? false),
        key: trackKey, mid: section.mid, codec: section.codecs.first?.format)
      if track.info.muted || withdrawn != nil { media.post(.mute(trackKey, track.info.muted)) }
      transport.published.append(track)
      member.info.tracks.append(track.info)
      record(.trackPublished, participant: member.info, track: track.info)
      new.append(slotTrack(track, of: member))
    }
    if !new.isEmpty { offerToOthers(new, of: member) }
    return transport.published.map { ($0.mid, $0.info.id) }
  }

  func unpublish(_ track: PublishedTrack, of member: Member, _ transport: Transport) {
    transport.published.removeAll { $0.key == track.key }
    member.info.tracks.removeAll { $0.id == track.info.id }
    stalled.remove(track.info.id)
    for other in members where other !== member {
      for transport in other.transports {
        change(other, transport) { $0.remove(track.info.id, now: now) }
      }
    }
    record(.trackUnpublished, participant: member.info, track: track.info)
  }
}
