internal import Media
internal import Model

/// What workers, and sinks, tell each other of tracks. What is wanted goes to the worker that has the track's source, by
/// way of its peer's home; the rest comes from there.
enum TrackMessage: Sendable {
  /// That worker's consumers want, or no longer want, this track.
  case relayWanted(TrackKey, by: Int)
  case relayUnwanted(TrackKey, by: Int)
  case keyFrameWanted(TrackKey, by: Int)
  /// That worker's consumers watch this encoding; said again while they do.
  case watched(TrackKey)
  /// What a worker's consumers of a track of audio lose at most, in 256ths.
  case lost(TrackKey, UInt8)
  case clock(TrackKey, ClockMapping, from: Int)
  /// The track is muted. `incarnation` counts how often its source had started over.
  case muted(TrackKey, incarnation: UInt8)
  case ended(TrackKey)
  /// The encoding is sent no more, since none watches it.
  case over(TrackKey)
  /// What is known of the track's encodings; to workers that get one.
  case layers(TrackKey, TrackLayers)
  /// From a sink to the worker that serves it.
  case sinkAdded(TrackSink, kind: MediaKind)
  case sinkRemoved(TrackSink)
  case wanted(TrackRequest, by: TrackSink)

  /// Whose track it is.
  var track: TrackKey {
    switch self {
    case .relayWanted(let track, _), .relayUnwanted(let track, _), .keyFrameWanted(let track, _),
      .watched(let track), .lost(let track, _), .clock(let track, _, _), .muted(let track, _),
      .ended(let track),
      .over(let track), .layers(let track, _):
      track
    case .sinkAdded(let sink, _), .sinkRemoved(let sink), .wanted(_, let sink): sink.track
    }
  }

  /// A request that is left out is made again by the next packet; the others are state, bounded by peers and tracks.
  var mayDrop: Bool {
    switch self {
    case .keyFrameWanted, .watched, .lost, .wanted: true
    default: false
    }
  }
}

/// What a consumer asks of a track's source.
package enum TrackRequest: Equatable, Sendable {
  case keyFrame
  /// To be sent again.
  case packet(sequence: Int64)
}
