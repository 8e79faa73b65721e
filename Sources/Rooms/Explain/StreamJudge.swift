internal import Congestion
internal import Engine
internal import Model

/// All that decides why a subscriber gets of a track what it gets.
struct StreamJudge {
  var standing: SlotPolicy.Standing
  var picture: PicturePreference
  var kind: MediaKind
  var info: TrackInfo
  var publisher: ParticipantName
  var isStalled: Bool
  /// Something was agreed on with the subscriber.
  var hasPeer: Bool
  /// What the media plane says; nil: nothing.
  var peer: PeerExplanation?
  var slot: SlotExplanation?

  private var name: String { publisher.name ?? publisher.identity }

  /// The first that holds: what the room decides, then what the publisher does, then what the path carries, then what the
  /// subscriber shows.
  var reason: StreamReason {
    guard hasPeer else { return .connecting }
    switch standing {
    case .waiting: return .noSlot
    case .codecMissing: return .codec
    case .shown: break
    }
    if kind == .video, picture.quality == .off { return .off }
    #if PLANTED_DEFECTS
      let isMuted = info.muted && !PlantedDefect.isOn(.explainsMuteAsSilence)
    #else
      let isMuted = info.muted
    #endif
    if isMuted { return info.mutedByAdmin ? .mutedByAdmin : .mutedByPublisher(name) }
    guard let peer else { return isStalled ? .noMedia(name) : .unknown }
    guard peer.takesMedia else { return .connecting }
    guard let slot else { return isStalled ? .noMedia(name) : .unknown }
    if isStalled || slot.reason == .silent { return .noMedia(name) }
    if kind == .audio { return .best }
    return ofPicture(slot, peer)
  }

  private func ofPicture(_ slot: SlotExplanation, _ peer: PeerExplanation) -> StreamReason {
    switch slot.reason {
    case .bandwidth:
      let target = peer.target ?? 0
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.explainsWithEstimate) { return .bandwidth(peer.acknowledged ?? 0) }
      #endif
      return slot.isHeld && peer.next.map { $0 <= target } ?? false ? .held(target) : .bandwidth(target)
    case .off: return .off
    case .silent: return .noMedia(name)
    case .preference:
      if slot.needsKeyFrame { return .keyFrame(name) }
      return .view(view(slot))
    case nil:
      if slot.needsKeyFrame { return .keyFrame(name) }
      return isShort(slot) ? .publisher(name, lines: lines(slot)) : .best
    }
  }

  /// What of that which was asked for is the bound: a lower quality, else the tile, else the frame rate.
  private func view(_ slot: SlotExplanation) -> StreamReason.View {
    guard picture.quality == .high else { return .quality(picture.quality) }
    let isSmaller =
      slot.sent.map { sent in
        slot.best.map { (sent.encoding, sent.spatial) != ($0.encoding, $0.spatial) } ?? false
      } ?? true
    if isSmaller, picture.width > 0 { return .width(picture.width) }
    if isSmaller, picture.height > 0 { return .height(picture.height) }
    if picture.frameRate > 0 { return .frameRate(picture.frameRate) }
    return picture.width > 0 ? .width(picture.width) : .height(picture.height)
  }

  /// The publisher sends less than its subscriber would show, or less than it agreed to.
  private func isShort(_ slot: SlotExplanation) -> Bool {
    guard let best = slot.best else { return false }
    if slot.missingEncodings > 0 { return true }
    guard best.width > 0, picture.width > 0 || picture.height > 0 else { return false }
    return (picture.width == 0 || best.width < picture.width)
      && (picture.height == 0 || best.height < picture.height)
  }

  private func lines(_ slot: SlotExplanation) -> UInt16 {
    slot.best.map { min($0.width, $0.height) } ?? 0
  }
}
