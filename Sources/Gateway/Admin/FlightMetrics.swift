internal import Engine

/// What became of the flight recorders of sessions that failed.
enum FlightMetrics {
  /// - Parameter counts: nil: none is written.
  static func write(_ counts: FlightFiles.Counts?, to exposition: inout Exposition) {
    let counts = counts ?? FlightFiles.Counts()
    exposition.family(
      "roost_flights_total", .counter,
      "Flight recorders of failed sessions that were to be written, by result.",
      [
        .init(counts.written, ("result", "written")), .init(counts.failed, ("result", "failed")),
        .init(counts.skipped, ("result", "skipped")),
      ])
    exposition.family(
      "roost_flight_files", .gauge, "Capture files of failed sessions that are kept.", [.init(counts.files)])
    exposition.family(
      "roost_flight_file_bytes", .gauge, "Bytes of those files.", [.init(counts.bytes)])
  }
}
