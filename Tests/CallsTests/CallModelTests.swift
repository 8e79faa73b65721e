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
    /// Nothing can be decided: what is said of media, and by who runs the room, waits.
    var isOut = false
    private var words: [(event: CallEvent, at: CallTime)] = []
    private var said: UInt64 = 0

    init(recipients: [PersonID] = [bob, eve], silent: PersonID? = nil, path: CallPath = .relay) {
      let invitations = recipients.enumerated().map {
        CallInvitation($1, ring: uuid(10 + $0), isSilent: $1 == silent)
      }
      var start = CallState.Start(
        id: uuid(1), caller: ada, device: DeviceID("ada1"), session: uuid(2), recipients: invitations,
        media: .audio)
      start.path = path
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
      if step == .outage { return turn() }
      guard let event = step.event(self, id: uuid(next)) else { return }
      guard !isOut else {
        if event.isWord { words.append((event, now)) }
        return
      }
      happen(event) { $0.apply(event, at: $1) }
    }

    /// The store is away, or back: what was said meanwhile is heard in its order, each word as of when it was said, and then time goes
    /// on. Heard again it does nothing.
    private mutating func turn() {
      isOut.toggle()
      guard !isOut else { return }
      for word in words {
        said += 1
        let number = said
        happen(word.event) { call, _ in (call.hear(word.event, number: number, at: word.at), nil) }
        var again = call
        let effects = again.hear(word.event, number: number, at: now)
        judge.require(again == call && effects.isEmpty, "\(word.event) has happened twice")
      }
      words = []
      happen(.time) { $0.apply(.time, at: $1) }
    }

    private mutating func happen(
      _ event: CallEvent,
      _ body: (inout CallState, CallTime) -> (effects: [CallEffect], refusal: CallRefusal?)
    ) {
      let before = call
      let (effects, refusal) = body(&call, now)
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
    /// The media was waited for by its room already.
    case lost(PersonID)
    /// Of a direct call: a device says that it is connected.
    case connected(PersonID)
    /// The store is away from here on, or back.
    case outage

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
        .invite(ada, eve, isSilent: true), .lost(bob),
      ]
    }()

    /// Those of a direct call.
    static let direct: [Step] = all.filter { $0 != .lost(bob) } + people.map { Step.connected($0) }

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
      case .lost(let person):
        world.session(of: person, standing: true).map { .mediaWent(person, session: $0, isLost: true) }
      case .connected(let person): .saidConnected(person, DeviceID(person.text + "1"))
      case .outage: nil
      }
    }
  }

  @Test(arguments: CallPath.allCases)
  func `all orders of six steps, equal calls merged, leave it whole`(path: CallPath) {
    var front: [CallShape: World] = [:]
    let start = World(path: path)
    front[CallShape(start.call, now: start.now)] = start
    var (seen, tried) = (Set(front.keys), 0)
    for _ in 0..<6 {
      var next: [CallShape: World] = [:]
      for world in front.values {
        for step in path == .direct ? Step.direct : Step.all {
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
    print("figure: calls, all orders: \(path.rawValue), \(tried) steps of \(seen.count) different calls")
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
    var (longest, outages, direct) = (0, 0, 0)
    let lives = ProcessInfo.processInfo.environment["ROOST_CALL_LIVES"].flatMap(Int.init) ?? 2_000
    for life in 0..<lives {
      let path: CallPath = draw(3) == 0 ? .direct : .relay
      var world = World(
        recipients: draw(4) == 0 ? [Self.bob] : [Self.bob, Self.eve], silent: draw(8) == 0 ? Self.eve : nil,
        path: path)
      let all = path == .direct ? Step.direct : Step.all
      var steps: [Step] = []
      for _ in 0..<(1 + draw(40)) {
        var step = draw(2) == 0 ? Step.often[draw(Step.often.count)] : all[draw(all.count)]
        if draw(world.isOut ? 6 : 24) == 0 { step = .outage }
        steps.append(step)
        world.perform(step)
      }
      longest = max(longest, steps.count)
      if steps.contains(.outage) { outages += 1 }
      if path == .direct { direct += 1 }
      if world.isOut { world.perform(.outage) }
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
    #expect(outcomes.count >= 4 && longest == 40 && outages > lives / 8 && direct > lives / 8)
  }
}

extension CallEvent {
  /// It is said without a request, and is heard later where nothing can be decided.
  fileprivate var isWord: Bool {
    switch self {
    case .mediaCame, .mediaWent, .remove, .end: true
    case .join, .leave, .invite, .saidConnected, .change, .time, .restart: false
    }
  }
}
