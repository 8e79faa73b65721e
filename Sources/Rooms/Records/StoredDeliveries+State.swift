internal import Model

extension StoredDeliveries {
  struct State {
    var receivers: [String: Receiver]
    var isWriting = false
    /// The one that was begun last.
    var lastWrite: Task<Bool, Never>?
    var held: HeldEvents
    /// What the operator has heard of, and not of its end.
    var troubles: Set<Trouble> = []
  }

  struct Receiver {
    var progress: DeliveryProgress
    /// The last position that was read.
    var read: UInt64
    var report = Report()
  }

  enum Trouble: String {
    case reading = "events for webhooks can't be read"
    case writing = "progress of webhooks can't be stored"
  }
}

extension StoredDeliveries.State {
  /// Where the store has it that every receiver has all up to there.
  var floor: UInt64? { receivers.values.lazy.map(\.progress.storedFloor).min() }

  /// - Parameter count: of each receiver that has lost some.
  mutating func giveUp(
    upTo position: UInt64, _ counts: [String: UInt64],
    as reason: WritableKeyPath<StoredDeliveries.Report, UInt64>
  ) {
    for name in Array(receivers.keys) {
      receivers[name]?.giveUp(upTo: position)
      receivers[name]?.report[keyPath: reason] += counts[name] ?? 0
    }
  }
}

extension StoredDeliveries.Receiver {
  /// - Parameter stored: the newest that could be among the page.
  mutating func take(_ page: DeliveryRows.Page, upTo stored: UInt64) -> [StoredEvent] {
    // Positions without a row are of events that were dropped before they could be written, or that no receiver has still to hear.
    let last = page.isWhole ? stored : page.last?.position ?? stored
    defer { read = max(read, last) }
    return page.events.filter {
      $0.position > read && progress.begin($0.event.id, of: $0.event.room.id, at: $0.position)
    }
  }

  fileprivate mutating func giveUp(upTo position: UInt64) {
    guard position > progress.floor else { return }
    progress.giveUp(upTo: position)
    read = max(read, position)
    report.givenUp = max(report.givenUp, position)
  }
}
