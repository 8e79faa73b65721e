import Model
import Testing

@testable import Push

extension APNsServiceTests {
  // MARK: Ends of rings

  @Test func `the end of a ring isn't kept, and that of an alert says what was missed`() async throws {
    try await withService { service, desk in
      await desk.deliver(ring(), to: [Sample.device(1), Sample.device(2, .apnsAlert)])
      _ = try await outcomes.wait(for: 2)
      await desk.deliver(Sample.end(), to: [Sample.device(1), Sample.device(2, .apnsAlert)])
      _ = try await outcomes.wait(for: 4)
      let report = try service.report()
      let (end, missed) = (report.pushes(to: 1)[1], report.pushes(to: 2)[1])
      #expect(end.headers["apns-expiration"] == "0" && end.body.contains(#""type":"ended""#))
      #expect(missed.headers["apns-collapse-id"] == Sample.ringId && missed.body.contains("Missed call"))
      #expect(outcomes.all.allSatisfy { $0.state == .delivered })
    }
  }

  @Test func `the end of a ring goes where the answer to it was lost, and not where it was refused`()
    async throws
  {
    try await withService(patience: .milliseconds(600)) { service, desk in
      try service.script(1, Step(lost: true), Step())
      try service.script(2, Step(status: 429, reason: "TooManyRequests"))
      await desk.deliver(ring(), to: [Sample.device(1), Sample.device(2)])
      try await service.wait(for: 2)
      let devices = [Sample.device(1), Sample.device(2)]
      await desk.deliver(Sample.end(), to: devices) { [outcomes] in outcomes.mayHave($0) }
      let said = try await outcomes.wait(for: 4)
      let ends = said.filter { !$0.isRing }
      let (lost, refused) = (end(ends, of: 1), end(ends, of: 2))
      #expect(lost?.state == .delivered, "\(ends)")
      #expect(refused?.reason == "neverRang", "\(ends)")
      #expect(try service.report().pushes(to: 2).allSatisfy { $0.body.contains(#""type":"ring""#) })
      #expect(try service.report().pushes(to: 1).last?.body.contains(#""type":"ended""#) == true)
    }
  }

  private func end(_ ends: [PushOutcome], of device: Int) -> PushOutcome? {
    ends.first(where: { $0.device.id == "device-\(device)" })
  }
}
