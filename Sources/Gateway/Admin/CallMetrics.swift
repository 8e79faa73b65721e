internal import Calls
internal import Push

/// What became of calls and of the pushes for them.
enum CallMetrics {
  static func write(
    _ counts: CallCounts, _ pushes: [PushReport], lost: UInt64, to exposition: inout Exposition
  ) {
    exposition.family("roost_calls", .gauge, "Calls that aren't over.", [.init(counts.open)])
    exposition.family(
      "roost_calls_started_total", .counter, "Calls that were started.", [.init(counts.started)])
    exposition.family(
      "roost_calls_answered_total", .counter, "Calls in which two people's media has stood at the same time.",
      [.init(counts.answered)])
    exposition.family(
      "roost_calls_ended_total", .counter, "Calls that are over, by how they ended.",
      CallOutcome.allCases.map { .init(counts.ended[$0] ?? 0, ("outcome", $0.rawValue)) })
    exposition.family(
      "roost_call_rings_total", .counter, "People whose devices were rung.", [.init(counts.rings)])
    exposition.family(
      "roost_call_rings_ended_total", .counter, "Rings that were over before or by an answer, by reason.",
      RingEnd.allCases.map { .init(counts.ringsEnded[$0] ?? 0, ("reason", $0.rawValue)) })
    exposition.family(
      "roost_pushes_total", .counter, "Pushes, by push service and what became of them.",
      pushes.flatMap { report in
        PushOutcome.State.allCases.map {
          Exposition.Sample(
            report.counters.outcomes[$0] ?? 0, ("service", report.service), ("state", $0.rawValue))
        }
      })
    exposition.family(
      "roost_pushes_dropped_total", .counter,
      "Pushes that never got through, by push service and our own reason.",
      pushes.flatMap { report in
        PushDrop.allCases.map {
          Exposition.Sample(
            report.counters.dropped[$0] ?? 0, ("service", report.service), ("reason", $0.rawValue))
        }
      })
    exposition.family(
      "roost_push_retries_total", .counter, "Tries after which another one followed.",
      pushes.map { .init($0.counters.retries, ("service", $0.service)) })
    exposition.family(
      "roost_pushes_waiting", .gauge, "Pushes that wait or are under way.",
      pushes.map { .init($0.waiting, ("service", $0.service)) })
    exposition.family(
      "roost_rings_not_pushed_total", .counter, "Rings and ends that were let go, since too many waited.",
      [.init(lost)])
  }
}
