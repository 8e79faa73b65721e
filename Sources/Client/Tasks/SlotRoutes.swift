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
  }

  private var routes: [Int: Route] = [:]

  /// A slot shows another track, or none.
  mutating func set(_ section: Int, track: String?, _ supply: SlotSupply?) {
    var route = routes[section] ?? Route()
    guard route.track != track else { return }
    if let old = route.supply { route.before = (old, route.highest) }
    (route.track, route.supply) = (track, supply)
    routes[section] = route
  }

  mutating func supply(of section: Int, _ info: PacketInfo) -> SlotSupply? {
    guard var route = routes[section] else { return nil }
    if info.extendedSequence > route.highest {
      route.highest = info.extendedSequence
      routes[section]?.highest = info.extendedSequence
    }
    if let before = route.before, info.extendedSequence <= before.through { return before.supply }
    return route.supply
  }

  func section(of track: String) -> Int? { routes.first { $0.value.track == track }?.key }
}
