internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// A notice as it goes out on the wire, encoded once for all recipients.
public final class SharedText: Sendable, Equatable {
  private let made = Mutex<String?>(nil)

  public init() {}

  /// - Parameter make: the same for all who ask.
  public func text(_ make: () -> String) -> String {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.encodedForEach) { return make() }
    #endif
    return made.withLock { made in
      if let made { return made }
      let text = make()
      made = text
      return text
    }
  }

  /// It says nothing of its own.
  public static func == (a: SharedText, b: SharedText) -> Bool { true }
}

extension String {
  /// Bytes that it has in JSON, where a control character has six, and quotes and backslashes have two.
  var jsonBytes: Int {
    utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
  }
}
