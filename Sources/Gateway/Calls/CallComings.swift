internal import Calls
internal import Synchronization

/// Who is on the way into the room of a call that it isn't in yet, by which device. Whether it may come is looked at before the room has
/// let it in, and decided behind that: meanwhile another device of the person would take its place in the room, and then neither stayed.
final class CallComings: Sendable {
  private struct Place: Hashable {
    let person: PersonID
    let room: String
  }

  private struct Coming {
    /// nil: it doesn't say which it is.
    let device: DeviceID?
    let until: ContinuousClock.Instant
  }

  /// One that the room has refused isn't heard of again: after so long it isn't waited for.
  private static let patience = Duration.seconds(5)
  /// Beyond, those who come aren't remembered.
  private static let capacity = 10_000

  private let places = Mutex<[Place: Coming]>([:])

  /// - Returns: false: another device of the person is on the way, and has come first.
  func begin(_ person: PersonID, _ device: DeviceID?, into room: String) -> Bool {
    let (place, now) = (Place(person: person, room: room), ContinuousClock.now)
    return places.withLock { places -> Bool in
      if let first = places[place], first.until > now, device == nil || first.device != device {
        return false
      }
      if places.count >= Self.capacity { places = places.filter { $0.value.until > now } }
      if places.count < Self.capacity {
        places[place] = Coming(device: device, until: now + Self.patience)
      }
      return true
    }
  }

  /// It is decided whether one is in the call.
  func end(_ person: PersonID, into room: String) {
    places.withLock { places in places[Place(person: person, room: room)] = nil }
  }
}
