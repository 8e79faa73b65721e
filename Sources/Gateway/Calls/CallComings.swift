internal import Calls
internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

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
    /// How often it is on the way: by several doors at once, or once more before it was decided.
    var count = 1
    var until: ContinuousClock.Instant
  }

  /// One of which nothing more is heard isn't waited for longer.
  private static let patience = Duration.seconds(5)
  /// Beyond, those who come aren't remembered.
  private static let capacity = 10_000

  private let places = Mutex<[Place: Coming]>([:])

  /// - Returns: false: another device of the person is on the way, and has come first.
  func begin(_ person: PersonID, _ device: DeviceID?, into room: String) -> Bool {
    let (place, now) = (Place(person: person, room: room), ContinuousClock.now)
    let until = now + Self.patience
    return places.withLock { places -> Bool in
      if var first = places[place], first.until > now {
        guard device != nil, first.device == device else { return false }
        (first.count, first.until) = (first.count + 1, until)
        places[place] = first
        return true
      }
      if places.count >= Self.capacity { places = places.filter { $0.value.until > now } }
      if places.count < Self.capacity { places[place] = Coming(device: device, until: until) }
      return true
    }
  }

  /// It is decided whether one is in the call, or the room hasn't let it in: others needn't wait for that any more.
  func end(_ person: PersonID, _ device: DeviceID?, into room: String) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.comingKept) { return }
    #endif
    let place = Place(person: person, room: room)
    places.withLock { places in
      guard var first = places[place], first.device == device else { return }
      first.count -= 1
      places[place] = first.count > 0 ? first : nil
    }
  }
}
