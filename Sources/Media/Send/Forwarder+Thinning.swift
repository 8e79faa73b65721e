internal import Model

/// How pictures that wait are taken out of a stream that goes on without them.
extension Forwarder {
  /// Whether a picture can be taken out of what waits as if its source hadn't sent it.
  /// - Parameter walk: the one that has come to it.
  func isFree(_ picture: CutPicture, in walk: StreamThinning) -> Bool {
    picture.isFree && canGo(picture, behind: walk.places) && isKnown(picture) && !isBegun(picture)
  }

  /// Whether receivers take what comes late of a picture that is taken out for what it is, or nothing can come.
  /// - Parameter closed: places that were closed before it, and that it hasn't moved up by.
  func canGo(_ picture: CutPicture, behind closed: Int64 = 0) -> Bool {
    if picture.namesReferences { return true }
    let next = joined.highest &+ 1
    let before = leftOut.closed.before(next, join: picture.join)
    return picture.isWhole(next: before.map { next &- $0.places &+ closed })
  }

  /// How the stream goes on without a picture of which something can't leave.
  /// - Returns: the walk through what waits that takes it out; nil where nothing can be decoded behind it before a key frame.
  func thinning(without picture: CutPicture) -> StreamThinning? {
    guard isKnown(picture), canGo(picture) else { return nil }
    var walk = StreamThinning(join: picture.join)
    let hasLeft = isBegun(picture)
    if picture.isFree, !hasLeft { return walk }
    // Those who know no references wait for the rest of what has begun.
    guard !hasLeft || picture.namesReferences else { return nil }
    var lowest = picture.temporal
    // Without the mark of its end what has left of lower layers of size isn't shown, either.
    if !picture.isFree || hasLeft && picture.spatial > 0 {
      // Of H.264 it isn't known what refers to what in layers.
      guard lowest > 0, picture.format.codec != .h264 else { return nil }
    } else if picture.format.codec != .vp8 {
      return walk
    }
    // By the ids of VP8's pictures one is missing that has begun: what doesn't refer to the lowest layer alone waits for it.
    if hasLeft, picture.format.codec == .vp8 { lowest = 1 }
    guard joined.layers.returns(from: lowest, upTo: leftOut.filter.temporal) else { return nil }
    walk.missing.cut(
      from: lowest, picture: picture.timestamp, inPart: hasLeft && picture.format.codec == .vp8)
    return walk
  }

  /// It is of what the stream shows at present, and no beginning.
  private func isKnown(_ picture: CutPicture) -> Bool {
    kind == .video && state == .flowing && joined.isJoined && !encodings.isPaused
      && picture.join == leftOut.closed.join && !picture.isFirm && picture.timestamp != joined.keyFrame
  }

  /// Something of it has left.
  private func isBegun(_ picture: CutPicture) -> Bool { isBegun(picture.timestamp, join: picture.join) }

  private func isBegun(_ timestamp: UInt32, join: UInt8) -> Bool {
    position.hasSent && anchors.count > 0 && anchors[0].generation == generation && anchors[0].join == join
      && position.source == timestamp
  }

  /// The source is joined to the stream: where, has left or waits.
  var isJoined: Bool { state == .flowing && joined.isJoined }

  /// A packet that waits is taken out: its place closes, and what waits behind it moves up.
  mutating func takeOut(
    _ frame: WaitingFrame, _ selection: Selection, sequence: Int64, _ walk: inout StreamThinning
  ) {
    // Ids of VP8 run on with what is shown; one that has begun has had its own.
    let isOther = walk.last != frame.timestamp && !isBegun(frame.timestamp, join: selection.join)
    #if PLANTED_DEFECTS
      let closesID = frame.format == .vp8 && isOther && !PlantedDefect.isOn(.idsNotClosed)
    #else
      let closesID = frame.format == .vp8 && isOther
    #endif
    walk.last = frame.timestamp
    counters.layerLeftOut &+= 1
    if leftOut.closed.insert(sequence, pictures: closesID ? 1 : 0) {
      walk.places &+= 1
      if closesID { walk.pictures &+= 1 }
    }
    guard sequence == joined.highest else { return }
    if frame.format == .vp8 { leftOut.closed.goesOn(frame.pictureID) }
    if frame.isFree { leftOut.filter.leaveOutRest(of: frame.timestamp) }
  }

  /// The selection of a packet that stays behind what a walk has taken out.
  /// - Returns: nil for one that came late of which it isn't known where it belongs: it would take another's number.
  func movedUp(_ selection: Selection, sequence: Int64, _ walk: StreamThinning) -> Selection? {
    guard walk.places > 0, selection.join == walk.join else { return selection }
    var moved = selection
    if !selection.isLate {
      moved.closedPlaces &+= walk.places
      moved.closedPictures &+= walk.pictures
    } else {
      guard let before = leftOut.closed.before(sequence, join: selection.join) else { return nil }
      (moved.closedPlaces, moved.closedPictures) = (before.places, before.pictures)
    }
    return moved
  }

  /// A walk has come to the end of what waits: what is missing there is missing in what comes.
  mutating func finish(_ walk: StreamThinning) {
    if walk.join == leftOut.closed.join { leftOut.filter.lack(walk.missing) }
  }
}

extension StreamThinning {
  /// Something is missing at the place that it has come to.
  public var isBlocking: Bool { missing.isAny }

  /// Whether a packet has to go as well, since it can't be decoded behind what was taken out.
  public func blocks(_ frame: WaitingFrame, _ selection: Selection) -> Bool {
    missing.isAny && selection.join == join && !selection.isLate && !frame.flags.contains(.layerUnknown)
      && missing.blocks(frame.layer, frame.flags, picture: frame.timestamp)
  }

  /// A packet stays: what it begins can be decoded from there on.
  public mutating func pass(_ frame: WaitingFrame, _ selection: inout Selection) {
    guard missing.isAny, selection.join == join, !selection.isLate,
      !frame.flags.contains(.layerUnknown)
    else { return }
    let lacked = missing.layers
    let isLowest = frame.layer.spatial == 0 && frame.layer.temporal == 0
    if frame.flags.contains(.keyFrame) || isLowest && frame.flags.contains(.beginsSpatialLayer) {
      missing = MissingLayers()
    }
    missing.pass(frame.layer, frame.flags)
    let isOwn =
      frame.layer.spatial == selection.spatial
      || frame.layer.spatial < selection.spatial && frame.flags.contains(.topSpatialLayer)
    if isOwn, frame.flags.contains(.endsLayerFrame) { missing.open(frame.layer.opens) }
    if missing.layers != lacked { selection.mends = true }
  }

  /// A packet that stays, where the one behind it goes: a picture that would have ended with that ends with this one.
  public static func ended(
    _ kept: WaitingFrame, _ selection: Selection, without taken: WaitingFrame, _ other: Selection
  ) -> Selection {
    guard kept.timestamp == taken.timestamp, selection.join == other.join, !selection.isLate,
      kept.flags.contains(.endsLayerFrame), other.ends || taken.flags.contains(.marker)
    else { return selection }
    var ended = selection
    ended.ends = true
    return ended
  }
}
