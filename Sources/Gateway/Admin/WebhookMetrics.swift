/// What became of webhooks, by the place of their receiver in the configuration: a URL may have secrets in it.
enum WebhookMetrics {
  static func write(
    _ reports: [Webhooks.Report], held: (events: Int, bytes: Int), to exposition: inout Exposition
  ) {
    let all = reports.enumerated().map { (String($0 + 1), $1) }
    exposition.family(
      "roost_webhook_notices_total", .counter,
      "Events for a receiver that arrived or were given up, by result.",
      all.flatMap { webhook, report in
        [
          ("arrived", report.arrived), ("late", report.late), ("crowdedOut", report.crowdedOut),
          ("refused", report.refused),
        ].map { Exposition.Sample($0.1, ("webhook", webhook), ("result", $0.0)) }
      })
    exposition.family(
      "roost_webhook_failures_total", .counter, "Tries that did not get through.",
      all.map { .init($1.failed, ("webhook", $0)) })
    exposition.family(
      "roost_webhook_waiting", .gauge, "Events that a receiver has not got yet.",
      all.map { .init($1.waiting, ("webhook", $0)) })
    exposition.family(
      "roost_webhook_waiting_bytes", .gauge, "What those of them take that are in memory.",
      all.map { .init($1.waitingBytes, ("webhook", $0)) })
    exposition.family(
      "roost_webhook_held_events", .gauge,
      "Events in the store behind the oldest that a receiver has still to hear.", [.init(held.events)])
    exposition.family(
      "roost_webhook_held_bytes", .gauge, "About what they take there.", [.init(held.bytes)])
  }
}
