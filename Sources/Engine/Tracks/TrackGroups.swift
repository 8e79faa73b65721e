internal import Congestion
internal import Model

/// The encodings of one video track, as far as they are known on one worker. Feeds, one for each encoding, carry the packets;
/// here is what ties them together.
struct TrackGroup {
  /// At the worker that has the publisher, by encoding; empty elsewhere.
  var monitors: [EncodingMonitor] = []
  /// When those that were on had last come, as one that was off was called in for them.
  fileprivate var calledAt: Instant?
  /// Encodings that are watched, as its publisher was last given word; nil: not yet.
  fileprivate var said: UInt8?
  /// Encodings that were over at the last look.
  private var over: UInt8 = 0
  /// As measured there, or heard from there.
  var layers: TrackLayers? { didSet { options = layers?.options ?? [] } }
  /// Of what comes all there is to choose from: made once, and asked for by each slot.
  private(set) var options: [LayerOption] = []
  /// At the worker that has the publisher.
  var traits: TrackTraits = []
  private var isMuted = false

  /// Published on this worker.
  init(monitors: [EncodingMonitor] = []) { self.monitors = monitors }

  /// Published on another, which said so.
  fileprivate init(heard layers: TrackLayers) {
    self.layers = layers
    options = layers.options
  }

  /// What an encoding's feed has counted, and what its packets say of it.
  typealias Counted = (TrackKey) -> (bytes: LayerCounts, frames: UInt64, description: EncodingDescription)?

  /// - Parameter isWatched: whether an encoding has a consumer that shows it, here or at another worker.
  /// - Returns: what the publisher is to be given word of; nil: nothing new.
  mutating func watch(_ isWatched: (Int) -> Bool, now: Instant) -> UInt8? {
    guard monitors.count > 1 else { return nil }
    callIn(now: now)
    var watched: UInt8 = 0
    for index in monitors.indices {
      monitors[index].watch(isWatched(index), now: now)
      if !monitors[index].isOff { watched |= 1 << UInt8(index) }
    }
    // Bits of none are set.
    watched |= ~0 << UInt8(monitors.count)
    defer { said = watched }
    return said == watched ? nil : watched
  }

  /// - Returns: encodings that are over since the last look.
  fileprivate mutating func takeOver(now: Instant) -> [Int] {
    guard monitors.count > 1 else { return [] }
    let before = over
    over = 0
    for index in monitors.indices where monitors[index].isOver(at: now) { over |= 1 << UInt8(index) }
    let new = over & ~before
    return monitors.indices.filter { new & 1 << UInt8($0) != 0 }
  }

  /// Where all that is on falls silent, a camera's encoder may have given it up: the smallest that is off is to come, once, and is shown
  /// if it does. A screen may as well stand still.
  private mutating func callIn(now: Instant) {
    let latest = monitors.map(\.lastHeard).max() ?? now
    guard !isMuted, !traits.contains(.screen), calledAt != latest, monitors.contains(where: { !$0.isOff }),
      monitors.allSatisfy({ $0.isOff || !$0.hasCome || $0.isSilent(at: now) }),
      let least = monitors.indices.filter({ monitors[$0].isOff }).min(by: {
        monitors[$0].cost < monitors[$1].cost
      })
    else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stopUncalled) { return }
    #endif
    calledAt = latest
    monitors[least].callIn(now: now)
  }

  /// What is muted is silent as its publisher wants: nothing of it is called in, nor before it comes again.
  mutating func mute(_ muted: Bool) {
    guard muted != isMuted else { return }
    isMuted = muted
    calledAt = monitors.map(\.lastHeard).max()
  }

  /// Its publisher has nothing to make a key frame of, where an encoding is silent beside others: it begins with one when it comes,
  /// and asked for one a browser makes them of all others.
  func givesKeyFrames(_ encoding: Int) -> Bool {
    guard monitors.count > 1, monitors.indices.contains(encoding) else { return true }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keyFramesOfSilent) { return true }
    #endif
    let latest = monitors.map(\.lastHeard).max() ?? Instant(nanoseconds: .min)
    return !monitors[encoding].isSilent(beside: latest)
  }

  /// - Returns: whether anything is other than at the last look.
  mutating func sample(_ track: TrackKey, now: Instant, counted: Counted) -> Bool {
    for index in monitors.indices {
      let key = TrackKey(peer: track.peer, index: track.index, encoding: UInt8(index))
      if let (bytes, frames, description) = counted(key) {
        monitors[index].sample(bytes, frames: frames, description, now: now)
      }
    }
    let latest = monitors.map(\.lastHeard).max() ?? now
    for index in monitors.indices { monitors[index].decide(siblings: latest, now: now) }
    let new = TrackLayers(encodings: monitors.map(\.layers), traits: traits)
    defer { layers = new }
    return new != layers
  }
}

/// Of the video tracks that are published on a worker or shown there.
struct TrackGroups {
  private var groups: [TrackKey: TrackGroup] = [:]
  private var next = Instant.never
  /// There was one at the last look, or has been since.
  private var hadAny = false
  /// Of which an encoding has stopped, and since when.
  private var lost: (tracks: Set<TrackKey>, since: Instant) = ([], .never)

  /// When all are looked at next; `.never` while there are none, and were none at the last look: who was shown the last of them wants
  /// nothing any more.
  var deadline: Instant { groups.isEmpty && !hadAny ? .never : next }
  /// When `takeLost` has something to say.
  var lostDeadline: Instant { lost.since }

