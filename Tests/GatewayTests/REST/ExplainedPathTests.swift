import Foundation
import SyntheticPeers
import Testing

@testable import Gateway

/// Figures of a path as they are said of one that loses packets and takes its time, between whole peers over real sockets.
@Suite("Explained paths", .timeLimit(.minutes(2)))
struct ExplainedPathTests {
  private func isWithin(_ bounds: ClosedRange<Double>, _ figure: Any?) -> Bool {
    (figure as? NSNumber).map { bounds.contains($0.doubleValue) } ?? false
  }

  /// The path takes 50 ms to the subscriber, and loses each twelfth packet.
  private func isSo(_ transport: NSDictionary) -> Bool {
    isWithin(5_000...5_000_000, transport["estimated"]) && isWithin(0.01...0.3, transport["loss"])
      && isWithin(0.045...1, transport["roundTrip"])
  }

  @Test func `REST and the native door say what arrives, what is lost and the round trip`() async throws {
    let stage = try ReasonStage()
    try await stage.publish()
    let viewer = try await stage.view {
      $0.dialect.tellsArrivals = true
      // What is lost stays lost, and is in its reports.
      $0.dialect.asksForLost = false
    }
    viewer.narrow = NarrowPath(rate: 5_000_000, delay: .milliseconds(50), loses: 12)
    let said = await stage.said(to: viewer) {
      isWithin(0.01...0.3, $0["loss"]) && isWithin(0.045...1, $0["roundTrip"]) && $0["bitrate"] != nil
    }
    #expect(isWithin(0.01...0.3, said["loss"]) && isWithin(0.045...1, said["roundTrip"]), "\(said)")

    func path() async -> NSDictionary {
      (await stage.item(viewer)["transports"] as? [NSDictionary])?.first ?? [:]
    }
    var transport = await path()
    let end = ContinuousClock.now + .seconds(25)
    while !isSo(transport), ContinuousClock.now < end {
      await stage.run(.milliseconds(100))
      transport = await path()
    }
    #expect(isSo(transport), "\(transport)")
    let native = try await viewer.guest.ask("explain")
    #expect(isSo(native["transport"] as? NSDictionary ?? [:]), "\(native)")
    let heard = (native["subscriptions"] as? [NSDictionary])?.first ?? [:]
    #expect(isWithin(0.045...1, heard["roundTrip"]) && heard["loss"] != nil, "\(heard)")
  }
}
