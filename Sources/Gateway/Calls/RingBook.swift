internal import CallDesk
internal import Calls
internal import Model
internal import Push

/// Rings that were pushed, until a minute behind their end: which devices may have them, and which were given the end by a stream.
///
/// A value without a clock; times are seconds since 1970. Bounded: beyond, those that began first are forgotten, and their devices
/// hear by their streams alone.
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

    func has(_ device: DeviceID) -> Bool { devices.contains { $0.id == device } }
  }

  /// Sets of devices have none but the ring's own.
  private struct Entry {
    let ring: Ring
    /// In the line.
    let number: UInt64
    /// A stream of the person's events has given them the ring's end.
    var informed: Set<DeviceID> = []
    /// Their ring didn't come, and won't.
    var unreached: Set<DeviceID> = []
    /// They aren't the person's any more: nothing is sent to them or written down of them.
    var gone: Set<DeviceID> = []
    var forgottenAt: Int
    var isOver = false
  }

  private static let capacity = 10_000
  private static let patience = 60

  private var rings: [CallUUID: Entry] = [:]
  private var ofPerson: [PersonID: Set<CallUUID>] = [:]
  /// In the order in which they began, from `first` on; among them those that are forgotten already.
  private var line: [(ring: CallUUID, number: UInt64)] = []
  private var first = 0
  private var last: UInt64 = 0
  private var sweptAt = 0

  /// - Returns: whether it is to be pushed: not where it was before, or its end came first.
  mutating func begin(_ ring: Ring, now: Int) -> Bool {
    sweep(now)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.ringPushedAgain), rings[ring.id] != nil { return true }
    #endif
    guard rings[ring.id] == nil else { return false }
    add(ring, forgottenAt: Int(ring.until / 1_000) + Self.patience)
    return true
  }

  /// A ring that the process before has begun.
  /// - Parameter unreached: devices that it didn't come to.
  mutating func restore(_ ring: Ring, unreached: Set<DeviceID>, now: Int) {
    guard begin(ring, now: now) else { return }
    rings[ring.id]?.unreached = unreached.filter(ring.has)
  }

  /// A stream of the person's events has given the end of a ring to a device.
  mutating func noteEnd(of ring: CallUUID, givenTo device: DeviceID, of person: PersonID) {
    guard let entry = rings[ring], entry.ring.person == person, entry.ring.has(device) else { return }
    rings[ring]?.informed.insert(device)
  }

  /// A device isn't the person's any more.
  mutating func forget(_ device: DeviceID, of person: PersonID) {
    change(of: person, with: device) { $0.gone.insert(device) }
  }

  private mutating func change(of person: PersonID, with device: DeviceID, _ body: (inout Entry) -> Void) {
    for id in ofPerson[person] ?? [] {
      guard var entry = rings[id], entry.ring.has(device) else { continue }
      body(&entry)
      rings[id] = entry
    }
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
      add(
        Ring(id: ring, person: person, call: call, caller: person), forgottenAt: now + Self.patience,
        isOver: true)
      return nil
    }
    entry.isOver = true
    entry.forgottenAt = now + Self.patience
    rings[ring] = entry
    let informed = entry.informed.union(listening)
    let known = entry.ring
    let devices = known.devices.filter {
      $0.id != device && !entry.unreached.contains($0.id) && !entry.gone.contains($0.id)
        // What an alert shows stays there until another takes its place, whatever the app has read.
        && ($0.isAlerted || !informed.contains($0.id))
    }
    return Ended(
      caller: known.caller, callerName: known.callerName, media: known.media,
      devices: devices.map { PushDevice($0, of: known.person) })
  }

  /// Devices that a stream has given a ring's end.
  func informed(ofEndOf ring: CallUUID) -> Set<DeviceID> { rings[ring]?.informed ?? [] }

  /// Whether a ring is to be pushed still, as far as is known.
  func goesOn(_ ring: CallUUID) -> Bool { rings[ring]?.isOver != true }

  /// Whether a device may have a ring, as far as is known.
  func mayHave(_ ring: CallUUID, _ device: DeviceID) -> Bool {
    guard let entry = rings[ring] else { return true }
    return !entry.unreached.contains(device) && !entry.gone.contains(device)
  }

  /// - Returns: nil: the ring is forgotten, or the device isn't the person's any more.
  mutating func note(_ outcome: PushOutcome) -> CallDelivery? {
    guard let ring = CallUUID(outcome.ringId), let entry = rings[ring] else { return nil }
    let device = DeviceID(outcome.device.id)
    guard !entry.gone.contains(device) else { return nil }
    if outcome.isRing, !outcome.mayHaveArrived, entry.ring.has(device) {
      rings[ring]?.unreached.insert(device)
    }
    var delivery = CallDelivery(
      call: entry.ring.call, person: entry.ring.person, device: device, ring: ring,
      kind: outcome.isRing ? .ring : .ended, platform: outcome.platform.rawValue,
      state: outcome.state.rawValue,
      reason: outcome.reason, time: outcome.at.milliseconds, tries: outcome.tries)
    delivery.isSandbox = outcome.device.environment == .sandbox
    return delivery
  }

  // MARK: - The table

  private mutating func add(_ ring: Ring, forgottenAt: Int, isOver: Bool = false) {
    if rings.count >= Self.capacity { removeFirst() }
    last += 1
    rings[ring.id] = Entry(ring: ring, number: last, forgottenAt: forgottenAt, isOver: isOver)
    line.append((ring.id, last))
    ofPerson[ring.person, default: []].insert(ring.id)
  }

  private mutating func removeFirst() {
    while first < line.count {
      let (ring, number) = line[first]
      first += 1
      if rings[ring]?.number == number {
        remove(ring)
        break
      }
    }
    guard first >= Self.capacity else { return }
    line.removeFirst(first)
    first = 0
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
    let known = rings
    line = line[first...].filter { known[$0.ring]?.number == $0.number }
    first = 0
  }
}
