internal import Model

/// Writes Matroska or WebM (RFC 9559) as frames come: nothing waits for the end, and what a crash leaves can be read up to its last
/// whole frame.
///
/// The segment and the present cluster have no size while they grow; it is filled in when the next begins. `finish` adds the
/// duration and an index, so that a finished file can be sought in.
public struct MatroskaWriter: Sendable {
  /// Milliseconds that a cluster spans: a key frame begins another after a second, any frame after five.
  static let shortCluster: Int64 = 1_000
  static let longCluster: Int64 = 5_000
  static let largestCluster = 4 * 1_024 * 1_024
  /// Entries of the index; of so many every second is left out, and then again.
  static let cueLimit = 4_096
  /// Bytes kept for the list of where the parts are.
  static let seekHeadSize = 96
  static let durationSize = 11
  static let sizeWidth = 8

  private struct Cluster {
    /// Of its first byte.
    var start: Int
    /// Of its first frame, in milliseconds.
    var time: Int64
  }

  private let tracks: [MatroskaTrack]
  /// Bytes written so far.
  private var offset = 0
  /// Of the first byte in the segment: places in the file are counted from there.
  private var segmentStart = 0
  private var seekHeadOffset = 0
  private var durationOffset = 0
  private var partOffsets: [(MatroskaID, Int)] = []
  private var cluster: Cluster?
  private var cues: [Cluster] = []
  private var cueEvery = 1
  private var clusters = 0
  /// Where the last frame ends as far as is known, in milliseconds.
  private var end: Int64 = 0

  /// - Parameters:
  ///   - tracks: 1–127, with codecs that Matroska has; where all are of WebM the file is WebM.
  ///   - application: what the file says that it was made by.
  ///   - change: gets everything in front of the frames.
  /// - Returns: nil for a codec that Matroska doesn't have.
  public init?(_ tracks: [MatroskaTrack], application: String, into change: inout FileChange) {
    let entries = tracks.enumerated().compactMap { Self.entry($1, number: $0 + 1) }
    guard (1...127).contains(tracks.count), entries.count == tracks.count else { return nil }
    self.tracks = tracks
    var bytes = Self.head(isWebM: tracks.allSatisfy(\.isWebM))
    bytes += MatroskaID.segment.bytes + EBML.unknownSize
    segmentStart = bytes.count
    seekHeadOffset = bytes.count
    bytes += EBML.void(Self.seekHeadSize)
    partOffsets.append((.info, bytes.count))
    let beginning = EBML.element(.timestampScale, 1_000_000)
    let info = [
      beginning, EBML.void(Self.durationSize), EBML.element(.muxingApp, application),
      EBML.element(.writingApp, application),
    ]
    let size = EBML.size(info.reduce(0) { $0 + $1.count })
    durationOffset = bytes.count + MatroskaID.info.bytes.count + size.count + beginning.count
    bytes += EBML.element(.info, info)
    partOffsets.append((.tracks, bytes.count))
    bytes += EBML.element(.tracks, entries)
    append(bytes, to: &change)
  }

  /// Adds a frame.
  /// - Parameters:
  ///   - track: its place among the tracks.
  ///   - nanoseconds: when it is presented, with the track's codec delay; not negative. Of one track they grow.
  ///   - duration: in nanoseconds, 0 where it isn't known: of the last frame it is a part of the file's.
  public mutating func add(
    _ frame: [UInt8], track: Int = 0, nanoseconds: Int64, duration: Int64 = 0, isKeyFrame: Bool,
    into change: inout FileChange
  ) {
    guard tracks.indices.contains(track) else { return }
    let time = max(0, nanoseconds) / 1_000_000
    if begins(at: time, isKeyFrame && tracks[track].codec.kind == .video) { begin(at: time, into: &change) }
    guard let cluster else { return }
    let relative = Int16(clamping: time - cluster.time)
    var block: [UInt8] = [0x80 | UInt8(track + 1)]
    block.append(bigEndian: relative)
    block.append(isKeyFrame ? 0x80 : 0)
    append(MatroskaID.simpleBlock.bytes + EBML.size(block.count + frame.count) + block + frame, to: &change)
    end = max(end, time + max(0, duration) / 1_000_000)
  }

  /// The file is whole: an index comes at the end, and sizes and the duration in their places.
  public mutating func finish(into change: inout FileChange) {
    close(into: &change)
    if !cues.isEmpty {
      partOffsets.append((.cues, offset))
      append(EBML.element(.cues, cues.map { cue($0) }), to: &change)
    }
    change.patches.append(FilePatch(offset: seekHeadOffset, bytes: seekHead))
    change.patches.append(
      FilePatch(offset: durationOffset, bytes: EBML.real(.duration, Double(end))))
    patchSize(at: segmentStart, into: &change)
  }

