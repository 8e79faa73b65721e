public import Calls

/// What carries out what was decided: rooms, pushes, event streams and webhooks.
public protocol CallOutlet: Sendable {
  /// It is on the disk. In the order of the decisions, one after the other, on any thread; it returns soon, since those behind wait.
  func perform(_ aftermath: Aftermath)
  /// Which of a person's devices read its events now.
  func readers(of person: PersonID) -> EventReaders
}

/// Those who read a person's events.
public struct EventReaders: Hashable, Sendable {
  public var devices: Set<DeviceID>
  /// One reads them that doesn't say which it is.
  public var isAnyUnnamed: Bool

  public init(_ devices: Set<DeviceID> = [], isAnyUnnamed: Bool = false) {
    self.devices = devices
    self.isAnyUnnamed = isAnyUnnamed
  }

  /// Whether that device may be one of them.
  func has(_ device: DeviceID) -> Bool { isAnyUnnamed || devices.contains(device) }
}
