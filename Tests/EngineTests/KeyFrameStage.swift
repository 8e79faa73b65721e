import Congestion
import Crypto
import Model
import Testing

@testable import Engine
@testable import Media
@testable import Peer
@testable import Transport

/// A publisher of some pictures and one that shows them in a slot, at one worker, behind their handshakes: how often the publisher is
/// asked for key frames. Time passes in steps, and each picture has a frame every 50 ms, sound a packet every 20 ms.
final class KeyFrameStage {
  /// One picture of the publisher's.
  struct Track {
    var key: TrackKey
    var feed: Int
    /// Packets of a frame, and of a key frame, and the bytes of one.
    var packets = 1
    var keyPackets = 1
    var size = 300
    /// Layers of size, a frame of each in every picture; those below the highest are needed in key frames alone.
    var layers: UInt8 = 1
    var isKeyOnly = false
    var next: Int64 = 1_000
    var isWanted = false
    /// Key frames that the publisher was asked for.
    var asked = 0
  }

  /// The publisher's sound, in the viewer's second slot.
  struct Sound {
    let feed: Int
    var next: Instant
    /// Packets that came, and at most so many of them hadn't left by the end of the step in which they did.
    var sent: UInt64 = 0
    var mostBehind: UInt64 = 0
  }

  private let workers: WorkerCoreTests.Workers
  private let publisher: Int
  private let viewer: Int
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  var tracks: [Track] = []
  /// Nil where there is none.
  private(set) var sound: Sound?
  /// Bits per second that the path to the viewer carries, by its own word; nil: it says nothing.
  var target: Double?
  private var nextFrame = Instant(nanoseconds: 1_000_000_000)
  private var nextLook = Instant(nanoseconds: 1_000_000_000)

  private static let keys = SRTPKeys(
    profile: .aeadAES128GCM, masterKey: Array(1...16), masterSalt: Array(1...12))

