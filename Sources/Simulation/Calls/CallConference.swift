internal import Calls
internal import Model
internal import Rooms
internal import SyntheticPeers

/// A conference of calls, which some seeds have beside the first: people with one or two devices, those who were of a call, and
/// strangers ask the doors all there is to ask of calls, keys and what is shared, at random, again, late and at once. What each is
/// answered and hears is held against who may know it, what it costs against its price, and rings and calls against how they end.
///
/// The server is whole from its doors to its store. Media isn't there: that it stands or is gone is said in the place of the rooms.
final class CallConference {
  /// Things that are done.
  static let turns = 150
  /// Milliseconds between two of them at most.
  private static let pause = 4_000
  /// Milliseconds at the end in which every call has to be over: the longest that anything is waited for is a minute.
  private static let rest: Int64 = 200_000
  private static let members = ["ada", "bob", "eve", "kim", "max", "zoe"]
  private static let strangers = ["oscar", "trudy"]

  let seed: UInt64
  let journal: Journal
  let server: CallServer
  let time: CallClock
  var random: RandomSource
  var ledger = CallLedger()
  var rings = RingLedger()
  /// People who are known to have been charged.
  var budgets: [String: CallBudget] = [:]
  var readings = CallReadings()
  var people: [CallMember] = []
  /// Calls in the order in which they began.
  var order: [String] = []
  /// What comes once more, or comes late, and in which turn.
  var late: [(turn: Int, errand: CallErrand, bearer: CallBearer)] = []
  /// The newest head of the key log that was answered.
  var head: CallHeadView?
  var digest = Digest()
  private(set) var turn = 0
  /// Counts what was asked.
  var step = 0
  private var clock: VirtualClock
  private var answers = 0
  private var tidied: Int64 = 0

  /// Seeds that have one of these beside their conference.
  static func isPart(of seed: UInt64) -> Bool { seed % 5 == 4 }

  init(seed: UInt64, options: Conference.Options) throws {
    self.seed = seed
    journal = Journal(traces: options.traces)
    options.hooks.setSeed(seed ^ 0xCA11_CA11_CA11_CA11)
    let clock = VirtualClock(hooks: options.hooks)
    self.clock = clock
    time = CallClock(clock.now)
    random = .seeded(state: seed &* 0x9E37_79B9 ^ 0xCA11)
    // Of every fourth the store is on the disk.
    server = try CallServer(seed: seed, clock: time, epoch: clock.epoch, isOnDisk: seed / 5 % 4 == 3)
  }

  var now: Instant { clock.now }

  /// Runs everything and tells what it saw.
  func run() -> Conference.Outcome {
    let start = now
    prepare()
    for number in 1...Self.turns {
      begin(turn: number)
      pass(Int64(below(Self.pause)))
      act()
      hear()
    }
    finish()
    server.end()
    defer { clock.release() }
    journal.count(.callWordJudged, ledger.judged.words)
    journal.count(.ringEnded, rings.judged)
    return Conference.Outcome(
      seed: seed, violations: journal.violations, violationCount: journal.violationCount,
      trace: journal.trace, mechanisms: journal.mechanisms, digest: digest.finish(), datagrams: 0,
      virtualTime: now - start)
  }

  private func begin(turn number: Int) {
    turn = number
    ledger.begin(turn: number)
  }

  /// Everyone has a name, a device that is woken, and a key for each of its devices.
  private func prepare() {
    for (place, name) in (Self.members + Self.strangers).enumerated() {
      let isStranger = place >= Self.members.count
      let member = CallMember(name, isStranger: isStranger, phones: 1 + below(2), personToken(of: name))
      people.append(member)
      perform([(register(member, member.phones[0]), member.bearer)])
      for phone in member.phones {
        if let errand = publish(member, phone) { perform([(errand, member.bearer)]) }
      }
      // So many entries of the log may be made in a minute.
      pass(1_000)
    }
  }

  // MARK: - Time

  /// Lets time pass, with what is over by then.
  /// - Parameter span: milliseconds.
  func pass(_ span: Int64) {
    clock.advance(to: now.advanced(byNanoseconds: span * 1_000_000))
    time.move(to: now)
    if !server.pass() { violation("the server does not become quiet") }
    for call in order where ledger.calls[call]?.isOver == false { refresh(call) }
    guard time.call.wall - tidied >= 60_000 else { return }
    tidied = time.call.wall
    server.tidy()
  }

  /// How a call stands by now.
  func refresh(_ call: String) {
    guard let standing = server.standing(of: call) else { return violation("call \(call) is gone") }
    let before = ledger.calls[call]?.standing
    for fault in ledger.note(standing, of: call, now: time.call.steady) { violation(fault) }
    if standing.isOver, before?.isOver != true { journal.count(.callEnded) }
    for person in standing.people where person.stand.reason == "timedOut" {
      if before?.stand(of: person.id)?.isPresent == true { journal.count(.callTimedOut) }
    }
  }

  /// Everybody stops, and all calls are over for want of them.
  private func finish() {
    begin(turn: Self.turns + 1)
    // What they do refers to this.
    late = []
    for member in people {
      renew(member)
      for phone in member.phones { phone.stream = nil }
    }
    for call in order {
      for person in ledger.calls[call]?.active ?? [] { say(.lost, of: person, in: call) }
    }
    for _ in 0..<Self.rest / 5_000 { pass(5_000) }
    begin(turn: Self.turns + 2)
    for member in people {
      renew(member)
      for phone in member.phones { read(phone, of: member, toTheEnd: true) }
    }
    judgeEnd()
  }

  // MARK: - What is seen

  func violation(_ text: @autoclosure () -> String) {
    let text = text()
    journal.violation(now, "calls: turn \(turn), \(text)")
  }

  func trace(_ text: @autoclosure () -> String) {
    let text = text()
    journal.trace(now, "calls: \(text)")
  }

  /// Answers and events as people received them, for the digest.
  func keep(_ bytes: [UInt8], as status: Int) {
    answers += 1
    digest.add("\(status) " + String(decoding: bytes, as: UTF8.self), socket: answers, now: now)
  }

  // MARK: - Chance

  func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  func one<Item>(of items: [Item]) -> Item { items[below(items.count)] }

  /// As clients draw them.
  func uuid() -> String { CallUUID(random: (high: random.next(), low: random.next())).text }

  func member(_ name: String) -> CallMember? { people.first { $0.name == name } }
}
