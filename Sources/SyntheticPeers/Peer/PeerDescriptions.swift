internal import Model
internal import Negotiation
internal import Wire

/// What a far end offers and has agreed on.
package struct PeerDescriptions {
  var negotiator: Negotiator
  /// In the numbers that are on the wire.
  var media = AgreedMedia()
  /// Of its own reports.
  let cname: String
  /// What it publishes or wants to, in the order in which it began.
  package var publications: [Publication] = []
  /// Sections in which it wants to receive.
  package var audioReceivers: Int
  var videoReceivers: Int
  /// What the server agreed to may come before its answer does.
  var awaitsAnswer = false
  /// The sections of the offer that was made last.
  package var offered: [OfferedSection] = []
  /// Sections that take the place of stopped ones are called as those were, every other time.
  package var reusesMids = false
  /// How sections are called on the wire, by the negotiator's name of them; see `nameSections`.
  private var midNames: [String: String] = [:]
  /// The negotiator's names of the sections of `offered`.
  private var ownMids: [String] = []

  init(_ configuration: PeerConfiguration, _ random: inout RandomSource) {
    negotiator = Negotiator(
      policy: NegotiationPolicy(
        usesTransportFeedback: true,
        offeredExtensions: [
          .audioLevel, .transportSequence, .mid, .absoluteSendTime, .dependencyDescriptor,
        ] + (configuration.dialect.tellsCaptureTime ? [.absoluteCaptureTime] : [])))
    audioReceivers = configuration.audioReceivers
    videoReceivers = configuration.videoReceivers
    cname = random.alphanumeric(12)
    for (kind, isWanted) in [
      (MediaKind.audio, configuration.publishesAudio), (.video, configuration.publishesVideo),
    ] where isWanted {
      publications.append(
        Publication(
          announcement: TrackAnnouncement(
            kind: kind, ssrc: UInt32(truncatingIfNeeded: random.next()) | 1,
            rtxSSRC: kind == .video ? UInt32(truncatingIfNeeded: random.next()) | 1 : nil, cname: cname,
            streamID: "s\(configuration.number)", trackID: "t\(configuration.number)-\(kind)")))
    }
  }

  /// Gives the sections of an offer the names under which they go out. The negotiator gives a section that takes the
  /// place of a stopped one another name; other clients give it the same.
  mutating func nameSections(_ offer: inout SessionDescription, _ random: inout RandomSource) {
    ownMids = offer.media.map { $0.mid ?? "" }
    for index in offer.media.indices {
      guard let mid = offer.media[index].mid else { continue }
      if midNames[mid] == nil {
        let reuses = reusesMids && offered.indices.contains(index) && random.next() % 2 == 0
        midNames[mid] = reuses ? offered[index].mid : mid
      }
      offer.media[index].mid = midNames[mid]
    }
    for index in offer.groups.indices {
      offer.groups[index].mids = offer.groups[index].mids.map { midNames[$0] ?? $0 }
    }
  }

  /// Turns an answer's names into the negotiator's.
  func recallNames(_ answer: inout SessionDescription) {
    let own = Dictionary(zip(offered.map(\.mid), ownMids), uniquingKeysWith: { first, _ in first })
    for index in answer.media.indices {
      answer.media[index].mid = answer.media[index].mid.map { own[$0] ?? $0 }
    }
    for index in answer.groups.indices {
      answer.groups[index].mids = answer.groups[index].mids.map { own[$0] ?? $0 }
    }
  }

  /// What was agreed on, under the names that go out.
  func named(_ media: AgreedMedia) -> AgreedMedia {
    var media = media
    for index in media.receive.indices {
      media.receive[index].mid = midNames[media.receive[index].mid] ?? media.receive[index].mid
    }
    for index in media.send.indices {
      media.send[index].mid = midNames[media.send[index].mid] ?? media.send[index].mid
    }
    return media
  }
}