  // MARK: - Clusters

  private func begins(at time: Int64, _ isKeyPicture: Bool) -> Bool {
    guard let cluster else { return true }
    let span = time - cluster.time
    return span < 0
      ? span < -Self.longCluster
      : span >= (isKeyPicture ? Self.shortCluster : Self.longCluster)
        || offset - cluster.start > Self.largestCluster
  }

  private mutating func begin(at time: Int64, into change: inout FileChange) {
    close(into: &change)
    let new = Cluster(start: offset, time: time)
    cluster = new
    append(
      MatroskaID.cluster.bytes + EBML.unknownSize + EBML.element(.timestamp, UInt64(time)), to: &change)
    if clusters % cueEvery == 0 { cues.append(new) }
    clusters += 1
    guard cues.count == Self.cueLimit else { return }
    cues = cues.indices.filter { $0 % 2 == 0 }.map { cues[$0] }
    cueEvery *= 2
  }

  private mutating func close(into change: inout FileChange) {
    guard let cluster else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.clusterUnsized) {
        self.cluster = nil
        return
      }
    #endif
    patchSize(at: cluster.start + MatroskaID.cluster.bytes.count + Self.sizeWidth, into: &change)
    self.cluster = nil
  }

  /// An element whose content began there, and ends here, gets its size.
  private func patchSize(at start: Int, into change: inout FileChange) {
    change.patches.append(
      FilePatch(offset: start - Self.sizeWidth, bytes: EBML.size(offset - start, width: Self.sizeWidth)))
  }

  private mutating func append(_ bytes: [UInt8], to change: inout FileChange) {
    change.appended += bytes
    offset += bytes.count
  }

  // MARK: - Parts

  private func cue(_ cluster: Cluster) -> [UInt8] {
    EBML.element(
      .cuePoint,
      [
        EBML.element(.cueTime, UInt64(cluster.time)),
        EBML.element(
          .cueTrackPositions,
          [
            EBML.element(.cueTrack, 1),
            EBML.element(.cueClusterPosition, UInt64(cluster.start - segmentStart)),
          ]),
      ])
  }

  /// In the room that was kept for it, whatever is left of which stays room.
  private var seekHead: [UInt8] {
    let entries = partOffsets.map { id, start in
      EBML.element(
        .seek, [EBML.element(.seekID, id.bytes), EBML.element(.seekPosition, UInt64(start - segmentStart))])
    }
    let list = EBML.element(.seekHead, entries)
    return list + EBML.void(Self.seekHeadSize - list.count)
  }

  private static func head(isWebM: Bool) -> [UInt8] {
    EBML.element(
      .ebml,
      [
        EBML.element(.ebmlVersion, 1), EBML.element(.ebmlReadVersion, 1), EBML.element(.ebmlMaxIDLength, 4),
        EBML.element(.ebmlMaxSizeLength, 8), EBML.element(.docType, isWebM ? "webm" : "matroska"),
        EBML.element(.docTypeVersion, 4), EBML.element(.docTypeReadVersion, 2),
      ])
  }

  private static func entry(_ track: MatroskaTrack, number: Int) -> [UInt8]? {
    guard let codecID = track.codecID else { return nil }
    let isVideo = track.codec.kind == .video
    var fields = [
      EBML.element(.trackNumber, UInt64(number)), EBML.element(.trackUID, UInt64(number)),
      EBML.element(.trackType, isVideo ? 1 : 2), EBML.element(.flagLacing, 0),
      EBML.element(.language, "und"), EBML.element(.codecID, codecID),
    ]
    if !track.name.isEmpty { fields.append(EBML.element(.name, track.name)) }
    if !track.codecPrivate.isEmpty { fields.append(EBML.element(.codecPrivate, track.codecPrivate)) }
    if track.codec == .opus {
      // A decoder needs 80 ms to be itself again after a seek (RFC 7845 §4.6).
      fields += [EBML.element(.codecDelay, track.codecDelay), EBML.element(.seekPreRoll, 80_000_000)]
    }
    if isVideo {
      fields.append(
        EBML.element(
          .video,
          [
            EBML.element(.pixelWidth, UInt64(max(1, track.size.width))),
            EBML.element(.pixelHeight, UInt64(max(1, track.size.height))),
          ]))
    } else {
      fields.append(
        EBML.element(
          .audio,
          [
            EBML.real(.samplingFrequency, MatroskaTrack.samplingFrequency(of: track.codec)),
            EBML.element(.channels, UInt64(track.channels)),
          ]))
    }
    return EBML.element(.trackEntry, fields)
  }
}
