import Foundation
import Testing

@testable import Calls

/// Every order of what may happen to a call of three people, one of whom has two devices, as far as a few steps go, and many random
/// ones that go far.
@Suite("A call, whatever happens", .timeLimit(.minutes(5)))
struct CallModelTests {
  static let (ada, bob, eve) = (PersonID("ada"), PersonID("bob"), PersonID("eve"))
  static let people = [ada, bob, eve]

  static func uuid(_ number: Int) -> CallUUID { CallUUID(random: (high: 0, low: UInt64(number))) }

  struct World {
    var call: CallState
    var judge = CallJudge()
    var now = CallTime(wall: 1_790_000_000_000, steady: 5_000)
    var next = 100

    /// The session of each that was there before the present one.
    var previous: [PersonID: CallUUID] = [:]

    init(recipients: [PersonID] = [bob, eve], silent: PersonID? = nil) {
      let invitations = recipients.enumerated().map {
        CallInvitation($1, ring: uuid(10 + $0), isSilent: $1 == silent)
      }
      let start = CallState.Start(
        id: uuid(1), caller: ada, device: DeviceID("ada1"), session: uuid(2), recipients: invitations,
        media: .audio)
      var effects: [CallEffect] = []
      do { (call, effects) = try CallState.start(start, at: now) } catch { preconditionFailure("\(error)") }
      judge.began(call, effects)
    }

    /// - Parameter standing: by which its media stands, if it does.
    func session(of person: PersonID, standing: Bool) -> CallUUID? {
      let session = call[person]?.session
      if standing, case .standing(let by)? = session?.media { return by }
      return session?.id
    }

    mutating func perform(_ step: Step) {
      if case .wait(let span) = step {
        now.steady += span
        now.wall += span
      }
      next += 1
      let before = call
      guard let event = step.event(self, id: uuid(next)) else { return }
      let (effects, refusal) = call.apply(event, at: now)
      for person in people {
        if let old = before[person]?.session?.id, let new = call[person]?.session?.id, new != old {
          previous[person] = old
        }
      }
      judge.happened(event, before, call, effects, refusal)
    }
  }

  enum Step: Hashable {
    case join(PersonID, device: Int, takeover: Bool)
    case leave(PersonID, LeaveReason, device: Int = 1)
    case invite(PersonID, PersonID, isBusy: Bool = false, isSilent: Bool = false)
    case media(PersonID, comes: Bool, isPrevious: Bool = false)
    case remove(PersonID)
    case end
    case wait(Int64)
    case restart

    static let all: [Step] = {
      var steps: [Step] = [.end, .restart, .wait(5_000), .wait(20_000), .wait(60_000)]
      for person in people {
        steps += [.leave(person, .userLeft), .leave(person, .networkError), .remove(person)]
        steps += [
          .media(person, comes: true), .media(person, comes: false),
          .join(person, device: 1, takeover: false),
        ]
        steps += people.filter { $0 != person }.map { .invite(person, $0) }
      }
      return steps + [
        .join(bob, device: 2, takeover: false), .join(bob, device: 2, takeover: true), .leave(ada, .timedOut),
        .leave(bob, .rejected, device: 2), .media(bob, comes: false, isPrevious: true),
        .media(bob, comes: true, isPrevious: true), .invite(ada, eve, isBusy: true),
        .invite(ada, eve, isSilent: true),
      ]
    }()

    /// What makes calls of people who talk.
    static let often: [Step] =
      people.map { .media($0, comes: true) } + people.map { .join($0, device: 1, takeover: false) } + [
        .wait(5_000)
      ]

    func event(_ world: World, id: CallUUID) -> CallEvent? {
      switch self {
      case .join(let person, let device, let takeover):
        .join(person, DeviceID(person.text + "\(device)"), session: id, takeover: takeover)
      case .leave(let person, let reason, let device):
        .leave(person, DeviceID(person.text + "\(device)"), reason)
      case .invite(let by, let person, let isBusy, let isSilent):
        .invite(by: by, [CallInvitation(person, ring: id, isBusy: isBusy, isSilent: isSilent)])
      case .media(let person, let comes, let isPrevious):
        (isPrevious ? world.previous[person] : world.session(of: person, standing: !comes)).map {
          comes ? .mediaCame(person, session: $0) : .mediaWent(person, session: $0)
        }
      case .remove(let person): .remove(person)
      case .end: .end(by: nil)
      case .wait: .time
      case .restart: .restart
      }
    }
  }

  @Test func `all orders of six steps, equal calls merged, leave it whole`() {
    var front: [CallShape: World] = [:]
    let start = World()
    front[CallShape(start.call, now: start.now)] = start
    var (seen, tried) = (Set(front.keys), 0)
    for _ in 0..<6 {
      var next: [CallShape: World] = [:]
      for world in front.values {
        for step in Step.all {
          var copy = world
          copy.perform(step)
          tried += 1
          guard copy.judge.faults.isEmpty else {
            Issue.record("\(copy.judge.faults) by \(step) of \(world.call)")
            return
          }
          let shape = CallShape(copy.call, now: copy.now)
          if seen.insert(shape).inserted { next[shape] = copy }
        }
      }
      front = next
    }
    print("figure: calls, all orders: \(tried) steps of \(seen.count) different calls")
    #expect(tried > 50_000)
  }

  @Test func `thousands of random lives of up to forty steps end, and leave it whole`() {
    var random = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0..<UInt64.max, using: &random)
    var state = seed
    func draw(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    var outcomes: [CallOutcome: Int] = [:]
    let lives = ProcessInfo.processInfo.environment["ROOST_CALL_LIVES"].flatMap(Int.init) ?? 2_000
    for life in 0..<lives {
      var world = World(
        recipients: draw(4) == 0 ? [Self.bob] : [Self.bob, Self.eve], silent: draw(8) == 0 ? Self.eve : nil)
      var steps: [Step] = []
      for _ in 0..<draw(40) {
        let step = draw(2) == 0 ? Step.often[draw(Step.often.count)] : Step.all[draw(Step.all.count)]
        steps.append(step)
        world.perform(step)
      }
      // Nothing more is done: it ends by itself, once media has gone.
      for person in Self.people {
        world.perform(.media(person, comes: false))
      }
      for _ in 0..<3 { world.perform(.wait(60_000)) }
      guard world.judge.faults.isEmpty, let end = world.call.end else {
        Issue.record("\(world.judge.faults), seed \(seed), life \(life), \(steps), \(world.call)")
        return
      }
      outcomes[end.outcome, default: 0] += 1
    }
    let ends = outcomes.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", ")
    print("figure: calls, random lives: \(lives), seed \(seed): \(ends)")
    #expect(outcomes.count >= 4)
  }
}
