internal import Dispatch
internal import Foundation
internal import HTTPServer
internal import Logging
internal import Polling
internal import Rooms

#if PLANTED_DEFECTS
  internal import Model
#endif

/// How the process is asked to end: SIGTERM lets those who are in a room stay for a while, SIGINT and a second
/// signal end it now, a third one kills it.
final class Ending {
  private enum Occasion {
    case signal(Int32)
    case empty
    case deadline
  }

  private let occasions: AsyncStream<Occasion>
  private let occasion: AsyncStream<Occasion>.Continuation
  private let noticed: any DispatchSourceRead
  private static let signals = [SIGINT, SIGTERM]

  /// From here on the signals are noticed.
  init() {
    let (occasions, occasion) = AsyncStream.makeStream(of: Occasion.self)
    (self.occasions, self.occasion) = (occasions, occasion)
    let reading = SignalPipe.open(for: Self.signals)
    noticed = DispatchSource.makeReadSource(fileDescriptor: reading)
    noticed.setEventHandler {
      var number: UInt8 = 0
      while read(reading, &number, 1) == 1 { occasion.yield(.signal(Int32(number))) }
    }
    noticed.resume()
  }

  /// Returns when the server is to stop: no one is in it, or those who are have had their time.
  func wait(for rooms: RoomDirectory, patience: Duration, log: Log) async {
    for await first in occasions {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.noPatience) { break }
      #endif
      if case .signal(SIGTERM) = first { await drain(rooms, patience, log) }
      break
    }
    // In this order: one that comes in between ends the process, and isn't lost.
    for number in Self.signals { signal(number, SIG_DFL) }
    noticed.cancel()
    log.info("stopping")
  }

  private func drain(_ rooms: RoomDirectory, _ patience: Duration, _ log: Log) async {
    await rooms.drain(for: patience)
    log.info(
      "draining",
      ["participants": "\(rooms.counts.participants)", "seconds": "\(patience.components.seconds)"])
    let timer = Task { [occasion] in
      try await Task.sleep(for: patience)
      occasion.yield(.deadline)
    }
    Task { [occasion] in
      await rooms.waitUntilEmpty()
      occasion.yield(.empty)
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.secondSignal) {
        for await next in occasions { if case .signal = next { continue } else { break } }
      }
    #endif
    for await _ in occasions { break }
    timer.cancel()
  }

  /// Ends every session, and returns when its client has heard why, or doesn't listen.
  static func sayFarewell(_ rooms: RoomDirectory, through server: HTTPServer) async {
    await rooms.close()
    for _ in 0..<50 {
      guard let report = await server.report(within: .seconds(1)), report.webSockets > 0 else { return }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}
