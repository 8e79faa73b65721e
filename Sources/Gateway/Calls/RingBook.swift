internal import CallDesk
internal import Calls
internal import Model
internal import Push

/// Rings that were pushed, until a minute behind their end: which devices took the push, and which hear of the end by a stream.
///
/// A value without a clock; times are seconds since 1970. Bounded: beyond, the oldest are forgotten, and their devices hear by their
/// streams alone.
struct RingBook: Sendable {
  /// What the end of a ring is pushed with.
  struct Ended {
    var caller: PersonID
    var callerName: String?
    var media: CallMedia
    var devices: [PushDevice]
  }

  /// What is pushed.
  struct Ring: Sendable {
    var id: CallUUID
    var person: PersonID
    var call: CallUUID
    var caller: PersonID
    var callerName: String?
    var media = CallMedia.audio
    var devices: [Device] = []
    /// Milliseconds since 1970.
    var until: Int64 = 0
  }

  private struct Entry {
    let ring: Ring
    /// They hear of the ring's end where they read the person's events.
    var listening: Set<DeviceID> = []
    /// The push service hasn't taken their ring, and won't.
    var unreached: Set<DeviceID> = []
    var forgottenAt: Int
    var isOver = false
  }

  private static let capacity = 10_000
  private static let patience = 60

  private var rings: [CallUUID: Entry] = [:]
  private var ofPerson: [PersonID: Set<CallUUID>] = [:]
  private var sweptAt = 0

  /// - Returns: whether it is to be pushed: not where its end came first.
  mutating func begin(_ ring: Ring, now: Int) -> Bool {
    sweep(now)
    if let known = rings[ring.id] { return !known.isOver }
    add(ring.id, Entry(ring: ring, forgottenAt: Int(ring.until / 1_000) + Self.patience))
    return true
  }

  mutating func noteStream(of person: PersonID, _ device: DeviceID) {
    for ring in ofPerson[person] ?? [] { rings[ring]?.listening.insert(device) }
  }

  /// - Parameters:
  ///   - device: by which it ended.
  ///   - listening: devices that read the person's events now.
  /// - Returns: nil: of that ring nothing was pushed, and nothing will be.
  mutating func end(
    _ ring: CallUUID, of person: PersonID, in call: CallUUID, except device: DeviceID?,
    listening: Set<DeviceID>,
    now: Int
  ) -> Ended? {
    sweep(now)
    guard var entry = rings[ring] else {
      // What comes after it isn't pushed.
      let unknown = Ring(id: ring, person: person, call: call, caller: person)
      add(ring, Entry(ring: unknown, forgottenAt: now + Self.patience, isOver: true))
      return nil
    }
    entry.isOver = true
    entry.forgottenAt = now + Self.patience
    rings[ring] = entry
    let informed = entry.listening.union(listening).union(entry.unreached)
    let known = entry.ring
    let devices = known.devices.filter { $0.id != device && !informed.contains($0.id) }
    return Ended(
      caller: known.caller, callerName: known.callerName, media: known.media,
      devices: devices.map { PushDevice($0, of: known.person) })
  }

  /// - Returns: nil: the ring is forgotten.
  mutating func note(_ outcome: PushOutcome) -> CallDelivery? {
    guard let ring = CallUUID(outcome.ringId), let entry = rings[ring] else { return nil }
    if outcome.isRing, outcome.state != .delivered {
      rings[ring]?.unreached.insert(DeviceID(outcome.device.id))
    }
    return CallDelivery(
      call: entry.ring.call, person: entry.ring.person, device: DeviceID(outcome.device.id), ring: ring,
      kind: outcome.isRing ? .ring : .ended, platform: outcome.platform.rawValue,
      state: outcome.state.rawValue,
      reason: outcome.reason, time: outcome.at.milliseconds, tries: outcome.tries)
  }

  // MARK: - The table

  private mutating func add(_ ring: CallUUID, _ entry: Entry) {
    if rings.count >= Self.capacity,
      let oldest = rings.min(by: { $0.value.forgottenAt < $1.value.forgottenAt })
    {
      remove(oldest.key)
    }
    rings[ring] = entry
    ofPerson[entry.ring.person, default: []].insert(ring)
  }

  private mutating func remove(_ ring: CallUUID) {
    guard let entry = rings.removeValue(forKey: ring) else { return }
    ofPerson[entry.ring.person]?.remove(ring)
    if ofPerson[entry.ring.person]?.isEmpty ?? false { ofPerson[entry.ring.person] = nil }
  }

  private mutating func sweep(_ now: Int) {
    guard now - sweptAt >= 10 else { return }
    sweptAt = now
    for (ring, entry) in rings where entry.forgottenAt <= now { remove(ring) }
  }
}