  func layers(of track: TrackKey) -> TrackLayers? { groups[track.track]?.layers }
  func options(of track: TrackKey) -> [LayerOption] { groups[track.track]?.options ?? [] }

  /// Whether a key frame of an encoding may be asked for.
  func givesKeyFrames(_ track: TrackKey) -> Bool {
    groups[track.track]?.givesKeyFrames(Int(track.encoding)) ?? true
  }

  /// Encodings that are published here and give no key frames at present.
  var keyless: [TrackKey] {
    var found: [TrackKey] = []
    for (track, group) in groups where group.monitors.count > 1 {
      for encoding in group.monitors.indices where !group.givesKeyFrames(encoding) {
        found.append(TrackKey(peer: track.peer, index: track.index, encoding: UInt8(encoding)))
      }
    }
    return found
  }

  /// With what a slot begins that knows nothing of its path: the cheapest encoding of those that come.
  func first(of track: TrackKey) -> TrackKey {
    TrackKey(peer: track.peer, index: track.index, encoding: layers(of: track)?.ranking.first ?? 0)
  }

  /// A video track of a peer of this worker has so many encodings; 0: it is over.
  mutating func publish(_ track: TrackKey, encodings: Int, now: Instant) {
    guard encodings > 0 else {
      groups[track.track] = nil
      return
    }
    if groups.isEmpty, !hadAny { next = now + EncodingMonitor.interval }
    if groups[track.track]?.monitors.count != encodings {
      groups[track.track] = TrackGroup(monitors: Array(repeating: EncodingMonitor(), count: encodings))
    }
    hadAny = true
  }

  /// Another worker, which has the publisher, said so.
  mutating func hear(_ track: TrackKey, _ layers: TrackLayers, now: Instant) {
    if groups.isEmpty, !hadAny { next = now + EncodingMonitor.interval }
    if groups[track.track]?.layers?.loses(layers) == true, lost.tracks.insert(track.track).inserted {
      lost.since = min(lost.since, now)
    }
    groups[track.track] = TrackGroup(heard: layers)
    hadAny = true
  }

  /// Tracks of other workers' publishers of which an encoding has stopped since the last time. Those who were shown it go on to another
  /// now, with the key frame that those of the publisher's worker have just asked for: later they would need one of their own.
  mutating func takeLost() -> Set<TrackKey> {
    guard !lost.tracks.isEmpty else { return [] }
    defer { lost = ([], .never) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stopHeardLate) { return [] }
    #endif
    return lost.tracks
  }

  /// What the control plane says of a track; others hear of it with its layers.
  mutating func describe(_ track: TrackKey, _ traits: TrackTraits) { groups[track.track]?.traits = traits }

  mutating func mute(_ track: TrackKey, _ muted: Bool) { groups[track.track]?.mute(muted) }

  mutating func remove(_ track: TrackKey) { groups[track.track] = nil }

  /// Looks at who watches the encodings that are published here; with `sample`.
  /// - Returns: tracks of which other encodings are watched than their publishers know, with those.
  mutating func watch(now: Instant, isWatched: (TrackKey) -> Bool) -> [(track: TrackKey, encodings: UInt8)] {
    var changed: [(track: TrackKey, encodings: UInt8)] = []
    for track in groups.keys {
      let encodings = groups[track]!.watch(
        { isWatched(TrackKey(peer: track.peer, index: track.index, encoding: UInt8($0))) }, now: now)
      if let encodings { changed.append((track, encodings)) }
    }
    return changed
  }

  /// - Returns: encodings of tracks that are published here which are off, and come no more since the last look.
  mutating func takeOver(now: Instant) -> [TrackKey] {
    var found: [TrackKey] = []
    for track in groups.keys {
      for encoding in groups[track]!.takeOver(now: now) {
        found.append(TrackKey(peer: track.peer, index: track.index, encoding: UInt8(encoding)))
      }
    }
    return found.inOrder
  }

  /// Tracks whose publishers are at other workers.
  var relayed: [TrackKey] { groups.filter { $0.value.monitors.isEmpty }.keys.inOrder }

  /// Looks at every encoding that is published here.
  /// - Returns: tracks whose layers are others than at the last look.
  mutating func sample(
    now: Instant, counted: TrackGroup.Counted
  ) -> [TrackKey] {
    guard deadline <= now else { return [] }
    var changed: [TrackKey] = []
    for track in groups.keys where !groups[track]!.monitors.isEmpty {
      if groups[track]!.sample(track, now: now, counted: counted) { changed.append(track) }
    }
    next = now + EncodingMonitor.interval
    #if PLANTED_DEFECTS
      hadAny = !groups.isEmpty && !PlantedDefect.isOn(.lastTrackWanted)
    #else
      hadAny = !groups.isEmpty
    #endif
    return changed.inOrder
  }
}

extension Sequence<TrackKey> {
  /// In one order in every process.
  fileprivate var inOrder: [TrackKey] {
    sorted { ($0.peer.rawValue, $0.index, $0.encoding) < ($1.peer.rawValue, $1.index, $1.encoding) }
  }
}

extension TrackLayers {
  /// Whether an encoding comes no more, where others do.
  fileprivate func loses(_ next: TrackLayers) -> Bool {
    next.encodings.contains { $0.isActive }
      && zip(encodings, next.encodings).contains { $0.isActive && !$1.isActive }
  }
}
