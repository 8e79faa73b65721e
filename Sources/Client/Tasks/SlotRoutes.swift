internal import Media
internal import Model

/// Whose the packets of each slot are. A slot keeps its stream while the track in it changes: packets that were sent before the change
/// and come behind it, as repeated ones do, are still those of the track before.
struct SlotRoutes {
  private struct Route {
    var track: String?
    var supply: SlotSupply?
    /// Numbers up to that are of the one before.
    var before: (supply: SlotSupply, through: Int64)?
    var highest = Int64.min
    var changedAt = Instant.never
  }

  private var routes: [Int: Route] = [:]

  /// A slot shows another track, or none.
  /// - Returns: whether it showed another one before.
  @discardableResult
  mutating func set(_ section: Int, track: String?, _ supply: SlotSupply?, now: Instant) -> Bool {
    var route = routes[section] ?? Route()
    guard route.track != track else { return false }
    if let old = route.supply { route.before = (old, route.highest) }
    (route.track, route.supply, route.changedAt) = (track, supply, now)
    routes[section] = route
    return true
  }

  /// Whose a packet is, and where its timestamps stand; nil where nothing new is known of that.
  /// - Parameter clock: as the slot's reports have it.
  mutating func supply(
    of section: Int, _ info: PacketInfo, clock: ClockMapping?, epoch: Epoch
  ) -> (supply: SlotSupply, clock: ClockMapping?)? {
    guard let route = routes[section] else { return nil }
    if info.extendedSequence > route.highest { routes[section]?.highest = info.extendedSequence }
    if let before = route.before, info.extendedSequence <= before.through { return (before.supply, nil) }
    return route.supply.map { ($0, Self.isOf(clock, since: route.changedAt, epoch) ? clock : nil) }
  }

  /// What was reported before the change is of the track before.
  private static func isOf(_ clock: ClockMapping?, since change: Instant, _ epoch: Epoch) -> Bool {
    guard let clock, clock.isReported else { return false }
    return NTPTime(rawValue: clock.ntp).nanoseconds(since: epoch.ntp(at: change)) >= 0
  }

  func section(of track: String) -> Int? { routes.first { $0.value.track == track }?.key }
}
