internal import Model
internal import Polling

/// What the loop does for tunnels: waits for their two descriptors, and lets go of those that are over.
extension ServerLoop {
  func settle(_ tunnel: TLSTunnel) {
    guard !tunnel.isOver else {
      tunnels.remove(tunnel)
      for end in tunnel.ends where end.watched != nil { poller.remove(end.descriptor) }
      return
    }
    for end in tunnel.ends {
      let interest = tunnel.interest(end.side)
      guard interest != end.watched else { continue }
      switch (end.watched, interest) {
      case (nil, let interest?): poller.add(end.descriptor, id: end.id, interest)
      case (_, let interest?): poller.change(end.descriptor, id: end.id, interest)
      case (_, nil): poller.remove(end.descriptor)
      }
      end.watched = interest
    }
    nextSweep = min(nextSweep, tunnel.deadline)
  }

  func expireTunnels(now: Instant) {
    for tunnel in tunnels.due(now) {
      tunnel.expire()
      settle(tunnel)
    }
  }
}

/// Tunnels by the numbers under which the poller knows their two descriptors.
struct TunnelTable {
  private var byID: [UInt64: (tunnel: TLSTunnel, side: TLSTunnel.Side)] = [:]
  /// By the connection that it carries.
  private var byConnection: [UInt64: TLSTunnel] = [:]

  var isEmpty: Bool { byID.isEmpty }
  var count: Int { byID.count / 2 }
  var earliestDeadline: Instant { byID.values.lazy.map(\.tunnel.deadline).min() ?? .never }

  subscript(id: UInt64) -> (tunnel: TLSTunnel, side: TLSTunnel.Side)? { byID[id] }

  func due(_ now: Instant) -> [TLSTunnel] {
    byID.values.filter { $0.side == .client && $0.tunnel.deadline <= now }.map(\.tunnel)
  }

  /// The one that carries a connection; nil: it is over, or the connection is in clear.
  subscript(connection connection: UInt64) -> TLSTunnel? { byConnection[connection] }

  mutating func insert(_ tunnel: TLSTunnel) {
    for end in tunnel.ends { byID[end.id] = (tunnel, end.side) }
    byConnection[tunnel.connection] = tunnel
  }

  mutating func remove(_ tunnel: TLSTunnel) {
    for end in tunnel.ends { byID[end.id] = nil }
    byConnection[tunnel.connection] = nil
  }
}
