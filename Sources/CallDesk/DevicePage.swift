public import Calls

/// A page of a person's devices: those that were registered last come first.
public struct DevicePage: Hashable, Sendable {
  public var devices: [Device]
  /// Behind which it goes on; nil: there are no more.
  public var next: Place?

  /// Where a device stands among a person's.
  public struct Place: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var registered: Int64
    public var id: DeviceID

    public init(registered: Int64, id: DeviceID) {
      self.registered = registered
      self.id = id
    }
  }
}
