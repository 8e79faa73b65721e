internal import AccessTokens
internal import Engine
internal import Model
internal import Peer

/// How those do who are in the room.
extension RoomState {
  /// A page that has so many tracks takes in no further participant.
  static let figureTracks = 400

  /// Those of one page.
  /// - Parameter after: only those behind it.
  func list(
    _ listing: PeopleListing, after: ListPlace?, limit: Int
  ) -> [Placed<ParticipantID>] {
    let search = NameSearch(listing.search)
    return members.filter { search.finds($0.identity) || $0.name.map(search.finds) ?? false }
      .map { Placed(place: ListPlace(value: $0.value(of: listing.order), name: $0.identity), item: $0.id) }
      .page(after: after, isDescending: listing.isDescending, limit: limit)
  }

  /// As many of the first of them as make a page, and in any case those that are asked for by their ids, whose tracks count first: they
  /// are at their places in the list, or behind it.
  func figurePage(
    _ listing: PeopleListing, including wanted: [ParticipantID] = [], limit: Int,
    tracks most: Int = figureTracks
  ) -> (ids: [ParticipantID], hasMore: Bool) {
    let wanted = members.map(\.id).filter { wanted.contains($0) }
    let found = list(listing, after: nil, limit: limit + 1 + wanted.count).map(\.item)
    var taken: [ParticipantID] = []
    var tracks = wanted.reduce(0) { $0 + trackCount(of: $1) }
    for id in found.prefix(limit) {
      if wanted.contains(id) {
        taken.append(id)
      } else if tracks < most {
        taken.append(id)
        tracks += trackCount(of: id)
      }
    }
    taken += wanted.filter { !taken.contains($0) }
    return (taken, found.contains { !taken.contains($0) })
  }

  private func trackCount(of id: ParticipantID) -> Int { member(id).map { members[$0].trackCount } ?? 0 }

  /// What is asked of the media plane about them.
  func figureQuestion(about ids: [ParticipantID]) -> MediaQuestion {
    var question = MediaQuestion(peers: [], tracks: [])
    for index in ids.compactMap({ member($0) }) {
      for transport in members[index].transports {
        question.published += transport.published.filter { $0.info.kind == .video }.map(\.key)
      }
    }
    return question
  }

  /// - Parameter answers: of the workers; nil of one that did not answer.
  func figures(_ ids: [ParticipantID], _ answers: [WorkerExplanation?]) -> [ParticipantFigures] {
    var layers: [TrackKey: TrackLayers] = [:]
    for answer in answers.compactMap(\.self) { layers.merge(answer.layers) { _, new in new } }
    return ids.compactMap { member($0) }.map { index -> ParticipantFigures in
      let member = members[index]
      let sums = member.sums
      return ParticipantFigures(
        name: ParticipantName(member), isHidden: member.grants.hidden, joined: member.joined,
        quality: member.quality?.value, bitrates: sums.bitrates, loss: sums.loss,
        roundTrip: sums.roundTrip, speaking: speaking.first { $0.participant == member.id }?.level,
        tracks: member.transports.flatMap(\.published).map { track in
          TrackFigures(
            info: track.info, codec: track.hasStarted ? track.codec?.codec : nil,
            layers: layers[track.key])
        })
    }
  }
}

extension Member {
  /// By what a list is ordered.
  fileprivate func value(of order: PeopleListing.Order) -> Int {
    switch order {
    case .identity: 0
    case .joined: Int(joined.milliseconds)
    case .received: sums.bitrates.received
    case .sent: sums.bitrates.sent
    case .loss: Int((sums.loss ?? 0) * 65_536)
    case .roundTrip: Int(clamping: (sums.roundTrip ?? .zero).wholeNanoseconds)
    }
  }
}
