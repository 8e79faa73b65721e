/// A moment of wall time for people and programs to read: milliseconds since 1970, UTC.
public struct WallTime: Hashable, Comparable, Sendable {
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }
  public init(_ ntp: NTPTime) {
    milliseconds =
      ntp.nanoseconds(since: NTPTime(unixNanoseconds: 0)).quotientAndRemainder(dividingBy: 1_000_000)
      .quotient
  }

  public static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

  public func advanced(by time: Duration) -> WallTime {
    let (seconds, attoseconds) = time.components
    return WallTime(
      milliseconds: milliseconds &+ seconds &* 1_000 &+ attoseconds / 1_000_000_000_000_000)
  }

  /// RFC 3339, UTC, with milliseconds: `2026-11-21T01:03:30.125Z`.
  public var text: String {
    let seconds = (milliseconds - (milliseconds % 1_000 + 1_000) % 1_000) / 1_000
    let days = (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
    let rest = seconds - days * 86_400
    let (year, month, day) = Self.date(days)
    let pad = { (value: Int64, width: Int) in
      let digits = String(value)
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.wallMilliseconds), width == 3 { return digits }
      #endif
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
      + "T\(pad(rest / 3_600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2))"
      + ".\(pad((milliseconds % 1_000 + 1_000) % 1_000, 3))Z"
  }

  /// The Gregorian date of a day counted from 1970-01-01: years are taken from March, so that the leap day is the
  /// last of its year, in eras of 400 years (146,097 days).
  private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
