public import Model

/// What a peer's flight recorder had at one moment: a value that leaves the worker.
public struct FlightRecording: Sendable {
  public let peer: PeerKey
  let cells: [FlightCell]
  let paths: [NetworkPath]
  /// What is older than a minute by then isn't shown.
  public let takenAt: Instant

  /// Of a recorder that has noted nothing.
  public static let none = FlightRecording(
    peer: PeerKey(rawValue: 0), cells: [], paths: [], takenAt: Instant(nanoseconds: 0))

  public var isEmpty: Bool { cells.isEmpty }

  /// Calls `body` for each record of the last minute, the oldest first, with the bytes that are kept of it.
  func visit(_ body: (_ head: FlightCell, _ bytes: ArraySlice<UInt8>) -> Void) {
    let oldest = takenAt.nanoseconds &- FlightRing.span.wholeNanoseconds
    var bytes: [UInt8] = []
    var index = 0
    cells.withUnsafeBytes { raw in
      while index < cells.count {
        let head = cells[index]
        let start = index * FlightRing.cellSize
        index += 1
        // The head of what is left of it may have been overwritten.
        guard head.kind != .more else { continue }
        let kept = Int(head.kept)
        bytes.removeAll(keepingCapacity: true)
        bytes += raw[(start + FlightCell.first)..<(start + FlightCell.first + min(kept, FlightCell.first))]
        while bytes.count < kept, index < cells.count, cells[index].kind == .more {
          let more = index * FlightRing.cellSize + 1
          bytes += raw[more..<(more + min(kept - bytes.count, FlightCell.further))]
          index += 1
        }
        guard head.at >= oldest else { continue }
        body(head, bytes[...])
      }
    }
  }
}
