import Model
import RoostTesting
import Testing

@Suite("A conference on a virtual clock")
struct ConferenceTests {
  @Test(arguments: [1, 2, 4])
  func `in calm weather everybody hears and sees everybody`(workers: Int) throws {
    var options = Conference.Options()
    options.weather = false
    options.peers = 4
    options.duration = .seconds(6)
    options.workers = workers
    let outcome = try Conference(seed: UInt64(workers), options: options).run()
    #expect(outcome.violations == [])
    #expect(outcome.mechanisms[.connected] == 4)
    #expect(outcome.mechanisms[.lipSyncChecked] > 0)
    #expect(outcome.mechanisms[.lipSyncSlowSound] > 0)
    #expect((outcome.mechanisms[.relay] > 0) == (workers > 1))
    // Four publishers, three subscribers each, a hundred packets a second for nearly five seconds.
    #expect(outcome.mechanisms[.packetForwarded] > 4_000)
  }

  @Test func `what happens is traced if that is wanted`() throws {
    var options = Conference.Options()
    options.weather = false
    options.peers = 2
    options.duration = .seconds(4)
    options.traces = true
    let outcome = try Conference(seed: 3, options: options).run()
    #expect(outcome.trace.contains { $0.contains(": 1 joins") })
    #expect(outcome.trace.contains { $0.hasSuffix(": 0 leaves") })
  }
}