  /// - Parameter count: of pictures.
  init(tracks count: Int, hasSound: Bool = false) throws {
    let workers = try WorkerCoreTests.Workers(1)
    let from = workers.add(receive: Array(repeating: .video, count: count) + (hasSound ? [.audio] : []))
    let to = workers.add(send: hasSound ? [.video, .audio] : [.video])
    let core = workers.cores
    let (source, place) = (core.pointee.peers.find(from), core.pointee.peers.find(to))
    publisher = try #require(source)
    viewer = try #require(place)
    self.workers = workers
    for place in [publisher, viewer] { Self.connect(core, place, now: now) }
    for index in 0..<count {
      // Its stream has begun: before that it can't be asked for anything.
      let ssrc = UInt32(1_000 + index)
      var packet: [UInt8] = [0x80, 96, 0, 100, 0, 0, 0, 0]
      packet += [UInt8(ssrc >> 24), UInt8(ssrc >> 16 & 0xFF), UInt8(ssrc >> 8 & 0xFF), UInt8(ssrc & 0xFF)]
      packet += [0x10, 0x01, 1, 2, 3]
      let peer = core.pointee.peers.pointer(publisher)
      packet.withUnsafeMutableBytes {
        _ = peer.pointee.session.receive(rtp: $0, arrival: now, context: &core.pointee.context.media)
      }
      let key = TrackKey(peer: from, index: UInt16(index))
      let feed = core.pointee.feeds.find(key)
      tracks.append(Track(key: key, feed: try #require(feed)))
    }
    if hasSound {
      let key = TrackKey(peer: from, index: UInt16(count))
      let feed = core.pointee.feeds.find(key)
      sound = Sound(feed: try #require(feed), next: now)
      core.pointee.assign(viewer, slot: 1, to: key, now: now)
    }
    _ = core.pointee.context.takeEffects()
  }

  private static func connect(_ core: UnsafeMutablePointer<WorkerCore>, _ place: Int, now: Instant) {
    let peer = core.pointee.peers.pointer(place)
    peer.pointee.connect(
      DTLSAssociation(role: .server, localKeys: keys, remoteKeys: keys, lastFlight: []), now: now,
      context: &core.pointee.context)
    peer.pointee.transport.path = WorkerCoreTests.path
    _ = core.pointee.context.takeEffects()
  }

  private var core: UnsafeMutablePointer<WorkerCore> { workers.cores }
  private var subscriber: UnsafeMutablePointer<Peer> { core.pointee.peers.pointer(viewer) }

  /// In all.
  var asked: Int { tracks.reduce(0) { $0 + $1.asked } }

  // MARK: - What the viewer does

  func show(_ track: Int?) {
    core.pointee.assign(viewer, slot: 0, to: track.map { tracks[$0].key }, now: now)
    core.pointee.allocate(now: now)
  }

  func want(_ quality: PicturePreference.Quality) {
    var picture = PicturePreference()
    picture.quality = quality
    subscriber.pointee.setPicture(slot: 0, picture)
  }

  /// Has so much leave and no more, whatever layers are chosen by; nil: all.
  func pace(_ rate: Double?) { subscriber.pointee.egress.setTarget(rate, now: now) }

  // MARK: - What came of it

  var isPaused: Bool { subscriber.pointee.isPaused(slot: 0) }
  var needsKeyFrame: Bool { subscriber.pointee.needsKeyFrame(slot: 0) }
  var waiting: Int { subscriber.pointee.waitingPackets }
  var left: UInt64 { subscriber.pointee.counters(ofSlot: 0).packets }
  var dropped: UInt64 { core.pointee.context.counters[SessionDrop.tooLateToLeave] }
  var soundLeft: UInt64 { subscriber.pointee.counters(ofSlot: 1).packets }
  var shownLayer: UInt8 { subscriber.pointee.shownLayers(ofSlot: 0).spatial }

  /// What was said to the room since the last call: whether the slot of the picture is starved.
  func said() -> Bool? { workers.bridge.drainEvents().compactMap { $0.slots[0]?.isStarved }.last }

  /// Why the slot gets no more.
  func reason() -> Allocation.Reason? {
    let demand = core.pointee.demand(viewer, slot: 0)
    return Allocator.allocate(target ?? .infinity, [demand], now: now).slots[0].reason
  }

  // MARK: - Time

  /// - Parameter step: milliseconds.
  func run(_ milliseconds: Int, step: Int = 50) {
    for _ in 0..<milliseconds / step {
      now = now + .milliseconds(step)
      workers.now = now
      if now >= nextFrame {
        nextFrame = now + .milliseconds(50)
        for index in tracks.indices { frame(index) }
        core.pointee.serve(now: now)
      }
      if let due = sound?.next, now >= due { speak() }
      if now >= nextLook {
        nextLook = now + .milliseconds(100)
        look()
      }
      core.pointee.depart(viewer, now: now)
      core.pointee.finishTurn(now: now) { $0.removeAll() }
      if let sound, sound.sent > soundLeft {
        self.sound?.mostBehind = max(sound.mostBehind, sound.sent - soundLeft)
      }
    }
  }

  private func look() {
    if let target {
      subscriber.pointee.session.path.reported.take(estimate: UInt64(target), now: now)
      subscriber.pointee.egress.setTarget(subscriber.pointee.target(now: now), now: now)
    }
    core.pointee.sampleEncodings(now: now)
    core.pointee.allocate(now: now)
    if sound != nil { core.pointee.sampleSlots(now: now) }
  }

  /// The next packet of sound: 48 kbit/s with UDP and IP.
  private func speak() {
    guard let feed = sound?.feed, let number = sound?.sent else { return }
    var info = PacketInfo()
    info.arrival = now
    info.extendedSequence = Int64(1_000 + number)
    info.timestamp = UInt32(960 * number)
    (info.payloadOffset, info.payloadSize) = (12, 80)
    sound?.sent += 1
    sound?.next = now + .milliseconds(20)
    let packet = [UInt8](repeating: 0x80, count: 92)
    packet.withUnsafeBytes { core.pointee.deliverHere($0, info, feed: feed, now: now) }
  }

  /// The next picture of a track, a key frame if its publisher was asked for one.
  private func frame(_ index: Int) {
    let encoding = core.pointee.peers.pointer(publisher).pointee.session.receiving.pointer(index).pointee
      .encoding(0)
    if encoding.pointee.receiver.keyFrameDue(now: now) != nil {
      tracks[index].asked += 1
      tracks[index].isWanted = true
    }
    let isKey = tracks[index].isWanted
    for layer in 0..<tracks[index].layers {
      let count = isKey ? tracks[index].keyPackets : tracks[index].packets
      for place in 0..<count { send(index, isKey: isKey, layer: layer, place: place, of: count) }
    }
    guard isKey else { return }
    tracks[index].isWanted = false
    core.pointee.peers.pointer(publisher).pointee.forgetKeyFrameRequest(receiver: index, encoding: 0)
    // Who comes later begins with a key frame of its own.
    core.pointee.feeds.pointer(tracks[index].feed).pointee.picture.forget()
  }

  private func send(_ index: Int, isKey: Bool, layer: UInt8, place: Int, of count: Int) {
    let track = tracks[index]
    var info = PacketInfo()
    (info.format, info.primaryFormat) = (.vp8, .vp8)
    info.arrival = now
    info.extendedSequence = track.next
    info.timestamp = UInt32(truncatingIfNeeded: now.nanoseconds / 11_111)
    (info.payloadOffset, info.payloadSize) = (12, UInt16(track.size - 12))
    info.layer.spatial = layer
    if place == 0 {
      info.flags.insert(.frameStart)
      if isKey { info.flags.insert(layer == 0 ? .keyFrame : .beginsSpatialLayer) }
    }
    if place == count - 1 {
      info.flags.insert(.endsLayerFrame)
      if layer == track.layers - 1 { info.flags.insert(.marker) }
    }
    if track.isKeyOnly, !isKey, layer < track.layers - 1 { info.flags.insert(.notNeededAbove) }
    tracks[index].next += 1
    let packet = [UInt8](repeating: 0x80, count: track.size)
    packet.withUnsafeBytes { core.pointee.deliverHere($0, info, feed: track.feed, now: now) }
  }
}
