internal import Engine
internal import Model
internal import Rooms

/// What the rooms and the process count, as metrics.
enum RoomMetrics {
  /// - Parameter kept: what the event log holds, its bytes as estimated.
  static func write(
    _ counts: RoomCounts, kept: (rooms: Int, events: Int, bytes: Int), isDraining: Bool,
    to exposition: inout Exposition
  ) {
    exposition.family("roost_rooms", .gauge, "Rooms.", [.init(counts.rooms)])
    exposition.family("roost_participants", .gauge, "Participants in rooms.", [.init(counts.participants)])
    exposition.family(
      "roost_waiting", .gauge, "Sessions that wait to be let into a room.", [.init(counts.waiting)])
    exposition.family(
      "roost_kept_events", .gauge, "Events of rooms that can be read again.", [.init(kept.events)])
    exposition.family(
      "roost_kept_event_bytes", .gauge, "Approximate memory of those events.", [.init(kept.bytes)])
    exposition.family(
      "roost_kept_message_bytes", .gauge, "Bytes of the messages that rooms keep for those who come later.",
      [.init(counts.keptMessageBytes)])
    exposition.family(
      "roost_kept_messages_forgotten_total", .counter,
      "Messages that rooms forgot because all together keep as many as they may.",
      [.init(counts.messagesForgotten)])
    exposition.family(
      "roost_draining", .gauge, "Whether the server is shutting down and lets no one new in.",
      [.init(isDraining ? 1 : 0)])
    exposition.family(
      "roost_rooms_started_total", .counter, "Rooms created.", [.init(counts.roomsStarted)])
    exposition.family(
      "roost_sessions_started_total", .counter, "Participants that joined.", [.init(counts.sessionsStarted)])
    exposition.family(
      "roost_sessions_ended_total", .counter, "Participants that left, by reason.",
      LeaveReason.allCases.map {
        .init(counts.sessionsEnded[$0, default: 0], ("reason", $0.rawValue))
      })
    exposition.histogram(
      "roost_join_seconds", "From letting a participant in until its media is connected.", unit: 1e9,
      ranges: 4..<20, [([], counts.joining)])
    exposition.family(
      "roost_joins_refused_total", .counter, "Participants with a valid token that were refused.",
      [
        .init(counts.refusedFull, ("reason", "full")),
        .init(counts.refusedDraining, ("reason", "draining")),
        .init(counts.refusedNoRoom, ("reason", "noRoom")),
        .init(counts.refusedRemoved, ("reason", "removed")),
        .init(counts.refusedTooLarge, ("reason", "tooLarge")),
        .init(counts.refusedTooOften, ("reason", "tooOften")),
        .init(counts.refusedElsewhere, ("reason", "elsewhere")),
        .init(counts.refusedLocked, ("reason", "locked")),
        .init(counts.refusedNotAdmitted, ("reason", "notAdmitted")),
      ])
  }
}

/// What every server of any kind tells, under the names that Prometheus's own libraries use.
enum ProcessMetrics {
  static func write(_ usage: ProcessUsage, version: String, started: Double, to exposition: inout Exposition)
  {
    exposition.family(
      "roost_build_info", .gauge, "The version that runs; always 1.", [.init(1, ("version", version))])
    exposition.family(
      "process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.", [.init(started)])
    exposition.family(
      "process_cpu_seconds_total", .counter, "Processor time, of the user and of the system.",
      [.init(usage.processorSeconds)])
    exposition.family(
      "process_resident_memory_bytes", .gauge, "Resident memory.",
      usage.residentBytes.map { [.init($0)] } ?? [])
    exposition.family(
      "process_open_fds", .gauge, "Open file descriptors.", usage.descriptors.map { [.init($0)] } ?? [])
    exposition.family(
      "process_max_fds", .gauge, "Limit on open file descriptors.", [.init(usage.descriptorLimit)])
  }
}
